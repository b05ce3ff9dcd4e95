"""Training steps of undivided layers on a board: the arrays stay in memory from pass to pass.

The host rings twice per step: for forward propagation, and after the loss for both backward phases.
It writes images, and the deltas of the loss. Engines read and write everything else in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from merp.cosim.board.driver import Device
from merp.cosim.board.step_plan import StepPlan
from merp.cosim.machines.cnn_merp.phases.pins import stored_words
from merp.cosim.machines.cnn_merp.training.step_plan import LISTS, step_plan, usual_rates
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.training.board_run import BoardRun, StoredArray
from merp.cosim.machines.training.hardware_step import Layers, StepOutcome
from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.cosim.phases.audit.audit import Audit, combine
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.rates import Rates, UpdateRule
from merp.models.golden.loss import Labels, loss
from merp.models.golden.training import Model, Step, train_step
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.memory.step_memory import IMAGES
from merp.models.network.network import Layer
from merp.testbenches.top.player import Progress


class BoardStep:
    """Training steps on a board, with all engines of a step in one accelerator.

    Args:
        layers: the layers to train.
        images: number of images of a step.
        rule: the update rule, which determines the hardware.
        begin, progress, device: as in ``BoardRun``.

    Attributes:
        seconds: time of all steps so far: ``building`` the hardware, ``simulating`` it.
        on_board: for the answer: rings of the host per step, and where deltas are stored.
        bus: traffic on the memory bus in all steps so far, by list.

    Raises:
        BadInput: a pass of the network cannot read its words from memory.
    """

    def __init__(
        self,
        layers: Layers,
        images: int,
        rule: UpdateRule,
        begin: Callable[[str], object] | None = None,
        progress: Progress | None = None,
        device: Device | None = None,
    ) -> None:
        if not isinstance(layers, WholeLayers):
            raise BadInput(f"{layers.network.name}: allowed in memory are undivided layers")
        self._layers, self._images, self._rule = layers, images, rule
        plan = step_plan(layers, images, usual_rates(rule, images, layers.network.fmt))
        self._run = BoardRun(plan, begin, progress, device)
        self.seconds, self.bus = self._run.seconds, self._run.bus
        self.on_board: Mapping[str, Any] = {"rings": self._run.rings, "delta_at": "sums"}

    def step(
        self,
        model: Model,
        images: Bits,
        labels: Labels,
        rates: Rates,
        loss_kind: str = "cross-entropy",
    ) -> StepOutcome:
        """Run one step on a batch, and compare every word with the golden step.

        The arguments are those of ``HardwareStep.step``.

        Raises:
            CheckFailed: a bit, a count or a setting was wrong, or a list failed.
            ValueError: the rates need another update rule.
        """
        if rates.rule != self._rule:
            raise ValueError(f"rates must be those of {self._rule}, not of {rates.rule}")
        layers, network = self._layers, self._layers.network
        golden = train_step(
            network, model, images, labels, rates, loss_kind, "pooled", pooled=layers.pooled
        )
        plan = step_plan(layers, self._images, rates)
        self._run.hold(model, self._parameters(model))
        self._put(network.layers[0], "map_in", IMAGES, images)
        so_far = StepSoFar(network, model, rates, images)
        forward, backward = LISTS
        audits = self._play(plan, forward, so_far, golden)
        last = network.layers[-1]
        output = so_far.outputs[last.name]
        value, delta = loss(loss_kind, output, labels, network.fmt)
        layers.start_back(so_far, delta.reshape(output.shape))
        self._put(last, "delta_in", f"{last.name}.deltas", so_far.delta(last))
        audits |= self._play(plan, backward, so_far, golden)
        after = so_far.after
        self._run.check_held(after, self._parameters(after))
        return StepOutcome(after, value, audits, right=golden.right)

    def _play(
        self, plan: StepPlan, name: str, so_far: StepSoFar, golden: Step
    ) -> dict[tuple[str, str], Audit]:
        """Play a list, audit its passes, and store their results."""
        played = self._run.play(plan, name)
        audits = {}
        for layer, phase in self._layers.order(LISTS[name]):
            found = played.audit(self._layers.passes(layer, phase, so_far, golden))
            audits[layer.name, phase] = combine(found)
        played.end()
        return audits

    def _put(self, layer: Layer, port: str, name: str, words: Bits) -> None:
        """Write an array as a port of kernel update reads it."""
        design = design_of(self._layers.network, layer)
        self._run.put(name, stored_words(words, "ku", port, design, name))

    def _parameters(self, model: Model) -> Iterator[StoredArray]:
        """Yield the arrays of parameters as memory has them; with momentum, those of velocities."""
        for layer in self._layers.network.layers:
            of, design = model.of(layer), design_of(self._layers.network, layer)
            kernels, biases = of.parameters
            arrays = [("kernels", "kernel", kernels), ("biases", "bias", biases)]
            if self._rule.momentum and layer.trainable:
                kernels, biases = of.velocities
                arrays.append(("kernel_velocities", "kernel_velocity_in", kernels))
                arrays.append(("bias_velocities", "bias_velocity_in", biases))
            for array, port, words in arrays:
                name = f"{layer.name}.{array}"
                yield StoredArray(name, stored_words(words, "ku", port, design, name))
