"""The golden training step: source of inputs and expected outputs of the hardware's passes.

Its labels are arbitrary (image i has class i). Its deltas are real: those of the softmax
cross-entropy of the whole network.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from merp.models.base.bits import Bits
from merp.models.base.rates import Rates
from merp.models.golden.concatenated import whole
from merp.models.golden.in_memory import input_in_memory
from merp.models.golden.inference import LayerMaps, as_input, inference
from merp.models.golden.initial import Parameters
from merp.models.golden.loss import loss
from merp.models.golden.state import State
from merp.models.golden.stored import Stored, started, stored
from merp.models.golden.training import (
    RATE,
    LayerBackward,
    LayerForward,
    Updated,
    at_rest,
    forward,
    gradients_of,
    leaves,
    propagate,
    rates_of,
    updated,
)
from merp.models.network.branches import (
    added,
    beside,
    parts,
    previous,
    receiver,
    stored_as,
    takers,
)
from merp.models.network.network import Layer, Network


class GoldenStep:
    """A training step whose parts are computed on demand, because a single layer needs few of them.

    Attributes:
        parameters: kernels and biases of every layer, before the step.
        made: output maps of layers, by name; the next layer reads them instead of the golden
            model's.
    """

    def __init__(
        self,
        network: Network,
        layers: Sequence[Layer],
        image: Bits,
        parameters: Parameters,
        learning_rate: float = RATE,
        *,
        pooled: bool = False,
    ) -> None:
        """Prepare the step of ``network`` on ``image``, of which ``layers`` are used, in order.

        pooled: whether deltas are stored at pooled resolution, or at the resolution of the sums.
        """
        self._network = network
        self._learning_rate = learning_rate
        self._pooled = pooled
        self._layers = layers
        self._image = input_in_memory(image, network)
        self._updated: dict[str, Updated] = {}
        self.parameters = parameters
        self.made: dict[str, Bits] = {}

    @property
    def images(self) -> int:
        """Images of the batch."""
        return len(self._image)

    @cached_property
    def _maps(self) -> dict[str, LayerMaps]:
        """Input and output of the layers up to the last used layer, by name."""
        found = {}
        for maps in inference(self._network, self._image, self.parameters):
            found[maps.layer.name] = maps
            if maps.layer.name == self._layers[-1].name:
                break
        return found

    def x(self, layer: Layer) -> Bits:
        """Return the input of a layer: from ``made``, or from the golden model."""
        earlier = previous(self._network, layer)
        if earlier is None:
            return as_input(self._image, layer)
        return as_input(whole(self._network, earlier, self._output), layer)

    def add(self, layer: Layer) -> Bits | None:
        """Return the maps that are added to the sums of a layer, from the same sources, or None."""
        beside = added(self._network, layer)
        return None if beside is None else self._output(beside)

    def _output(self, layer: Layer) -> Bits:
        if layer.name in self.made:
            return self.made[layer.name]
        if "_forward" in self.__dict__:  # the whole network already ran: reuse the result
            return self._kept(layer).y
        return self._maps[layer.name].y

    def y(self, layer: Layer) -> Bits:
        """Return the output of a layer."""
        return self._maps[layer.name].y

    @cached_property
    def _forward(self) -> tuple[list[LayerForward], Bits]:
        return forward(self._network, self._image, self.parameters, "pooled")

    def state(self, layer: Layer) -> State:
        """Return the ReLU/pooling mask of a layer."""
        return self._kept(layer).state

    def _kept(self, layer: Layer) -> LayerForward:
        return next(kept for kept in self._forward[0] if kept.layer.name == layer.name)

    def passed(self, layer: Layer) -> LayerBackward:
        """Return the deltas of a used layer, or of a layer in front of one."""
        return self._passed[layer.name]

    def start(self, layer: Layer) -> Bits | None:
        """Return the start of the delta propagation of a layer, or None."""
        return self._passed[layer.name].start

    def delta(self, layer: Layer) -> Bits:
        """Return the delta of the output of a layer that ``passed`` knows."""
        return self._passed[layer.name].delta

    def stored(self, layer: Layer) -> Stored:
        """Return the same delta as it is stored in memory at pooled resolution."""
        return stored(self._network, layer, self.delta, self.state)

    def started(self, layer: Layer) -> Stored | None:
        """Return the start of the delta propagation of a layer, for such deltas, or None."""
        return started(self._network, layer, self.delta, self.state, self.start(layer))

    @cached_property
    def _passed(self) -> dict[str, LayerBackward]:
        kept, output = self._forward
        labels = np.arange(len(self._image), dtype=np.int64) % output[0].size
        _, delta = loss("cross-entropy", output, labels, self._network.fmt)
        wanted = {layer.name for layer in self._layers}
        for layer in self._layers:
            front, start = receiver(self._network, layer), beside(self._network, layer)
            wanted.add(stored_as(self._network, layer).name)
            wanted |= set() if start is None else {start.name}
            if front is not None:
                wanted |= {part.name for part, _ in parts(self._network, front)}
                wanted |= {each.name for each in takers(self._network, front)}
        found: dict[str, LayerBackward] = {}
        back = propagate(self._network, kept, delta, self.parameters, pooled=self._pooled)
        for passed in back:
            if passed.layer.name in wanted:
                found[passed.layer.name] = passed
            if len(found) == len(wanted):
                break
        return found

    def left(self, layer: Layer) -> Bits:
        """Return the output of the delta propagation of a layer, if deltas are stored pooled."""
        return leaves(self._network, layer, self.passed, pooled=True)

    @property
    def rates(self) -> Rates:
        """Factors of the update, without momentum."""
        return rates_of(self._learning_rate, self.images, self._network.fmt)

    def before(self, layer: Layer) -> Updated:
        """Return kernels and biases of a layer before the step, with zero velocities."""
        return at_rest(self.parameters[layer.name])

    def updated(self, layer: Layer) -> Updated:
        """Return kernels and biases of a layer after the step."""
        fmt, storage = self._network.fmt, self._network.storage
        if layer.name not in self._updated:
            found, old = gradients_of(self._network, self.passed(layer)), self.before(layer)
            self._updated[layer.name] = updated(old, found, self.rates, fmt, storage)
        return self._updated[layer.name]
