"""Keys of a design of CNN-MERP in a network file: ranges and descriptions of ``EngineDesign``."""

from __future__ import annotations

from dataclasses import MISSING, fields

from merp.models.base.keys import FlagKey, Key, WholeKey, WordKey, says_of
from merp.models.base.summation import (
    CU_KINDS,
    DSPS,
    KU_KINDS,
    NARROW_WINDOWS,
    OPERANDS,
    PRECISIONS,
    WINDOWS,
)
from merp.models.machines.cnn_merp.params.design import PORTS, RANGES, EngineDesign
from merp.models.machines.cnn_merp.params.sizing import MAXIMA

CHOICES = (
    "k", "n_cu", "r", "p", "d", "fused_dsp", "operand_precision", "fused_window",
    "accumulator_precision", "ku_lanes", "mul_latency", "add_latency", "max_images", "kernel_port",
    "map_port",
)  # fmt: skip
"""Whole numbers that do not follow from the layers."""

_ALL_RANGES = RANGES | {
    "fused_dsp": (min(DSPS), max(DSPS)),
    "operand_precision": (min(OPERANDS), max(OPERANDS)),
    "fused_window": (NARROW_WINDOWS[0], WINDOWS[1]),
    "accumulator_precision": PRECISIONS,
    "kernel_port": (min(PORTS), max(PORTS)),
    "map_port": (min(PORTS), max(PORTS)),
    "ku_lanes": (1, RANGES["k"][1] ** 2),
}
_DEFAULTS = {
    each.name: each.default for each in fields(EngineDesign) if each.default is not MISSING
}
_SAYS = says_of(EngineDesign)


def _whole(key: str) -> WholeKey:
    """Return the key of a number of ``EngineDesign``; a missing maximum follows from the layers."""
    low, high = _ALL_RANGES[key]
    default = None if key in MAXIMA else _DEFAULTS.get(key)
    return WholeKey(
        key=key,
        says=_SAYS[key],
        low=low,
        high=high,
        default=default,
        required=key not in MAXIMA and default is None,
    )


CU_KIND = WordKey(key="cu_kind", says=_SAYS["cu_kind"], allowed=CU_KINDS, default=CU_KINDS[0])
KU_KIND = WordKey(key="ku_kind", says=_SAYS["ku_kind"], allowed=KU_KINDS, default=KU_KINDS[0])
NUMBERS = tuple(_whole(key) for key in (*CHOICES, *MAXIMA))
AVERAGE = FlagKey(key="average", says=_SAYS["average"], default=None)
PARTIAL = FlagKey(key="partial", says=_SAYS["partial"], default=False)

AXES: tuple[WholeKey | WordKey, ...] = (
    *(each for each in NUMBERS if each.key not in ("k", *MAXIMA)),
    CU_KIND,
    KU_KIND,
)
"""Keys that a sweep may vary: k is fixed by the layers, and maxima follow from the layers."""

KEYS: tuple[Key, ...] = (CU_KIND, KU_KIND, *NUMBERS, AVERAGE, PARTIAL)
"""All of them."""
