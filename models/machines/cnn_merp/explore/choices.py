"""All free choices of a design of CNN-MERP, for layers that share it.

Only some numbers of units can be on a front. Such a number saves a layer a turn compared with one
unit less, or it widens the beats of a kernel update's deltas. Of the lanes of a row, only numbers
that save steps can be on a front. All others cost more and gain nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import NamedTuple

from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.summation import DSPS
from merp.models.fpga.parts import Part
from merp.models.machines.cnn_merp.params.design import PORTS, EngineDesign
from merp.models.machines.cnn_merp.plan.automatic import shapes_of, unit_counts
from merp.models.network.network import Layer


class Kinds(NamedTuple):
    """The kinds of sums of the units, and of the units of the kernel update."""

    cu_kind: str
    fused_dsp: int
    ku_kind: str
    ku_lanes: int


class FreeKeys(NamedTuple):
    """The free keys of a design; all others follow from these and the layers."""

    n_cu: int
    p: int
    kinds: Kinds
    kernel_port: int
    map_port: int


class Axes(NamedTuple):
    """The values of each part of a choice, in its order."""

    n_cu: Sequence[int]
    p: Sequence[int]
    kinds: Sequence[Kinds]
    kernel_port: Sequence[int]
    map_port: Sequence[int]

    @property
    def size(self) -> int:
        """Number of choices."""
        return prod(map(len, self))

    def choices(self) -> Iterator[FreeKeys]:
        """Iterate over the choices."""
        return (FreeKeys(*values) for values in product(*self))


def axes_of(layers: Sequence[Layer], part: Part, fmt: FloatFormat) -> Axes:
    """Return the choices of a design for layers of one kernel size."""
    shapes = shapes_of(layers)
    counts = unit_counts(shapes, part)
    whole = {-(-count // port) * port for count in counts for port in PORTS}
    return Axes(
        n_cu=sorted(count for count in whole if count <= counts[0]),
        p=(1, 2),
        kinds=_kinds(shapes[0].k ** 2, fmt),
        kernel_port=PORTS,
        map_port=PORTS,
    )


def _kinds(taps: int, fmt: FloatFormat) -> list[Kinds]:
    """Return the kinds of sums; fused sums, and fused rows, need binary32."""
    tree = Kinds("tree", 1, "position", 1)
    if fmt != BINARY32:
        return [tree]
    lanes = sorted({-(-taps // steps) for steps in range(1, taps + 1)})
    updates = [("position", 1), *(("row", count) for count in lanes)]
    return [tree, *(Kinds("fused", dsp, *update) for dsp in DSPS for update in updates)]


def design_of(choice: FreeKeys, base: EngineDesign, rings: int) -> EngineDesign:
    """Return the design of a choice; ``base`` has its units and the values that follow from them.

    rings: of rows, for the choice's number of interleaved positions.

    Raises:
        ValueError: there is no such design.
    """
    return replace(
        base,
        p=choice.p,
        d=rings,
        kernel_port=choice.kernel_port,
        map_port=choice.map_port,
        **choice.kinds._asdict(),
    )
