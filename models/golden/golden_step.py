"""The golden training step that passes of the hardware are fed from and compared with.

Its labels are arbitrary (image i is of class i), its deltas are real: those of the softmax
cross-entropy of the whole network.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from merp.models.base.bits import Bits
from merp.models.base.rates import Rates
from merp.models.golden.in_memory import input_in_memory
from merp.models.golden.inference import LayerMaps, as_input, inference
from merp.models.golden.initial import Parameters
from merp.models.golden.kernel_update import gradients
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
    leaves,
    propagate,
    rates_of,
    updated,
)
from merp.models.network.branches import added, beside, previous, stored_as, takers
from merp.models.network.network import Layer, Network


class GoldenStep:
    """Each part is computed when it is first asked for: a single layer needs little of it.

    Attributes:
        parameters: kernels and biases of every layer, before the step.
        made: output maps of layers, by name, that take the golden's place in front of the next.
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
        """The step of ``network`` on ``image``, of which ``layers`` are looked at, in order.

        pooled: whether deltas lie in memory at pooled resolution, or as those of the sums.
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
        """Input and output of the layers up to the last that is looked at, by name."""
        found = {}
        for maps in inference(self._network, self._image, self.parameters):
            found[maps.layer.name] = maps
            if maps.layer.name == self._layers[-1].name:
                break
        return found

    def x(self, layer: Layer) -> Bits:
        """Input of a layer: what the one in front of it ``made``, or the golden's."""
        earlier = previous(self._network, layer)
        return as_input(self._image if earlier is None else self._output(earlier), layer)

    def add(self, layer: Layer) -> Bits | None:
        """What is added to the sums of a layer, of the same origin; None if nothing is."""
        beside = added(self._network, layer)
        return None if beside is None else self._output(beside)

    def _output(self, layer: Layer) -> Bits:
        if layer.name in self.made:
            return self.made[layer.name]
        if "_forward" in self.__dict__:  # the whole network ran: no need to do it again
            return self._kept(layer).y
        return self._maps[layer.name].y

    def y(self, layer: Layer) -> Bits:
        """Output of a layer."""
        return self._maps[layer.name].y

    @cached_property
    def _forward(self) -> tuple[list[LayerForward], Bits]:
        return forward(self._network, self._image, self.parameters, "pooled")

    def state(self, layer: Layer) -> State:
        """What forward propagation keeps of a layer for the way back."""
        return self._kept(layer).state

    def _kept(self, layer: Layer) -> LayerForward:
        return next(kept for kept in self._forward[0] if kept.layer.name == layer.name)

    def passed(self, layer: Layer) -> LayerBackward:
        """The deltas of a layer: one that is looked at, or that stands in front of one."""
        return self._passed[layer.name]

    def start(self, layer: Layer) -> Bits | None:
        """What the delta propagation of a layer starts at, if at anything."""
        return self._passed[layer.name].start

    def delta(self, layer: Layer) -> Bits:
        """Delta of the output of a layer: one that ``passed`` knows."""
        return self._passed[layer.name].delta

    def stored(self, layer: Layer) -> Stored:
        """The same as it lies in memory at pooled resolution."""
        return stored(self._network, layer, self.delta, self.state)

    def started(self, layer: Layer) -> Stored | None:
        """What the delta propagation of a layer starts at, of such deltas; if at anything."""
        return started(self._network, layer, self.delta, self.state, self.start(layer))

    @cached_property
    def _passed(self) -> dict[str, LayerBackward]:
        kept, output = self._forward
        labels = np.arange(len(self._image), dtype=np.int64) % output[0].size
        _, delta = loss("cross-entropy", output, labels, self._network.fmt)
        wanted = {layer.name for layer in self._layers}
        for layer in self._layers:
            front, start = previous(self._network, layer), beside(self._network, layer)
            wanted.add(stored_as(self._network, layer).name)
            wanted |= set() if start is None else {start.name}
            if front is not None:
                wanted |= {front.name, *(each.name for each in takers(self._network, front))}
        found: dict[str, LayerBackward] = {}
        back = propagate(self._network, kept, delta, self.parameters, pooled=self._pooled)
        for passed in back:
            if passed.layer.name in wanted:
                found[passed.layer.name] = passed
            if len(found) == len(wanted):
                break
        return found

    def left(self, layer: Layer) -> Bits:
        """What the delta propagation of a layer leaves, where deltas are stored pooled."""
        return leaves(self._network, layer, self.passed, pooled=True)

    @property
    def rates(self) -> Rates:
        """Of the update, without momentum."""
        return rates_of(self._learning_rate, self.images, self._network.fmt)

    def before(self, layer: Layer) -> Updated:
        """Kernels and biases of a layer before the step, at rest."""
        return at_rest(self.parameters[layer.name])

    def updated(self, layer: Layer) -> Updated:
        """Kernels and biases of a layer after the step."""
        fmt, storage = self._network.fmt, self._network.storage
        if layer.name not in self._updated:
            here = self.passed(layer)
            summation = self._network.summation(layer)
            found = gradients(layer, here.x, here.sums, fmt, summation)
            old = self.before(layer)
            self._updated[layer.name] = updated(old, found, self.rates, fmt, storage)
        return self._updated[layer.name]
