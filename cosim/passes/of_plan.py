"""The passes of a plan: a phase of a layer, cut as planned, on the engine of its bitstream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from merp.cosim.passes.cut import Cut, Place, Tiles
from merp.cosim.passes.delta_tiles import DeltaTiles
from merp.cosim.passes.forward_tiles import ForwardTiles
from merp.cosim.passes.update_tiles import UpdateTiles
from merp.cosim.phases.cnn_merp.delta import delta_top
from merp.cosim.phases.cnn_merp.forward import forward_top
from merp.cosim.phases.cnn_merp.kernel_update import kernel_update_top
from merp.models.cnn_merp.phases import DeltaDesign, maps_behind
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.inference import group_maps, group_parameters
from merp.models.golden.state import of_maps
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign
from merp.models.plan.plan import Planned
from merp.models.plan.words import Pass as OnePass
from merp.models.plan.words import pass_bytes
from merp.testbenches.top.top import Top


@dataclass(frozen=True)
class OfPlan:
    """A phase of a layer.

    Attributes:
        planned: with state ``pooled``, which is what hardware keeps, and built.
    """

    planned: Planned

    @property
    def design(self) -> Design:
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
        if phase == "dp":
            return delta_top(self._delta_design, array)
        return kernel_update_top(self.design, array, undone=self._undone)

    def tiles(self, group: int, step: GoldenStep) -> Tiles:
        """The passes of a group, fed from the golden step and compared with it.

        ``step`` is of the plan's network, and looks at the layer.
        """
        work = self.planned.work
        layer, shape = work.layer, work.shape
        kernels, biases = group_parameters(layer, group, *step.parameters[layer.name])
        if work.phase == "fp":
            x = group_maps(step.x(layer), layer, group)
            return ForwardTiles(shape, self.design, x, kernels, biases, self.cut)
        here = step.passed(layer)
        own = group * shape.m, (group + 1) * shape.m
        deltas, state = here.delta[..., slice(*own)], of_maps(here.state, *own)
        if work.phase == "dp":
            return DeltaTiles(shape, shape, self._delta_design, deltas, kernels, state, self.cut)
        x, old, rate = group_maps(here.x, layer, group), (kernels, biases), step.rates.rate
        return UpdateTiles(shape, self.design, x, deltas, old, rate, self.cut, self._undone, state)

    def whole(self, group: int, step: GoldenStep, outputs: int) -> dict[str, Bits]:
        """What the layer in one piece gives of a part of the outputs, as ``Tiles.row`` names it."""
        work, part = self.planned.work, self.cut.outputs[outputs]
        layer, shape = work.layer, work.shape
        if work.phase == "fp":
            return {"maps": step.y(layer)[..., group * shape.m + part]}
        if work.phase == "dp":
            assert work.earlier is not None
            maps = maps_behind(shape, work.earlier.shape)
            front = step.delta(work.earlier)[..., group * maps : (group + 1) * maps]
            size = step.images, shape.rows, shape.columns, shape.n
            return {"deltas": front.reshape(size)[..., part]}
        _, new = step.updated(layer, self.design.summation)
        kernels, biases = group_parameters(layer, group, *new)
        return {"kernels": kernels[part], "biases": biases[part]}

    @property
    def _undone(self) -> UnpoolDesign:
        unpool = self.planned.engine.unpool
        assert unpool is not None  # what expands deltas that are stored pooled
        return unpool

    @property
    def _delta_design(self) -> DeltaDesign:
        return DeltaDesign(self.design, self._undone, before=True)


def bytes_of(planned: Planned, place: Place) -> Mapping[str, int]:
    """Bytes through each port in a pass of one group, by the plan's formula."""
    work, (in_size, out_size) = planned.work, planned.tile
    in_start, out_start = place.inputs * in_size, place.outputs * out_size
    in_end, out_end = min(work.inputs, in_start + in_size), min(work.outputs, out_start + out_size)
    return pass_bytes(work, OnePass(in_start, in_end, out_start, out_end))


def differing(found: Mapping[str, Bits], wanted: Mapping[str, Bits]) -> list[str]:
    """What of arrays that passes gave together is not that of the layer in one piece."""
    return [
        f"{name}: not those of the layer in one piece"
        for name, array in wanted.items()
        if not np.array_equal(found[name], array)
    ]
