"""What is fixed when the engine is built, and what a run of it is told."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.counters import Counter, meaning_of
from merp.models.base.errors import BadInput
from merp.models.base.formats import FloatFormat
from merp.models.base.keys import WholeKey
from merp.models.base.register_map import Settings
from merp.models.base.register_table import COUNT_MAX, RegisterTable, RunRegister, switch
from merp.models.base.shape import Shape
from merp.models.base.toml_section import Section
from merp.models.base.users import Users

MULTIPLY, ADD = 3, 4
"""Cycles of the multiplier and the adder."""

STEP = 1 + MULTIPLY + ADD + 1
"""Cycles of a multiply-add: memory is read in the first, the sum is kept in the last."""

KEYS = (
    WholeKey(key="inputs", says="most input maps of a layer", low=1, high=4096, required=True),
    WholeKey(
        key="elements", says="most kernel elements and biases", low=2, high=65536, required=True
    ),
)

COUNTERS = (
    Counter("total", "cycles from the one after start to the last word"),
    Counter("issue", "multiply-adds begun", part=True),
    Counter("stall_step", "cycles in which one is on its way", part=True, stall=True),
    Counter("stall_word", "cycles of taking or giving a word", part=True, stall=True),
    Counter("useful", "multiply-adds of a map element by a kernel element or a delta"),
)
WORDS = {
    "map_in": "s_axis_map", "delta_in": "s_axis_delta", "kernel": "s_axis_kernel",
    "map_out": "m_axis_map", "kernel_out": "m_axis_kernel",
}  # fmt: skip
"""The stream of each port whose words are counted."""


@dataclass(frozen=True)
class Design:
    """An engine. ``inputs``, ``elements``: as the keys say. ``fmt``: of all numbers."""

    inputs: int
    elements: int
    fmt: FloatFormat

    @property
    def settings(self) -> Settings:
        """Legal range and meaning of every register, for the register map."""
        return TABLE.settings(self)

    @property
    def meanings(self) -> dict[str, str]:
        """What each counter counts, for the register map."""
        return {each.name: each.meaning for each in COUNTERS} | {
            name: meaning_of(name) for name in WORDS
        }


@dataclass(frozen=True)
class PointRun:
    """A run: ``pixels`` of ``shape``; ``rate``: word of a kernel update's factor, with its sign."""

    shape: Shape
    pixels: int
    update: bool
    rate: int = 0


TABLE: RegisterTable[Design, PointRun] = RegisterTable(
    "config",
    (
        RunRegister("inputs", 1, lambda d: d.inputs, "input maps", lambda r: r.shape.n),
        RunRegister("outputs", 1, lambda d: d.elements // 2, "output maps", lambda r: r.shape.m),
        RunRegister("pixels", 1, lambda d: COUNT_MAX, "of all images", lambda r: r.pixels),
        RunRegister(
            "rate", 0, lambda d: (1 << d.fmt.width) - 1, "minus the learning rate, a word",
            lambda r: r.rate,
        ),
        switch("update", "kernel update", lambda r: r.update),
        switch("relu", "negative outputs become +0", lambda r: r.shape.relu),
    ),
)  # fmt: skip


def read_design(section: Section, name: str, users: Users) -> Design:
    """Read one [design.<name>], and check the layers that use it."""
    inputs, elements = (key.read(section) for key in KEYS)
    section.finish()
    if users.storage is not None or users.added:
        raise BadInput(f"{section.file}: design {name}: allowed without [storage] and add")
    for layer, use in users.layers.items():
        shape = use.shape
        where = f"{section.file}: layer {layer}: on design {name}"
        if (shape.k, shape.stride, use.groups, shape.pool) != (1, 1, 1, None):
            raise BadInput(f"{where}: allowed are 1 x 1 kernels, stride 1, one group, no pooling")
        if shape.n > inputs or shape.m * (shape.n + 1) > elements:
            raise BadInput(
                f"{where}: {shape.n} input maps, {shape.m * (shape.n + 1)} elements: allowed are "
                f"{inputs} and {elements}"
            )
    return Design(inputs, elements, users.numbers)
