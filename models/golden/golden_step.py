"""The golden training step that passes of the hardware are fed from and compared with.

Its labels are arbitrary (image i is of class i), its deltas are real: those of the softmax
cross-entropy of the whole network.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from merp.models.golden.inference import LayerMaps, as_input, inference
from merp.models.golden.initial import Parameters
from merp.models.golden.kernel_update import gradients, update
from merp.models.golden.loss import loss
from merp.models.golden.state import State
from merp.models.golden.training import RATE, Kept, Passed, Rates, forward, propagate
from merp.models.network.network import Layer, Network
from merp.models.network.phases import previous
from merp.models.params.bits import Bits
from merp.models.params.summation import Summation


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
    ) -> None:
        """The step of ``network`` on ``image``, of which ``layers`` are looked at, in order."""
        self._network = network
        self._learning_rate = learning_rate
        self._layers = layers
        self._image = image
        self._updated: dict[str, tuple[Bits, Bits]] = {}
        self.parameters = parameters
        self.made: dict[str, Bits] = {}

    @property
    def images(self) -> int:
        """Images of the batch."""
        return len(self._image)

    @cached_property
    def _maps(self) -> dict[str, LayerMaps]:
        """Input and output of the layers, by name."""
        names = [layer.name for layer in self._layers]
        found = {}
        for maps in inference(self._network, self._image, self.parameters):
            if maps.layer.name in names:
                found[maps.layer.name] = maps
            if maps.layer.name == names[-1]:
                break
        return found

    def x(self, layer: Layer) -> Bits:
        """Input of a layer: what the one in front of it ``made``, or the golden's."""
        earlier = previous(self._network, layer)
        if earlier is None or earlier.name not in self.made:
            return self._maps[layer.name].x
        return as_input(self.made[earlier.name], layer)

    def y(self, layer: Layer) -> Bits:
        """Output of a layer."""
        return self._maps[layer.name].y

    @cached_property
    def _forward(self) -> tuple[list[Kept], Bits]:
        return forward(self._network, self._image, self.parameters, "pooled")

    def state(self, layer: Layer) -> State:
        """What forward propagation keeps of a layer for the way back."""
        return next(kept.state for kept in self._forward[0] if kept.layer.name == layer.name)

    def passed(self, layer: Layer) -> Passed:
        """The deltas of a layer: one that is looked at, or that stands in front of one."""
        return self._passed[layer.name]

    def delta(self, layer: Layer) -> Bits:
        """Delta of the output of a layer: one that ``passed`` knows."""
        return self._passed[layer.name].delta

    @cached_property
    def _passed(self) -> dict[str, Passed]:
        kept, output = self._forward
        labels = np.arange(len(self._image), dtype=np.int64) % output[0].size
        _, delta = loss("cross-entropy", output, labels, self._network.fmt)
        wanted = {layer.name for layer in self._layers}
        earlier = [previous(self._network, layer) for layer in self._layers]
        wanted |= {layer.name for layer in earlier if layer is not None}
        found: dict[str, Passed] = {}
        for passed in propagate(self._network, kept, delta, self.parameters):
            if passed.layer.name in wanted:
                found[passed.layer.name] = passed
            if len(found) == len(wanted):
                break
        return found

    @property
    def rates(self) -> Rates:
        """Of the update, without momentum."""
        return Rates.of(self._learning_rate, 0.0, self.images, self._network.fmt)

    def updated(self, layer: Layer, summation: Summation) -> tuple[Rates, tuple[Bits, Bits]]:
        """The rates, and the kernels and biases of a layer after the step."""
        fmt, rates = self._network.fmt, self.rates
        if layer.name not in self._updated:
            here = self.passed(layer)
            found = gradients(layer, here.x, here.sums, fmt, summation)
            kernels, biases = (
                update(w, np.zeros_like(w), g, rates.rate, rates.momentum, fmt)[0]
                for w, g in zip(self.parameters[layer.name], found, strict=True)
            )
            self._updated[layer.name] = kernels, biases
        return rates, self._updated[layer.name]
