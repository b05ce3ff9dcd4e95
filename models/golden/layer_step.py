"""A golden step of a single layer with given inputs instead of those from other layers."""

from __future__ import annotations

from dataclasses import replace

from merp.models.base.bits import Bits
from merp.models.golden.delta import delta_layer
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.in_memory import in_memory, input_in_memory, pair_in_memory
from merp.models.golden.inference import forward_layer
from merp.models.golden.state import State, keep_state
from merp.models.golden.stored import Stored
from merp.models.golden.super_layer import pooled as pooled_maps
from merp.models.golden.training import RATE, LayerBackward
from merp.models.golden.unpool import unpool
from merp.models.network.network import Layer, Network


class LayerStep(GoldenStep):
    """A ``GoldenStep`` of one layer; it refuses requests for data of other layers."""

    def __init__(
        self,
        network: Network,
        layer: Layer,
        x: Bits,
        parameters: tuple[Bits, Bits],
        delta: Bits | None = None,
        learning_rate: float = RATE,
        add: Bits | None = None,
        *,
        pooled: bool = False,
    ) -> None:
        """Prepare the step of ``layer``.

        Args:
            network: the layer's network.
            x: (images, rows, columns, groups*n) words, its input.
            parameters: kernels (groups*m, n, k, k) and biases (groups*m,), as words.
            delta: (images, pooled rows, pooled columns, groups*m) words, of its output; backward
                propagation needs it.
            learning_rate: of the update, of the mean loss.
            add: (images, out_rows, out_columns, groups*m) words that are added to its sums, if it
                adds the output of another layer.
            pooled: as in ``GoldenStep``.
        """
        fmt, storage = network.fmt, network.storage
        parameters = pair_in_memory(parameters, "kernels", fmt, storage)
        made = {layer.name: parameters}
        super().__init__(network, (layer,), x, made, learning_rate, pooled=pooled)
        x = input_in_memory(x, network.at(layer))
        if add is not None:
            add = in_memory(add, "maps", fmt, storage)
        if delta is not None and pooled:
            delta = in_memory(delta, "deltas", fmt, storage)
        self._layer, self._x, self._delta, self._add = layer, x, delta, add
        unpooled = replace(layer, shape=layer.shape.up_to_relu)
        sums = forward_layer(unpooled, x, *parameters, fmt, network.summation(layer), add)
        self._state = keep_state(sums, layer.shape, "pooled", fmt)
        self._y = in_memory(pooled_maps(sums, layer.shape, fmt), "maps", fmt, storage)

    def x(self, layer: Layer) -> Bits:
        """Return the input of the layer."""
        self._check(layer)
        return self._x

    def add(self, layer: Layer) -> Bits | None:
        """Return the maps that are added to the sums of the layer."""
        self._check(layer)
        return self._add

    def y(self, layer: Layer) -> Bits:
        """Return the output of the layer."""
        self._check(layer)
        return self._y

    def state(self, layer: Layer) -> State:
        """Return the ReLU/pooling mask of the layer."""
        self._check(layer)
        return self._state

    def passed(self, layer: Layer) -> LayerBackward:
        """Return the deltas of the layer."""
        self._check(layer)
        if self._delta is None:
            raise ValueError(f"{layer.name}: no delta was given")
        fmt, storage = self._network.fmt, self._network.storage
        sums = unpool(self._delta, self._state, layer.shape, fmt)
        if not self._pooled:
            sums = in_memory(sums, "deltas", fmt, storage)
        return LayerBackward(layer, self._x, self._state, self._delta, sums, None)

    def delta(self, layer: Layer) -> Bits:
        """Return the delta of the output of the layer."""
        return self.passed(layer).delta

    def stored(self, layer: Layer) -> Stored:
        """Return the same delta as it is stored in memory at pooled resolution."""
        here = self.passed(layer)
        return Stored(layer.shape, here.delta, here.state)

    def started(self, layer: Layer) -> Stored | None:
        """Return None: no other layer has propagated a delta."""
        self._check(layer)
        return None

    def left(self, layer: Layer) -> Bits:
        """Return the delta of the input of the layer."""
        here, (kernels, _) = self.passed(layer), self.parameters[layer.name]
        fmt, summation = self._network.fmt, self._network.summation(layer)
        left = delta_layer(layer, here.sums, kernels, fmt, summation)
        return in_memory(left, "deltas", fmt, self._network.storage)

    def _check(self, layer: Layer) -> None:
        if layer != self._layer:
            raise ValueError(f"{layer.name}: a step of {self._layer.name} alone")
