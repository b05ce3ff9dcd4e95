"""Kernel update: the module computes gradients, and the host updates the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.fcnn.module import Module, named_gradients
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.expectation import GroupPass, Pair
from merp.hdl.fcnn.fcnn_gradient import GradientPorts, fcnn_gradient
from merp.models.base.bits import Bits
from merp.models.golden.inference import group_maps, own_maps
from merp.models.golden.stream_update import stream_gradients
from merp.models.machines.fcnn.params.gradient_registers import (
    COUNTERS,
    GRADIENT,
    WORDS,
    GradientRun,
)
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.stream_order import gradient_streams, gradient_words, gradients_of
from merp.models.network.network import Layer
from merp.testbenches.top.top import Top


class Gradients(Module):
    """Gradients of kernels and biases, which go to the host."""

    name = "ku"
    streams = WORDS
    counters = COUNTERS
    table = GRADIENT
    last = ("gradient_out", "map_in", "delta_in")
    early_end = True  # sums of missing maps are read after the last gradient has left

    def top(self, array: str = "rtl") -> Top:
        """Return the block with its own signals."""
        design = self.design.convolution
        return self._top(fcnn_gradient, GradientPorts(design), design, array)

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the value of every register."""
        return GRADIENT.values(self.run(layer, images))

    def run(self, layer: Layer, images: int) -> GradientRun:
        """Return the run of a group of a layer."""
        return GradientRun(Grid(layer.shape, images, self.design.convolution))

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Return the run of a group, on input and deltas of the step."""
        passed = step.passed(layer)
        x, deltas = group_maps(passed.x, layer, group), own_maps(passed.sums, layer, group)
        run, fmt = self.run(layer, len(x)), self.design.fmt
        maps_in, deltas_in = gradient_streams(run.grid, x, deltas)
        order = run.grid.design.summation
        found = stream_gradients(x, deltas, layer.shape, fmt, order)
        left = {"gradient_out": gradient_words(*found, run.grid.design)}
        return self._pass(layer, len(x), {"map_in": maps_in, "delta_in": deltas_in}, left)

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> None:
        """Return None: a gradient is not an input of the next layer."""

    def results(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> dict[str, Bits]:
        """Return the gradients."""
        return named_gradients(*self._gradients(layer, records))

    def store(self, layer: Layer, records: Sequence[RunRecord], step: StepSoFar) -> None:
        """Store the gradients; the host updates the layer after the last minibatch."""
        step.gradients[layer.name] = self._gradients(layer, records)

    def _gradients(self, layer: Layer, records: Sequence[RunRecord]) -> Pair:
        """Return the gradients of kernels (groups*m, n, k, k) and biases (groups*m,)."""
        pairs = [
            gradients_of(
                record.words(self.streams["gradient_out"]), layer.shape, self.design.convolution
            )
            for record in records
        ]
        kernels, biases = zip(*pairs, strict=True)
        return np.concatenate(kernels), np.concatenate(biases)
