"""The passes of a plan: a phase of a layer, divided as planned, on the engine of its bitstream."""

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
    """The operands of a step's layers; deltas are at pooled resolution."""

    @property
    def rates(self) -> Rates:
        """Words of the update's factors."""

    def before(self, layer: Layer) -> Updated:
        """Return kernels, biases and velocities of a layer before the step."""

    def x(self, layer: Layer) -> Bits:
        """Return the input of a layer."""

    def add(self, layer: Layer) -> Bits | None:
        """Return the words that are added to the sums of a layer, or None."""

    def stored(self, layer: Layer) -> Stored:
        """Return the delta of the output of a layer."""

    def started(self, layer: Layer) -> Stored | None:
        """Return the initial value of a layer's delta propagation, or None."""


class Wanted(Protocol):
    """The results of a step in which no layer is divided."""

    def y(self, layer: Layer) -> Bits:
        """Return the output of a layer."""

    def left(self, layer: Layer) -> Bits:
        """Return the result of a layer's delta propagation: the delta of the output in front."""

    def updated(self, layer: Layer) -> Updated:
        """Return kernels, biases and velocities of a layer after the step."""


@dataclass(frozen=True)
class OfPlan:
    """A phase of a layer.

    Attributes:
        planned: the planned phase, with state ``pooled``, which is the kind that the hardware
            stores, and built.
        rule: update rule of a kernel update, alone or combined with delta propagation.
    """

    planned: PlannedPhase
    rule: UpdateRule = PLAIN

    @property
    def design(self) -> EngineDesign:
        """Design of the passes."""
        return self.planned.engine.design

    @property
    def cut(self) -> Cut:
        """The parts."""
        work, (inputs, outputs) = self.planned.work, self.planned.tile
        taps = work.engine.taps if work.folded else 1
        return Cut.by_sizes(work.outputs, work.elements_in, (outputs, inputs), taps)

    def top(self, array: str = "rtl") -> Top:
        """Return the block that runs every pass, as a top with its own signals."""
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
        """Layers whose outputs the passes compute, with the names of maps and mask in ``Tiles``.

        The list is empty in backward propagation.
        """
        work = self.planned.work
        if work.phase == PAIR:
            first, second = self._fused
            return [(first, "between", "between_state"), (second, "maps", "state")]
        return [(work.layer, "maps", "state")] if work.phase == "fp" else []

    @property
    def ports(self) -> Mapping[str, int]:
        """Bytes of each port in all passes of all groups, from the plan's closed form."""
        work, ports = self.planned.work, self.planned.ports
        return with_velocities(work, ports) if self.rule.momentum else ports

    def bytes_of(self, place: PassPlace) -> Mapping[str, int]:
        """Return the bytes of each port in a pass of one group, from the plan's formula."""
        work, (in_size, out_size) = self.planned.work, self.planned.tile
        start = place.inputs * in_size, place.outputs * out_size
        in_end, out_end = (
            min(work.inputs, start[0] + in_size),
            min(work.outputs, start[1] + out_size),
        )
        ports = pass_bytes(work, OnePass(start[0], in_end, start[1], out_end))
        return with_velocities(work, ports) if self.rule.momentum else ports

    def tiles(self, group: int, step: StepOperands) -> Tiles:
        """Return the passes of a group, with the operands of a step."""
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
        """Return the pass of a group of the first of two fused layers."""
        first, second = self._fused

        def own(layer: Layer) -> Pair:
            kernels, biases = step.before(layer).parameters
            return np.split(kernels, first.groups)[group], np.split(biases, first.groups)[group]

        shape = FusedShape(first.shape, second.shape, self._pair.groups)
        x = group_maps(step.x(first), first, group)
        return FusedTiles(shape, self._pair, x, own(first), own(second), self.cut)

    def whole(self, group: int, step: Wanted, outputs: int) -> dict[str, Bits]:
        """Return the undivided layer's results for an output part, named as in ``Tiles.row``."""
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
        assert pair is not None  # every engine of two fused layers has one
        return pair

    @property
    def _undone(self) -> UnpoolDesign:
        unpool = self.planned.engine.unpool
        assert unpool is not None  # the un-pooling that expands deltas at pooled resolution
        return unpool

    @property
    def _backward_design(self) -> BackwardDesign:
        propagation = self.planned.engine.propagation
        assert propagation is not None  # every one-pass engine has this half
        return BackwardDesign(propagation, self.design, self._undone)

    @property
    def _delta_design(self) -> DeltaDesign:
        return DeltaDesign(self.design, self._undone, True, self.planned.engine.add_unpool)


def differing(found: Mapping[str, Bits], wanted: Mapping[str, Bits]) -> list[str]:
    """Return the differences between combined results of passes and the undivided layer."""
    return [
        f"{name}: different from the layer in one piece"
        for name, array in wanted.items()
        if not np.array_equal(found[name], array)
    ]
