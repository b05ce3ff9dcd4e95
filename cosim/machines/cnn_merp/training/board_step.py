"""Training steps of undivided layers on a board: the arrays stay in memory from pass to pass.

The host rings twice per step: for forward propagation, and after the loss for both backward phases.
It writes images, and the deltas of the loss. Engines read and write everything else in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from merp.cosim.board.accelerator import Accelerator, BoardOf
from merp.cosim.board.step_plan import StepPlan
from merp.cosim.machines.cnn_merp.phases.pins import stored_words
from merp.cosim.machines.cnn_merp.training.step_plan import LISTS, step_plan
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.phases.audit.audit import Audit, audit, combine
from merp.cosim.phases.audit.run_and_audit import Audited, without_cycles
from merp.cosim.training.hardware_step import Layers, StepOutcome
from merp.cosim.training.step_so_far import StepSoFar
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.base.rates import Rates, UpdateRule
from merp.models.golden.loss import Labels, loss
from merp.models.golden.training import Model, Step, train_step
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.memory.step_memory import IMAGES, StepMemory
from merp.models.network.network import Layer
from merp.testbenches.top.player import Progress


class BoardStep:
    """Training steps on a board, with all engines of a step in one accelerator.

    Args:
        layers: the layers to train.
        images: number of images of a step.
        begin: called with the name of the next list.
        progress: called with the cycles of a list and the words that it moved.
        board_of: as in ``Accelerator``.

    Attributes:
        seconds: time of all steps so far: ``building`` the hardware, ``simulating`` it.
        on_board: for the answer: rings of the host per step, and where deltas are stored.

    Raises:
        BadInput: a pass of the network cannot read its words from memory.
    """

    on_board: Mapping[str, Any] = MappingProxyType({"rings": 2, "delta_at": "sums"})

    def __init__(
        self,
        layers: Layers,
        images: int,
        begin: Callable[[str], object] | None = None,
        progress: Progress | None = None,
        board_of: BoardOf | None = None,
    ) -> None:
        if not isinstance(layers, WholeLayers):
            raise BadInput(f"{layers.network.name}: allowed in memory are undivided layers")
        StepMemory(layers.network, images)  # refuses a network before the first step
        self._layers, self._images = layers, images
        self._begin, self._progress, self._board_of = begin, progress, board_of
        self._accelerator: Accelerator | None = None
        self._rule: UpdateRule | None = None  # of the accelerator
        self._held: Model | None = None  # the parameters in memory
        self.seconds = {"building": 0.0, "simulating": 0.0}

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
        """
        layers, network = self._layers, self._layers.network
        golden = train_step(
            network, model, images, labels, rates, loss_kind, "pooled", pooled=layers.pooled
        )
        plan = step_plan(layers, self._images, rates)
        accelerator = self._built(plan, rates.rule)
        self._hold(accelerator, model)
        self._put(accelerator, network.layers[0], "map_in", IMAGES, images)
        so_far = StepSoFar(network, model, rates, images)
        forward, backward = LISTS
        audits = self._play(accelerator, plan, forward, so_far, golden)
        last = network.layers[-1]
        output = so_far.outputs[last.name]
        value, delta = loss(loss_kind, output, labels, network.fmt)
        layers.start_back(so_far, delta.reshape(output.shape))
        self._put(accelerator, last, "delta_in", f"{last.name}.deltas", so_far.delta(last))
        audits |= self._play(accelerator, plan, backward, so_far, golden)
        self._check(accelerator, so_far.after)
        return StepOutcome(so_far.after, value, audits)

    def _built(self, plan: StepPlan, rule: UpdateRule) -> Accelerator:
        """Return the accelerator for an update rule."""
        if self._accelerator is None or self._rule != rule:
            began = perf_counter()
            self._accelerator = Accelerator(plan, self._board_of)
            self._rule, self._held = rule, None
            self.seconds["building"] += perf_counter() - began
        return self._accelerator

    def _play(
        self, accelerator: Accelerator, plan: StepPlan, name: str, so_far: StepSoFar, golden: Step
    ) -> dict[tuple[str, str], Audit]:
        """Play a list, audit its passes, and store their results."""
        if self._begin is not None:
            self._begin(name)
        began = perf_counter()
        played = accelerator.play(name, plan.lists[name])
        self.seconds["simulating"] += perf_counter() - began
        if self._progress is not None:
            moves = [moved for each in played.passes for moved in each.moves.values()]
            self._progress(played.cycles, sum(moved.words for moved in moves))
        seen = zip(plan.lists[name], played.passes, strict=True)
        audits = {}
        for layer, phase in self._layers.order(LISTS[name]):
            passes = self._layers.passes(layer, phase, so_far, golden)
            found: Audited | None = None
            while True:
                try:
                    expected = passes.send(found)
                except StopIteration as ended:
                    audits[layer.name, phase] = combine(ended.value)
                    break
                each, done = next(seen)
                if expected.run.config != each.config:
                    raise CheckFailed(f"{each}: settings of the list are wrong")
                record = accelerator.record(each, done)
                found = Audited(record, audit(record, without_cycles(expected.expected)))
        return audits

    def _put(
        self, accelerator: Accelerator, layer: Layer, port: str, name: str, words: Bits
    ) -> None:
        """Write an array as a port of kernel update reads it."""
        design = design_of(self._layers.network, layer)
        accelerator.arrays.put(name, stored_words(words, "ku", port, design, name))

    def _hold(self, accelerator: Accelerator, model: Model) -> None:
        """Write the parameters of ``model``, if memory does not hold them already."""
        if self._held is not model:
            for name, words in self._parameters(model):
                accelerator.arrays.put(name, words)
        self._held = None  # until the step has ended

    def _check(self, accelerator: Accelerator, model: Model) -> None:
        """Check that memory holds the parameters of ``model``.

        Raises:
            CheckFailed: an array differs.
        """
        for name, words in self._parameters(model):
            if not np.array_equal(accelerator.arrays.get(name).reshape(-1), words):
                raise CheckFailed(f"{name}: memory does not hold the model after the step")
        self._held = model

    def _parameters(self, model: Model) -> Iterator[tuple[str, Bits]]:
        """Yield the arrays of parameters, and of velocities with momentum, as memory has them."""
        for layer in self._layers.network.layers:
            of, design = model.of(layer), design_of(self._layers.network, layer)
            kernels, biases = of.parameters
            arrays = [("kernels", "kernel", kernels), ("biases", "bias", biases)]
            if self._rule is not None and self._rule.momentum:
                kernels, biases = of.velocities
                arrays.append(("kernel_velocities", "kernel_velocity_in", kernels))
                arrays.append(("bias_velocities", "bias_velocity_in", biases))
            for array, port, words in arrays:
                name = f"{layer.name}.{array}"
                yield name, stored_words(words, "ku", port, design, name).reshape(-1)
