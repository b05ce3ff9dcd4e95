"""The engine of a bitstream that the passes of several layers share, and its resources."""

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
"""Words from which a memory is block RAM for every width."""


@dataclass(frozen=True, kw_only=True)
class PlannedEngine:
    """A bitstream: a design in a phase, sized for the largest tile of each layer.

    Attributes:
        name: of the design, or, for fused layers, of both designs.
        phase: ``fp``, ``ff``, ``dp``, ``ku`` or ``bp``.
        design: its elaboration.
        unpool: the unit that expands deltas, or undoes pooling, if any.
        add_unpool: the unit that expands the deltas at which sums start, if any.
        propagation: for ``bp``, the half that propagates; ``design`` is that of the update.
        pair: for ``ff``, the two fused layers; ``design`` is that of the first.
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
        """CUs: of each half, or of all engines of each fused layer."""
        if self.pair is not None:
            return self.pair.first.n_cu, self.pair.groups * self.pair.second.n_cu
        halves = (self.propagation, self.design)
        return tuple(each.n_cu for each in halves if each is not None)

    @property
    def memories(self) -> list[Memory]:
        """All memories of the engine."""
        if self.pair is not None:
            return fused_memories(self.pair)
        if self.propagation is not None:
            return backward_memories(self.propagation, self.design, self.unpool)
        if self.phase == "ku":
            return update_memories(self.design, self.unpool)
        return convolution_memories(self.design, self.unpool, self.add_unpool)

    @property
    def logic(self) -> Resources:
        """Resources without memories, for an engine that is neither two halves nor fused."""
        return estimate(self.design, self.phase, [], self.unpool, self.add_unpool)

    @cached_property
    def resources(self) -> Resources:
        """Resources of a part that the engine uses, by the model."""
        if self.pair is not None:
            return fused_estimate(self.pair)
        if self.propagation is not None:
            return backward_estimate(self.propagation, self.design, self.memories, self.unpool)
        return estimate(self.design, self.phase, self.memories, self.unpool, self.add_unpool)


def rings(forward: EngineDesign, phase: str, works: Sequence[PhaseWork]) -> EngineDesign:
    """Return the choices of ``forward`` with interleaved positions and rings of rows of a phase.

    A folded map has as many rows as the engine's own ring, so the next image needs a second ring.
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

    It supports folded layers and partial sums, if any work with available hardware needs them.

    Raises:
        BadInput: a size is beyond the limits of a design.
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
    """Return the engine whose parts are one map in and one map out of each work.

    Raises:
        BadInput: as in ``engine_of``.
    """
    kinds = list({work.kind: work for work in works}.values())
    return engine_of(name, kinds, [(1, 1)] * len(kinds))


def least_logic(engine: PlannedEngine) -> Resources:
    """Return a lower bound of the resources of the same engine with tiles of any size, without
    memories.
    """
    return bare(engine).logic


def bare(engine: PlannedEngine) -> PlannedEngine:
    """Return the same engine with the least logic for tiles of any size.

    Without partial sums it is smaller. Banks as block RAM need fewer registers than banks as LUT
    RAM.
    """
    return replace(engine, design=replace(engine.design, partial=False, row_words=_DEEP))


def least_memories(engine: PlannedEngine) -> list[Memory]:
    """Return the memories of the least engine that never shrink for larger tiles.

    Only memories of LUT RAM grow with their words; others may become block RAM.
    """
    return [each for each in engine.memories if each.at_once or each.fixed]


def _of_halves(
    name: str, works: Sequence[PhaseWork], tiles: Sequence[tuple[int, int]]
) -> PlannedEngine:
    """Return the engine of both backward phases in one pass."""
    halves = [work.halves for work in works if work.halves is not None]
    mirrored = [(outputs, inputs) for inputs, outputs in tiles]
    one = engine_of(name, [propagation for propagation, _ in halves], mirrored)
    other = engine_of(name, [update for _, update in halves], tiles)
    return replace(other, phase=works[0].phase, propagation=one.design)


def _sized(undone: Sequence[tuple[Shape, int]], design: EngineDesign) -> UnpoolDesign:
    """Return the un-pooling of layers, each with its number of maps."""
    return size_unpool(
        [shape for shape, _ in undone],
        [maps for _, maps in undone],
        fmt=design.fmt,
        max_images=design.max_images,
        add_latency=design.add_latency,
        mul_latency=design.mul_latency,
    )
