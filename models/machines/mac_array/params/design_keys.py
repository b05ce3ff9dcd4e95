"""The keys of a design of the MAC array in a network file, with their ranges and help texts."""

from __future__ import annotations

from merp.models.base.keys import FlagKey, Key, WholeKey, says_of
from merp.models.machines.mac_array.params.design import CHOICES, RANGES, ArrayDesign
from merp.models.machines.mac_array.params.sizing import MAXIMA

_SAYS = says_of(ArrayDesign)
_RANGES = RANGES | {key: (min(values), max(values)) for key, values in CHOICES.items()}

UNROLLED = (
    WholeKey(key="pox", says=_SAYS["pox"], low=4, high=16, default=8),
    WholeKey(key="poy", says=_SAYS["poy"], low=4, high=16, default=8),
    WholeKey(key="pof", says=_SAYS["pof"], low=4, high=64, required=True),
)
NUMBERS = (
    *UNROLLED,
    *(
        WholeKey(key=key, says=_SAYS[key], low=_RANGES[key][0], high=_RANGES[key][1], default=None)
        for key in MAXIMA
    ),
)
FLAGS = (
    FlagKey(key="balance", says=_SAYS["balance"], default=True),
    FlagKey(key="kernel_first", says=_SAYS["kernel_first"], default=False),
    FlagKey(key="stochastic", says=_SAYS["stochastic"], default=None),
    FlagKey(key="momentum", says=_SAYS["momentum"], default=True),
    FlagKey(key="loss", says=_SAYS["loss"], default=True),
)

KEYS: tuple[Key, ...] = (*NUMBERS, *FLAGS)
"""All keys of a design."""
