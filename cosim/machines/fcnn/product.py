"""The phases of a full connection, on the module of matrix products."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.fcnn.module import Module, hand_back, named_gradients
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.expectation import GroupPass, Pair
from merp.hdl.fcnn.fcnn_mlp import ProductPorts, fcnn_mlp
from merp.models.base.bits import Bits
from merp.models.golden.convolution import convolution
from merp.models.golden.inference import group_maps, group_parameters, own_maps
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient
from merp.models.machines.fcnn.params.product_registers import (
    COUNTERS,
    PRODUCT,
    WORDS,
    ProductRun,
)
from merp.models.machines.fcnn.phases import pools
from merp.models.machines.fcnn.product_order import output_order, product_of, product_streams
from merp.models.machines.fcnn.words import product_run
from merp.models.network.network import Layer
from merp.testbenches.top.top import Top

NONE = np.zeros(0, np.uint32)


class Product(Module):
    """A matrix product C = start + A B."""

    streams = WORDS
    counters = COUNTERS
    table = PRODUCT
    last = ("sum_out",)

    def top(self, array: str = "rtl") -> Top:
        """Return the block with its own signals."""
        design = self.design.product
        return self._top(fcnn_mlp, ProductPorts(design), design, array)

    def registers(self, layer: Layer, images: int) -> dict[str, int]:
        """Return the value of every register."""
        return PRODUCT.values(self.run(layer, images))

    def run(self, layer: Layer, images: int) -> ProductRun:
        """Return the run of a layer."""
        return product_run(self.design, layer.shape, self.name, images)

    @abstractmethod
    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits | None:
        """Return the input of the next layer, if the product is one."""

    def products(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> list[Bits]:
        """Return C of each group, (rows, columns) words."""
        run = self.run(layer, images)
        return [product_of(run, record.words(self.streams["sum_out"])) for record in records]

    def maps(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits:
        """Return C of all groups as maps of one element: (images, 1, 1, maps) words."""
        found = np.concatenate(self.products(layer, images, records), axis=-1)
        return found.reshape(images, 1, 1, -1)

    def _multiplied(
        self, layer: Layer, images: int, a: Bits, b: Bits, bias: Bits, c: Bits
    ) -> GroupPass:
        """Return the run of (rows, inner) times (inner, columns) words, with the golden result."""
        run = self.run(layer, images)
        maps, kernels, biases = product_streams(run, a, b, bias)
        order, inside = output_order(run)
        sent = {"map_in": maps, "kernel": kernels, "bias": biases}
        return self._pass(layer, images, sent, {"sum_out": c.reshape(-1)[order]}, inside)


class Forward(Product):
    """Forward propagation, up to the sums: rows are images, inner elements inputs."""

    name = "fp"

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Return the run, on the input of the step."""
        x = group_maps(step.x(layer), layer, group)
        kernels, biases = group_parameters(layer, group, *step.parameters[layer.name])
        sums = convolution(x, kernels, biases, 1, 0, self.design.fmt)
        a, b = x.reshape(len(x), -1), kernels.reshape(len(kernels), -1).T
        return self._multiplied(layer, len(x), a, b, biases, sums)

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Bits | None:
        """Return the sums, if the layer has no activation."""
        return None if pools(self.network, layer) else self.maps(layer, images, records)

    def results(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> dict[str, Bits]:
        """Return the sums."""
        return {"sums": self.maps(layer, images, records)}

    def store(self, layer: Layer, records: Sequence[RunRecord], step: StepSoFar) -> None:
        """Store the sums."""
        step.outputs[layer.name] = self.maps(layer, len(step.images), records)


class Delta(Product):
    """Delta propagation: inner elements are outputs, and the host transposes the kernels."""

    name = "dp"

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Return the run, on the deltas of the step."""
        sums = own_maps(step.passed(layer).sums, layer, group)
        kernels, _ = group_parameters(layer, group, *step.parameters[layer.name])
        zeros = np.zeros(layer.shape.n, np.uint32)
        turned = np.ascontiguousarray(kernels.swapaxes(0, 1))
        left = convolution(sums, turned, zeros, 1, 0, self.design.fmt)
        a, b = sums.reshape(len(sums), -1), kernels.reshape(len(kernels), -1)
        return self._multiplied(layer, len(sums), a, b, NONE, left)

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> None:
        """Return None: a delta is not an input of the next layer."""

    def results(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> dict[str, Bits]:
        """Return the delta of the output in front."""
        return {"delta": self.maps(layer, images, records)}

    def store(self, layer: Layer, records: Sequence[RunRecord], step: StepSoFar) -> None:
        """Store the delta of the output in front."""
        hand_back(step, layer, self.maps(layer, len(step.images), records))


class Gradients(Product):
    """Kernel update: rows are inputs and a row of ones, inner elements images.

    The host updates the kernels.
    """

    name = "ku"

    def golden_pass(self, layer: Layer, group: int, step: Any) -> GroupPass:
        """Return the run, on input and deltas of the step."""
        passed, fmt = step.passed(layer), self.design.fmt
        x, sums = group_maps(passed.x, layer, group), own_maps(passed.sums, layer, group)
        kernels, biases = kernel_gradient(x, sums, layer.shape, fmt), bias_gradient(sums, fmt)
        images = len(x)
        ones = np.full((1, images), fmt.one, np.uint32)
        a = np.concatenate([x.reshape(images, -1).T, ones])
        b = sums.reshape(images, -1)
        c = np.concatenate([kernels.reshape(len(biases), -1).T, biases[np.newaxis]])
        return self._multiplied(layer, images, a, b, NONE, c)

    def outputs(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> None:
        """Return None: a gradient is not an input of the next layer."""

    def results(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> dict[str, Bits]:
        """Return the gradients."""
        return named_gradients(*self._gradients(layer, images, records))

    def store(self, layer: Layer, records: Sequence[RunRecord], step: StepSoFar) -> None:
        """Store the gradients; the host updates the layer after the last minibatch."""
        step.gradients[layer.name] = self._gradients(layer, len(step.images), records)

    def _gradients(self, layer: Layer, images: int, records: Sequence[RunRecord]) -> Pair:
        """Return the gradients of kernels (groups*m, n, 1, 1) and biases (groups*m,)."""
        found = np.concatenate(self.products(layer, images, records), axis=-1)
        kernels = np.ascontiguousarray(found[:-1].T).reshape(-1, layer.shape.n, 1, 1)
        return kernels, found[-1]
