"""The keys of a design of the MAC array in a network file, with its ranges and texts."""

from __future__ import annotations

from merp.models.base.keys import Flag, Key, Whole, says_of
from merp.models.machines.mac_array.params.design import CHOICES, RANGES, Design
from merp.models.machines.mac_array.params.sizing import MAXIMA

_SAYS = says_of(Design)
_RANGES = RANGES | {key: (min(values), max(values)) for key, values in CHOICES.items()}

UNROLLED = (
    Whole(key="pox", says=_SAYS["pox"], low=4, high=16, default=8),
    Whole(key="poy", says=_SAYS["poy"], low=4, high=16, default=8),
    Whole(key="pof", says=_SAYS["pof"], low=4, high=64, required=True),
)
NUMBERS = (
    *UNROLLED,
    *(
        Whole(key=key, says=_SAYS[key], low=_RANGES[key][0], high=_RANGES[key][1], default=None)
        for key in MAXIMA
    ),
)
FLAGS = (
    Flag(key="balance", says=_SAYS["balance"], default=True),
    Flag(key="kernel_first", says=_SAYS["kernel_first"], default=False),
    Flag(key="stochastic", says=_SAYS["stochastic"], default=None),
    Flag(key="momentum", says=_SAYS["momentum"], default=True),
    Flag(key="loss", says=_SAYS["loss"], default=True),
)

KEYS: tuple[Key, ...] = (*NUMBERS, *FLAGS)
"""All of them."""
