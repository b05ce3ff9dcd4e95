"""What the hardware has made so far in a training step: it goes into the next passes."""

from __future__ import annotations

from dataclasses import dataclass, field

from merp.models.base.bits import Bits
from merp.models.base.rates import Rates
from merp.models.golden.inference import inputs
from merp.models.golden.state import State
from merp.models.golden.stored import Stored, started, stored
from merp.models.golden.training import Model, Updated
from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network


@dataclass(frozen=True)
class StepSoFar:
    """A training step that is being run.

    Attributes:
        network: that is trained. model: before the step. rates: of the update.
        images: (images, rows, columns, channels) words.
        outputs: maps by layer name, not yet flattened. states: of kind ``pooled``.
        deltas: of the output of layers, or of their sums where the hardware takes those; until
            every layer that takes an output has propagated its own, what there is of it.
        new: layers after their update.
    """

    network: Network
    model: Model
    rates: Rates
    images: Bits
    outputs: dict[str, Bits] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    deltas: dict[str, Bits] = field(default_factory=dict)
    new: dict[str, Updated] = field(default_factory=dict)

    def before(self, layer: Layer) -> Updated:
        """Kernels, biases and velocities of a layer before the step."""
        return self.model.of(layer)

    def inputs(self, layer: Layer) -> tuple[Bits, Bits | None]:
        """Input of a layer, and what is added to its sums, if anything is."""
        return inputs(self.network, layer, self.images, self.outputs)

    def x(self, layer: Layer) -> Bits:
        """Input of a layer."""
        return self.inputs(layer)[0]

    def state(self, layer: Layer) -> State:
        """What forward propagation kept of a layer."""
        return self.states[layer.name]

    def delta(self, layer: Layer) -> Bits:
        """Delta of a layer, as the hardware takes it."""
        return self.deltas[layer.name]

    def add(self, layer: Layer) -> Bits | None:
        """What is added to the sums of a layer, if anything is."""
        return self.inputs(layer)[1]

    def start(self, layer: Layer) -> Bits | None:
        """What delta propagation of a layer starts at, if at anything: as its input."""
        front = previous(self.network, layer)
        if front is None or front.name not in self.deltas:
            return None
        shape = layer.shape
        return self.deltas[front.name].reshape(len(self.images), shape.rows, shape.columns, -1)

    def stored(self, layer: Layer) -> Stored:
        """Delta of the output of a layer, where the hardware leaves it at pooled resolution."""
        return stored(self.network, layer, self.delta, self.state)

    def started(self, layer: Layer) -> Stored | None:
        """What delta propagation of a layer starts at, of such deltas; if at anything."""
        return started(self.network, layer, self.delta, self.state, self.start(layer))

    def hand_back(self, layer: Layer, delta: Bits) -> None:
        """Keep the delta of a layer, and begin with that of what it adds to its sums."""
        self.deltas[layer.name] = delta
        if layer.add is not None:
            self.deltas[layer.add] = delta

    @property
    def after(self) -> Model:
        """The next model, once every layer is updated."""
        names = [layer.name for layer in self.network.layers]
        return Model(
            parameters={name: self.new[name].parameters for name in names},
            velocities={name: self.new[name].velocities for name in names},
        )
