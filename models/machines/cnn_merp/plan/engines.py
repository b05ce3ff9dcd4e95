"""The engine of a bitstream that the passes of several layers share, and what it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

from merp.models.base.errors import BadInput
from merp.models.base.shape import Shape
from merp.models.fpga.resources import Resources
from merp.models.machines.cnn_merp.fpga.estimate import backward_estimate, estimate, fused_estimate
from merp.models.machines.cnn_merp.fpga.memories import (
    Memory,
    backward_memories,
    convolution_memories,
    fused_memories,
    update_memories,
)
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.sizing import FROM_LAYERS, MAXIMA, size_design
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign, size_unpool
from merp.models.machines.cnn_merp.phases import delta_rings, update_rings
from merp.models.machines.cnn_merp.plan.work import NO_STATE, PhaseWork

_CHOICES = tuple(
    f.name
    for f in fields(EngineDesign)
    if f.name not in (*MAXIMA, *FROM_LAYERS, "average", "partial", "added")
)


_DEEP = 1 << 16
"""Words of a memory that is block RAM whatever its width."""


@dataclass(frozen=True, kw_only=True)
class PlannedEngine:
    """A bitstream: a design in a phase, sized for the largest tile of each layer.

    Attributes:
        name: of the design, or of both of fused layers. phase: ``fp``, ``ff``, ``dp``, ``ku`` or
            ``bp``.
        design: its elaboration. unpool: of what expands deltas, or undoes pooling; if any.
        add_unpool: of what expands the deltas that sums start at; if any.
        propagation: of the half that propagates, of ``bp``, whose ``design`` is the update's.
        pair: of two fused layers, of ``ff``, whose ``design`` is the first one's.
    """

    name: str
    phase: str
    design: EngineDesign
    unpool: UnpoolDesign | None
    add_unpool: UnpoolDesign | None = None
    propagation: EngineDesign | None = None
    pair: FusedDesign | None = None

    @property
    def cus(self) -> tuple[int, ...]:
        """CUs: of two halves, or of two fused layers, of either, all engines of it."""
        if self.pair is not None:
            return self.pair.first.n_cu, self.pair.groups * self.pair.second.n_cu
        halves = (self.propagation, self.design)
        return tuple(each.n_cu for each in halves if each is not None)

    @property
    def memories(self) -> list[Memory]:
        """All memories of it."""
        if self.pair is not None:
            return fused_memories(self.pair)
        if self.propagation is not None:
            return backward_memories(self.propagation, self.design, self.unpool)
        if self.phase == "ku":
            return update_memories(self.design, self.unpool)
        return convolution_memories(self.design, self.unpool, self.add_unpool)

    @property
    def logic(self) -> Resources:
        """What it takes without its memories, neither two halves nor fused."""
        return estimate(self.design, self.phase, [], self.unpool, self.add_unpool)

    @cached_property
    def resources(self) -> Resources:
        """What it takes of a part, by the model."""
        if self.pair is not None:
            return fused_estimate(self.pair)
        if self.propagation is not None:
            return backward_estimate(self.propagation, self.design, self.memories, self.unpool)
        return estimate(self.design, self.phase, self.memories, self.unpool, self.add_unpool)


def rings(forward: EngineDesign, phase: str, works: Sequence[PhaseWork]) -> EngineDesign:
    """The choices of ``forward`` with the positions in turn and rings of rows of a phase.

    The rows of a folded map are as many as the engine's own ring, so that the next image needs a
    second one.
    """
    p, d = forward.p, forward.d
    if phase == "dp":
        p, d = delta_rings(forward, [work.convolution for work in works])
    if phase == "ku":
        p, d = 1, update_rings(forward)
    if any(work.folded for work in works):
        d = max(2, d)
    state = phase == "fp" and works[0].state != NO_STATE
    images = max(works[0].images, forward.max_images)
    return replace(forward, p=p, d=d, state=state, max_images=images)


def engine_of(
    name: str, works: Sequence[PhaseWork], tiles: Sequence[tuple[int, int]]
) -> PlannedEngine:
    """Return the engine that runs a tile of each work: input maps and output maps.

    It has folded layers, and sums that come in parts, if any work that there is hardware for has.

    Raises:
        BadInput: a size is beyond what a design may have.
    """
    if works[0].halves is not None:
        return _of_halves(name, works, tiles)
    chosen = {key: getattr(works[0].engine, key) for key in _CHOICES}
    pairs = list(zip(works, tiles, strict=True))
    try:
        shapes = [work.least if tile == (1, 1) else work.tile(*tile) for work, tile in pairs]
        design = size_design(shapes, **chosen)
        undone = [each for work, tile in pairs if (each := work.unpooled(*tile)) is not None]
        unpool = _sized(undone, design) if undone else None
        built = [(work, tile) for work, tile in pairs if work.built]
        design = replace(
            design,
            folded=any(work.folded for work, _ in built),
            partial=any(inputs < work.inputs for work, (inputs, _) in built),
            added=any(work.begun for work, _ in built),
        )
        add_unpool = None
        if any(work.beside for work, _ in built):
            starts = [(work.start, out) for work, (_, out) in built if work.start is not None]
            add_unpool = _sized(starts, design)
    except ValueError as error:
        raise BadInput(f"design {name}, phase {works[0].phase}: {error}") from error
    return PlannedEngine(
        name=name, phase=works[0].phase, design=design, unpool=unpool, add_unpool=add_unpool
    )


def least_engine(name: str, works: Sequence[PhaseWork]) -> PlannedEngine:
    """The engine whose parts are one map in and one map out of each work.

    Raises:
        BadInput: as ``engine_of``.
    """
    kinds = list({work.kind: work for work in works}.values())
    return engine_of(name, kinds, [(1, 1)] * len(kinds))


def least_logic(engine: PlannedEngine) -> Resources:
    """No more than what the same engine takes with tiles of any size, its memories left out."""
    return bare(engine).logic


def bare(engine: PlannedEngine) -> PlannedEngine:
    """The same engine with the least logic that it has for tiles of any size.

    Sums need not come in parts, and the banks are block RAM: as LUT RAM they have registers.
    """
    return replace(engine, design=replace(engine.design, partial=False, row_words=_DEEP))


def least_memories(engine: PlannedEngine) -> list[Memory]:
    """Memories of the least engine that take no less for larger tiles.

    Those of LUT RAM alone grow with their words; others may become block RAM.
    """
    return [each for each in engine.memories if each.at_once or each.fixed]


def _of_halves(
    name: str, works: Sequence[PhaseWork], tiles: Sequence[tuple[int, int]]
) -> PlannedEngine:
    """The engine of both backward phases in one pass."""
    halves = [work.halves for work in works if work.halves is not None]
    mirrored = [(outputs, inputs) for inputs, outputs in tiles]
    one = engine_of(name, [propagation for propagation, _ in halves], mirrored)
    other = engine_of(name, [update for _, update in halves], tiles)
    return replace(other, phase=works[0].phase, propagation=one.design)


def _sized(undone: Sequence[tuple[Shape, int]], design: EngineDesign) -> UnpoolDesign:
    """Un-pooling of layers, each of so many maps."""
    return size_unpool(
        [shape for shape, _ in undone],
        [maps for _, maps in undone],
        fmt=design.fmt,
        max_images=design.max_images,
        add_latency=design.add_latency,
        mul_latency=design.mul_latency,
    )
