"""The golden training step that simulated passes are fed from and compared with.

Its labels are arbitrary (image i is of class i), its deltas are real: those of the softmax
cross-entropy of the whole network.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from merp.models.arithmetic.compiled import Bits
from merp.models.golden.inference import LayerMaps, inference
from merp.models.golden.initial import Parameters
from merp.models.golden.loss import loss
from merp.models.golden.state import State
from merp.models.golden.training import Kept, Passed, forward, propagate
from merp.models.network.network import Layer
from merp.models.network.phases import previous
from merp.tools.simulate.choice import Choice


class GoldenStep:
    """Each part is computed when it is first asked for: a single layer needs little of it."""

    def __init__(self, choice: Choice, image: Bits, parameters: Parameters) -> None:
        self._choice = choice
        self._image = image
        self.parameters = parameters

    @cached_property
    def maps(self) -> dict[str, LayerMaps]:
        """Input and output of the chosen layers, by name."""
        names = [layer.name for layer in self._choice.layers]
        found = {}
        for maps in inference(self._choice.network, self._image, self.parameters):
            if maps.layer.name in names:
                found[maps.layer.name] = maps
            if maps.layer.name == names[-1]:
                break
        return found

    @cached_property
    def _forward(self) -> tuple[list[Kept], Bits]:
        return forward(self._choice.network, self._image, self.parameters, "pooled")

    def state(self, layer: Layer) -> State:
        """What forward propagation keeps of a layer for the way back."""
        return next(kept.state for kept in self._forward[0] if kept.layer.name == layer.name)

    @cached_property
    def passed(self) -> dict[str, Passed]:
        """The deltas of the chosen layers, and of the one in front of the first, by name."""
        network, layers = self._choice.network, self._choice.layers
        kept, output = self._forward
        labels = np.arange(len(self._image), dtype=np.int64) % output[0].size
        _, delta = loss("cross-entropy", output, labels, network.fmt)
        wanted = {layer.name for layer in layers}
        earlier = [previous(network, layer) for layer in layers]
        wanted |= {layer.name for layer in earlier if layer is not None}
        found: dict[str, Passed] = {}
        for passed in propagate(network, kept, delta, self.parameters):
            if passed.layer.name in wanted:
                found[passed.layer.name] = passed
            if len(found) == len(wanted):
                break
        return found
