"""The hardware's results in a training step, which are the operands of later passes."""

from __future__ import annotations

from dataclasses import dataclass, field

from merp.models.base.bits import Bits
from merp.models.base.rates import Rates
from merp.models.golden.concatenated import split
from merp.models.golden.inference import inputs
from merp.models.golden.state import State
from merp.models.golden.stored import Stored, started, stored
from merp.models.golden.training import Model, Updated
from merp.models.network.branches import added, receiver, takers
from merp.models.network.network import Layer, Network


@dataclass(frozen=True)
class StepSoFar:
    """A training step that is being run.

    Attributes:
        network: the network.
        model: the model before the step.
        rates: rates of the update.
        images: (images, rows, columns, channels) words.
        outputs: maps by layer name, before flattening.
        states: ReLU/pooling masks of kind ``pooled``.
        deltas: deltas of the outputs of layers, or of their sums if the hardware reads those. A
            delta is a partial sum until every layer that reads the output has propagated its delta.
        new: layers after an update on the chip.
        gradients: gradients of kernels and biases that the host read back, by layer name.
    """

    network: Network
    model: Model
    rates: Rates
    images: Bits
    outputs: dict[str, Bits] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    deltas: dict[str, Bits] = field(default_factory=dict)
    new: dict[str, Updated] = field(default_factory=dict)
    gradients: dict[str, tuple[Bits, Bits]] = field(default_factory=dict)

    def before(self, layer: Layer) -> Updated:
        """Return kernels, biases and velocities of a layer before the step."""
        return self.model.of(layer)

    def inputs(self, layer: Layer) -> tuple[Bits, Bits | None]:
        """Return the input of a layer, and the words that are added to its sums, or None."""
        return inputs(self.network, layer, self.images, self.outputs)

    def x(self, layer: Layer) -> Bits:
        """Return the input of a layer."""
        return self.inputs(layer)[0]

    def state(self, layer: Layer) -> State:
        """Return the ReLU/pooling mask that forward propagation stored for a layer."""
        return self.states[layer.name]

    def delta(self, layer: Layer) -> Bits:
        """Return the delta of a layer, as the hardware reads it."""
        return self.deltas[layer.name]

    def add(self, layer: Layer) -> Bits | None:
        """Return the words that are added to the sums of a layer, or None."""
        return self.inputs(layer)[1]

    def start(self, layer: Layer) -> Bits | None:
        """Return the start of a layer's delta propagation, with the size of its input, or None."""
        front = receiver(self.network, layer)
        if front is None or front.name not in self.deltas:
            return None
        shape = layer.shape
        return self.deltas[front.name].reshape(len(self.images), shape.rows, shape.columns, -1)

    def stored(self, layer: Layer) -> Stored:
        """Return the delta of a layer's output, if the hardware stores it at pooled resolution."""
        return stored(self.network, layer, self.delta, self.state)

    def started(self, layer: Layer) -> Stored | None:
        """Return the start of a layer's delta propagation at pooled resolution, or None."""
        return started(self.network, layer, self.delta, self.state, self.start(layer))

    def hand_back(self, layer: Layer, delta: Bits) -> None:
        """Store the delta of a layer, or of the layers of a concatenation.

        It also starts the delta of the output that is added to the layer's sums. If that output is
        only added, nothing follows this start, so it is the delta of the added layer's sums, too.
        """
        self.propagated(layer, delta)
        beside = added(self.network, layer)
        if beside is not None and takers(self.network, beside):
            self.deltas[beside.name] = delta
        elif beside is not None:
            self.hand_back(beside, delta)

    def propagated(self, front: Layer, delta: Bits) -> None:
        """Store a delta that was propagated to a layer, or to the parts of a concatenation."""
        self.deltas[front.name] = delta
        for part, own in split(self.network, front, delta):
            self.deltas[part.name] = own

    @property
    def after(self) -> Model:
        """Return the next model, after every trainable layer has been updated."""
        found = {
            layer.name: self.new[layer.name] if layer.trainable else self.before(layer)
            for layer in self.network.layers
        }
        return Model(
            parameters={name: each.parameters for name, each in found.items()},
            velocities={name: each.velocities for name, each in found.items()},
        )
