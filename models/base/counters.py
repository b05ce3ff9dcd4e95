"""The counters of every top: one table for status bundles, register map, audit and models.

Only names and meanings are shared. The hardware, the models and the audit each compute the values
of the counters independently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Counter:
    """A counter of a run.

    Attributes:
        name: of its signal in a status bundle.
        meaning: one line.
        part: whether the counter is a term of the sum ``total``.
        stall: whether the counter is such a term and counts stalls with one cause.
    """

    name: str
    meaning: str
    part: bool = False
    stall: bool = False


COUNTERS = (
    Counter("total", "cycles from the first accepted word to the last output word"),
    Counter("kernel_load", "cycles of loading kernels and biases"),
    Counter("issue", "cycles with a slot issued to the CU array", part=True),
    Counter("fill", "cycles before the first slot", part=True),
    Counter("drain", "cycles after the last slot", part=True),
    Counter("stall_input", "cycles without a slot: input starved", part=True, stall=True),
    Counter("stall_output", "cycles without a slot: output blocked", part=True, stall=True),
    Counter(
        "stall_hazard", "cycles without a slot: an accumulator is still in use",
        part=True, stall=True,
    ),
    Counter("useful", "CU slots that computed something"),
)  # fmt: skip
"""In the order of their signals; every other counter counts the words of a port."""

PARTS = tuple(each.name for each in COUNTERS if each.part)
"""Counters whose sum is ``total``."""

STALLS = tuple(each.name.removeprefix("stall_") for each in COUNTERS if each.stall)
"""Causes of stalls; the counter of a cause is ``stall_<cause>``."""

PROPAGATION = tuple(f"propagation_{each.name}" for each in COUNTERS)
"""In a pass with both backward phases: counters of the slots of delta propagation."""

FIRST = tuple(f"first_{each.name}" for each in COUNTERS)
"""In forward propagation of two fused layers: counters of the slots of the first layer."""

_MEANINGS = {each.name: each.meaning for each in COUNTERS} | {
    name: f"{each.meaning}: {whose}"
    for half, whose in ((PROPAGATION, "delta propagation's half"), (FIRST, "the first layer"))
    for name, each in zip(half, COUNTERS, strict=True)
}


_OF_PIPELINE = {
    "flight": "images on their way",
    "flight_peak": "images on their way at most",
    "features_fill": "input maps in the store, in words",
    "features_peak": "input maps in the store at most, in words",
    "states_fill": "state of the layer in front in the store, in bytes",
    "states_peak": "state of the layer in front in the store at most, in bytes",
}
"""Counters of the whole pipeline of a network's engines, in addition to the counters of each
engine.
"""


def meaning_of(name: str) -> str:
    """Return the meaning of the counter ``name``: from the table, or the meaning of a port's words.

    Counters of an engine of a pipeline are named after its layer and phase.
    """
    engine = re.fullmatch(r"layer(\d+)_(?:(fp|dp|ku)_)?(\w+)", name)
    if engine:
        place, phase, own = engine.groups()
        return f"layer {place}{f', {phase}' if phase else ''}: {meaning_of(own)}"
    if name in _OF_PIPELINE:
        return _OF_PIPELINE[name]
    return _MEANINGS.get(name, f"words that passed the port {name} (of state: bytes)")
