"""Forward and delta propagation on the convolution module."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.fcnn.module import Module, hand_back
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.expectation import GroupPass
from merp.hdl.fcnn.fcnn_conv import ConvPorts, fcnn_conv
from merp.models.base.bits import Bits
from merp.models.golden.inference import group_maps, group_parameters, own_maps
from merp.models.machines.fcnn.params.conv_registers import CONV, COUNTERS, WORDS, StreamRun
from merp.models.machines.fcnn.partial_sums import dilated, partial_sums
from merp.models.machines.fcnn.phases import pools
from merp.models.machines.fcnn.stream_order import (
    kernel_words,
    map_words,
    partial_words,
    sum_words,
    sums_of,
)
from merp.models.network.branches import begun
from merp.models.network.network import Layer
from merp.testbenches.top.top import Top

NONE = np.zeros(0, np.uint32)


class Convolution(Module):
    """A convolution with its partial sums in memory."""

    streams = WORDS
    counters = COUNTERS
    table = CONV
    last = ("sum_out", "map_in")

    def top(self, array: str = "rtl") -> Top:
        """Return the block with its own signals."""
        design = self.design.convolution
        return self._top(fcnn_conv, ConvPorts(design), design, array)

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the value of every register."""
        return CONV.values(self.run(layer, images))

    @abstractmethod
    def run(self, layer: Layer, images: int) -> StreamRun:
        """Return the run of a group of a layer."""

    def sums(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits:
        """Return the last sums of all groups: (images, rows, columns, maps) words."""
        grid = self.run(layer, images).grid
        found = [sums_of(record.words(self.streams["sum_out"]), grid)[-1] for record in records]
        return np.concatenate(found, axis=-1)

    def _convolved(
        self, layer: Layer, x: Bits, kernels: Bits, biases: Bits, start: Bits | None
    ) -> GroupPass:
        """Return the run over maps (images, rows, columns, n), without their blanks.

        biases: words, or none. start: sums of earlier runs, or None.
        """
        run = self.run(layer, len(x))
        shape, fmt = run.grid.shape, self.design.fmt
        first = biases if biases.size else np.zeros(1, np.uint32)
        begin = first if start is None else start
        sums = np.stack(list(partial_sums(dilated(x, run), kernels, begin, shape, fmt)))
        sent = {
            "map_in": map_words(x, run.grid),
            "kernel": kernel_words(kernels, run.design),
            "bias": biases,
            "partial_in": partial_words(sums, run, start),
        }
        meant = sum_words(np.ones_like(sums), run.grid).astype(np.bool_)
        return self._pass(layer, len(x), sent, {"sum_out": sum_words(sums, run.grid)}, meant)


class Forward(Convolution):
    """Forward propagation, up to the sums."""

    name = "fp"

    def run(self, layer: Layer, images: int) -> StreamRun:
        """Return the run of a group of a layer."""
        return StreamRun.forward(layer.shape, images, self.design.convolution)

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Return the run of a group, on the input of the step."""
        x = group_maps(step.x(layer), layer, group)
        kernels, biases = group_parameters(layer, group, *step.parameters[layer.name])
        return self._convolved(layer, x, kernels, biases, None)

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits | None:
        """Return the sums, if the layer has no pooling and no activation."""
        return None if pools(self.network, layer) else self.sums(layer, images, records)

    def results(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> dict[str, Bits]:
        """Return the sums."""
        return {"sums": self.sums(layer, images, records)}

    def store(self, layer: Layer, records: Sequence[RunRecord], step: StepSoFar) -> None:
        """Store the sums."""
        step.outputs[layer.name] = self.sums(layer, len(step.images), records)


class Delta(Convolution):
    """Delta propagation, to the output of the layer in front."""

    name = "dp"

    def run(self, layer: Layer, images: int) -> StreamRun:
        """Return the run of a group of a layer."""
        starts = begun(self.network, layer)
        return StreamRun.deltas(layer.shape, images, self.design.convolution, begun=starts)

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Return the run of a group, on the deltas of the step.

        The host transposes the kernels of a group, and rotates each by half a turn.
        """
        passed = step.passed(layer)
        kernels, _ = group_parameters(layer, group, *step.parameters[layer.name])
        turned = np.ascontiguousarray(kernels.swapaxes(0, 1)[..., ::-1, ::-1])
        deltas = own_maps(passed.sums, layer, group)
        start = None if passed.start is None else group_maps(passed.start, layer, group)
        return self._convolved(layer, deltas, turned, NONE, start)

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> None:
        """Return None: a delta is not an input of the next layer."""

    def results(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> dict[str, Bits]:
        """Return the delta of the output in front."""
        return {"delta": self.sums(layer, images, records)}

    def store(self, layer: Layer, records: Sequence[RunRecord], step: StepSoFar) -> None:
        """Store the delta of the output in front."""
        hand_back(step, layer, self.sums(layer, len(step.images), records))
