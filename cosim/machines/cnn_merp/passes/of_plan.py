"""The passes of a plan: a phase of a layer, cut as planned, on the engine of its bitstream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from merp.cosim.machines.cnn_merp.passes.backward_tiles import BackwardTiles
from merp.cosim.machines.cnn_merp.passes.cut import Cut, PassPlace, Tiles
from merp.cosim.machines.cnn_merp.passes.delta_tiles import DeltaTiles
from merp.cosim.machines.cnn_merp.passes.forward_tiles import ForwardTiles
from merp.cosim.machines.cnn_merp.passes.fused_tiles import FusedTiles
from merp.cosim.machines.cnn_merp.passes.update_tiles import UpdateTiles
from merp.cosim.machines.cnn_merp.phases.backward import backward_top
from merp.cosim.machines.cnn_merp.phases.delta import delta_top
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.cosim.machines.cnn_merp.phases.fused_forward import fused_forward_top
from merp.cosim.machines.cnn_merp.phases.kernel_update import kernel_update_top
from merp.cosim.phases.expectation import Pair
from merp.models.base.bits import Bits
from merp.models.base.fused_shape import FusedShape
from merp.models.base.rates import PLAIN, Rates, UpdateRule
from merp.models.golden.inference import group_maps, group_parameters, own_maps
from merp.models.golden.state import of_maps
from merp.models.golden.stored import Stored
from merp.models.golden.training import Updated
from merp.models.machines.cnn_merp.params.backward_design import BackwardDesign
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.machines.cnn_merp.plan.planned import PlannedPhase
from merp.models.machines.cnn_merp.plan.words import Pass as OnePass
from merp.models.machines.cnn_merp.plan.words import pass_bytes, with_velocities
from merp.models.machines.cnn_merp.reconfiguration import PROPAGATING
from merp.models.network.network import Layer
from merp.models.network.phases import ONE_PASS, PAIR
from merp.testbenches.top.top import Top


class StepOperands(Protocol):
    """What the layers of a step are fed from; deltas are at pooled resolution."""

    @property
    def rates(self) -> Rates:
        """Words of the update's factors."""

    def before(self, layer: Layer) -> Updated:
        """Kernels, biases and velocities of a layer before the step."""

    def x(self, layer: Layer) -> Bits:
        """Input of a layer."""

    def add(self, layer: Layer) -> Bits | None:
        """What is added to the sums of a layer, if anything is."""

    def stored(self, layer: Layer) -> Stored:
        """Delta of the output of a layer."""

    def started(self, layer: Layer) -> Stored | None:
        """What delta propagation of a layer starts at, if at anything."""


class Wanted(Protocol):
    """What layers in one piece give in a step."""

    def y(self, layer: Layer) -> Bits:
        """Output of a layer."""

    def left(self, layer: Layer) -> Bits:
        """What delta propagation of a layer leaves: of the output of the layer in front."""

    def updated(self, layer: Layer) -> Updated:
        """Kernels, biases and velocities of a layer after the step."""


@dataclass(frozen=True)
class OfPlan:
    """A phase of a layer.

    Attributes:
        planned: with state ``pooled``, which is what hardware keeps, and built.
        rule: of a kernel update, alone or in one pass with delta propagation.
    """

    planned: PlannedPhase
    rule: UpdateRule = PLAIN

    @property
    def design(self) -> EngineDesign:
        """What the passes run on."""
        return self.planned.engine.design

    @property
    def cut(self) -> Cut:
        """The parts."""
        work, (inputs, outputs) = self.planned.work, self.planned.tile
        taps = work.engine.taps if work.folded else 1
        return Cut.by_sizes(work.outputs, work.elements_in, (outputs, inputs), taps)

    def top(self, array: str = "rtl") -> Top:
        """The block that runs every pass, with signals of its own."""
        phase = self.planned.work.phase
        if phase == "fp":
            return forward_top(self.design, array)
        if phase == PAIR:
            return fused_forward_top(self._pair, array)
        if phase == "dp":
            return delta_top(self._delta_design, array)
        if phase == ONE_PASS:
            return backward_top(self._backward_design, array, self.rule)
        return kernel_update_top(self.design, array, self.rule, self._undone)

    @property
    def made(self) -> list[tuple[Layer, str, str]]:
        """Layers whose outputs the passes make, each with what ``Tiles`` call its maps and state.

        None on the way back.
        """
        work = self.planned.work
        if work.phase == PAIR:
            first, second = self._fused
            return [(first, "between", "between_state"), (second, "maps", "state")]
        return [(work.layer, "maps", "state")] if work.phase == "fp" else []

    @property
    def ports(self) -> Mapping[str, int]:
        """Bytes of each port, all passes of all groups, by the plan's closed form."""
        work, ports = self.planned.work, self.planned.ports
        return with_velocities(work, ports) if self.rule.momentum else ports

    def bytes_of(self, place: PassPlace) -> Mapping[str, int]:
        """Bytes of each port in a pass of one group, by the plan's formula."""
        work, (in_size, out_size) = self.planned.work, self.planned.tile
        start = place.inputs * in_size, place.outputs * out_size
        in_end, out_end = (
            min(work.inputs, start[0] + in_size),
            min(work.outputs, start[1] + out_size),
        )
        ports = pass_bytes(work, OnePass(start[0], in_end, start[1], out_end))
        return with_velocities(work, ports) if self.rule.momentum else ports

    def tiles(self, group: int, step: StepOperands) -> Tiles:
        """The passes of a group, fed from a step."""
        work = self.planned.work
        if work.phase == PAIR:
            return self._fused_tiles(group, step)
        layer, shape = work.layer, work.shape
        old = Updated(*(group_parameters(layer, group, *pair) for pair in step.before(layer)))
        if work.phase == "fp":
            x = group_maps(step.x(layer), layer, group)
            add = step.add(layer)
            own_add = None if add is None else own_maps(add, layer, group)
            return ForwardTiles(shape, self.design, x, *old.parameters, self.cut, own_add)
        own = group * shape.m, (group + 1) * shape.m
        if work.phase == ONE_PASS:
            return BackwardTiles(
                self._backward_design, group_maps(step.x(layer), layer, group),
                step.stored(layer).of_maps(slice(*own)), old, step.rates, self.cut,
            )  # fmt: skip
        shape, all_deltas, all_states = step.stored(layer)
        deltas, state = all_deltas[..., slice(*own)], of_maps(all_states, *own)
        if work.phase == "dp":
            (kernels, _), start = old.parameters, step.started(layer)
            return DeltaTiles(
                shape, shape, self._delta_design, deltas, kernels, state, self.cut,
                start and start.of_group(layer, group),
            )  # fmt: skip
        return UpdateTiles(
            shape, self.design, group_maps(step.x(layer), layer, group), deltas, old, step.rates,
            self.cut, self._undone, state,
        )  # fmt: skip

    def _fused_tiles(self, group: int, step: StepOperands) -> FusedTiles:
        """The pass of a group of the first of two fused layers."""
        first, second = self._fused

        def own(layer: Layer) -> Pair:
            kernels, biases = step.before(layer).parameters
            return np.split(kernels, first.groups)[group], np.split(biases, first.groups)[group]

        shape = FusedShape(first.shape, second.shape, self._pair.groups)
        x = group_maps(step.x(first), first, group)
        return FusedTiles(shape, self._pair, x, own(first), own(second), self.cut)

    def whole(self, group: int, step: Wanted, outputs: int) -> dict[str, Bits]:
        """What the layer in one piece gives of a part of the outputs, as ``Tiles.row`` names it."""
        work, part = self.planned.work, self.cut.outputs[outputs]
        layer, shape = work.layer, work.shape
        if work.phase == PAIR:
            return {
                maps: np.split(step.y(each), layer.groups, axis=-1)[group]
                for each, maps, _ in self.made
            }
        if work.phase == "fp":
            return {"maps": step.y(layer)[..., group * shape.m + part]}
        found: dict[str, Bits] = {}
        if work.phase in PROPAGATING:
            front = step.left(layer)
            size = len(front), shape.rows, shape.columns, layer.groups * shape.n
            deltas = group_maps(front.reshape(size), layer, group)
            found["deltas"] = deltas[..., part] if work.phase == "dp" else deltas
        if work.phase == "dp":
            return found
        new = step.updated(layer)
        named = {("kernels", "biases"): new.parameters}
        if self.rule.momentum:
            named["kernel_velocities", "bias_velocities"] = new.velocities
        return found | {
            name: array[part]
            for names, pair in named.items()
            for name, array in zip(names, group_parameters(layer, group, *pair), strict=True)
        }

    @property
    def _fused(self) -> tuple[Layer, Layer]:
        halves = self.planned.work.halves
        assert halves is not None
        return halves[0].layer, halves[1].layer

    @property
    def _pair(self) -> FusedDesign:
        pair = self.planned.engine.pair
        assert pair is not None  # of every engine of two fused layers
        return pair

    @property
    def _undone(self) -> UnpoolDesign:
        unpool = self.planned.engine.unpool
        assert unpool is not None  # what expands deltas that are stored pooled
        return unpool

    @property
    def _backward_design(self) -> BackwardDesign:
        propagation = self.planned.engine.propagation
        assert propagation is not None  # the half that every engine of one pass has
        return BackwardDesign(propagation, self.design, self._undone)

    @property
    def _delta_design(self) -> DeltaDesign:
        return DeltaDesign(self.design, self._undone, True, self.planned.engine.add_unpool)


def differing(found: Mapping[str, Bits], wanted: Mapping[str, Bits]) -> list[str]:
    """What of arrays that passes gave together is not that of the layer in one piece."""
    return [
        f"{name}: not those of the layer in one piece"
        for name, array in wanted.items()
        if not np.array_equal(found[name], array)
    ]
