"""Training steps of undivided layers on a board: the arrays stay in memory from pass to pass.

The host rings twice per step: for forward propagation, and after the loss for both backward phases.
It writes images, and the deltas of the loss. Engines read and write everything else in place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from merp.cosim.board.accelerator import Accelerator, BoardOf, record_of
from merp.cosim.board.lists import BoardPass
from merp.cosim.board.play import Played, PlayedPass
from merp.cosim.board.system import BoardEngine
from merp.cosim.machines.cnn_merp.phases.kernel_update import KernelUpdate
from merp.cosim.machines.cnn_merp.phases.pins import stored_words
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.phases.audit.audit import Audit, audit, combine
from merp.cosim.phases.audit.run_and_audit import Audited, without_cycles
from merp.cosim.phases.expectation import GroupPass
from merp.cosim.training.hardware_step import Layers, StepOutcome
from merp.cosim.training.step_so_far import StepSoFar
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.base.rates import Rates, UpdateRule
from merp.models.golden.loss import Labels, loss
from merp.models.golden.training import Model, Step, train_step
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.memory.step_memory import IMAGES, StepMemory, StepPass
from merp.models.machines.cnn_merp.params.kernel_update_registers import kernel_update_registers
from merp.models.network.network import Layer
from merp.testbenches.top.player import Progress
from merp.testbenches.top.top import Top

FORTH, BACK = ("fp",), ("dp", "ku")
"""The phases of the two lists of a step."""


class BoardStep:
    """Training steps on a simulated board, with all engines of a step in one accelerator.

    Args:
        layers: the layers to train.
        images: number of images of a step.
        begin: called with the phases of the next list.
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
        self._hardware: _StepHardware | None = None
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
        hardware = self._built(rates.rule)
        hardware.hold(model)
        hardware.put_images(images)
        so_far = StepSoFar(network, model, rates, images)
        last = network.layers[-1]
        audits = self._play(hardware, FORTH, so_far, golden)
        output = so_far.outputs[last.name]
        value, delta = loss(loss_kind, output, labels, network.fmt)
        layers.start_back(so_far, delta.reshape(output.shape))
        hardware.put_delta(last, so_far.delta(last))
        audits |= self._play(hardware, BACK, so_far, golden)
        hardware.check(so_far.after)
        return StepOutcome(so_far.after, value, audits)

    def _built(self, rule: UpdateRule) -> _StepHardware:
        """Return the hardware for an update rule."""
        if self._hardware is None or self._hardware.rule != rule:
            began = perf_counter()
            self._hardware = _StepHardware(self._layers, self._images, rule, self._board_of)
            self.seconds["building"] += perf_counter() - began
        return self._hardware

    def _play(
        self, hardware: _StepHardware, phases: Collection[str], so_far: StepSoFar, golden: Step
    ) -> dict[tuple[str, str], Audit]:
        """Play the list of some phases, audit its passes, and store their results."""
        if self._begin is not None:
            self._begin(", ".join(phases))
        began = perf_counter()
        played = hardware.play(phases, so_far.rates)
        self.seconds["simulating"] += perf_counter() - began
        if self._progress is not None:
            moves = [moved for each in played.passes for moved in each.moves.values()]
            self._progress(played.cycles, sum(moved.words for moved in moves))
        seen = zip(hardware.memory.of(phases), played.passes, strict=True)
        audits = {}
        for layer, phase in self._layers.order(phases):
            passes = self._layers.passes(layer, phase, so_far, golden)
            found: Audited | None = None
            while True:
                try:
                    expected = passes.send(found)
                except StopIteration as ended:
                    audits[layer.name, phase] = combine(ended.value)
                    break
                found = hardware.audited(*next(seen), expected, so_far.rates)
        return audits


class _StepHardware:
    """An accelerator with the engines and the arrays of a step.

    Attributes:
        rule: the update rule that it has.
        memory: its arrays and passes.
    """

    def __init__(
        self, layers: WholeLayers, images: int, rule: UpdateRule, board_of: BoardOf | None
    ) -> None:
        self.rule, self._layers = rule, layers
        self.memory = StepMemory(layers.network, images, rule.momentum)
        self._names: dict[tuple[str | None, str], str] = {}  # of engines, by design and phase
        self._accelerator = Accelerator(self._tops(), self.memory.arrays.values(), board_of)
        self._held: Model | None = None  # the parameters in memory

    def _tops(self) -> dict[str, Top]:
        """Return a top for each design and phase, by the name of its engine."""
        tops: dict[str, Top] = {}
        for layer, phase, _, _ in self.memory.passes:
            key = layer.design, phase
            if key not in self._names:
                number = sum(other == phase for _, other in self._names)
                self._names[key] = f"{phase}{number}"
                tops[self._names[key]] = self._layers.top(layer, phase, "rtl", rule=self.rule)
        return tops

    def hold(self, model: Model) -> None:
        """Write the parameters of ``model``, if memory does not hold them already."""
        if self._held is not model:
            for name, words in self._parameters(model):
                self._accelerator.arrays.put(name, words)
        self._held = None  # until the step has ended

    def put_images(self, images: Bits) -> None:
        """Write the images of a step."""
        design = design_of(self._layers.network, self._layers.network.layers[0])
        words = stored_words(images, "fp", "map_in", design, IMAGES)
        self._accelerator.arrays.put(IMAGES, words)

    def put_delta(self, last: Layer, delta: Bits) -> None:
        """Write the delta of the last layer's sums."""
        design, name = design_of(self._layers.network, last), f"{last.name}.deltas"
        words = stored_words(delta, "ku", "delta_in", design, name)
        self._accelerator.arrays.put(name, words)

    def check(self, model: Model) -> None:
        """Check that memory holds the parameters of ``model``.

        Raises:
            CheckFailed: an array differs.
        """
        for name, words in self._parameters(model):
            if not np.array_equal(self._accelerator.arrays.get(name), words):
                raise CheckFailed(f"{name}: memory does not hold the model after the step")
        self._held = model

    def _parameters(self, model: Model) -> Iterator[tuple[str, Bits]]:
        """Yield the arrays of parameters, and of velocities with momentum, as memory has them."""
        for layer in self._layers.network.layers:
            of, design = model.of(layer), design_of(self._layers.network, layer)
            arrays = {"kernels": of.parameters[0], "biases": of.parameters[1]}
            ports = {"kernels": "kernel", "biases": "bias"}
            if self.rule.momentum:
                arrays |= {"kernel_velocities": of.velocities[0]}
                arrays |= {"bias_velocities": of.velocities[1]}
                ports |= {"kernel_velocities": "kernel_velocity_in"}
                ports |= {"bias_velocities": "bias_velocity_in"}
            for array, words in arrays.items():
                name = f"{layer.name}.{array}"
                size = self.memory.arrays[name].shape
                yield name, stored_words(words, "ku", ports[array], design, name).reshape(size)

    def play(self, phases: Collection[str], rates: Rates) -> Played:
        """Play the list of some phases."""
        passes = [self._pass(each, rates) for each in self.memory.of(phases)]
        return self._accelerator.play(" ".join(phases), passes)

    def _engine(self, each: StepPass) -> BoardEngine:
        return self._accelerator.engines[self._names[each.layer.design, each.phase]]

    def _streams(self, each: StepPass) -> dict[str, str]:
        """Return the stream of each port that moves words in a pass."""
        streams = self._layers.phase(each.layer, each.phase, self.rule).streams
        return {port: streams[port] for port in each.parts}

    def _config(self, each: StepPass, rates: Rates) -> dict[str, int]:
        """Return the settings of a pass."""
        phase, images = self._layers.phase(each.layer, each.phase, self.rule), self.memory.images
        if isinstance(phase, KernelUpdate):
            return kernel_update_registers(each.layer.shape, images, phase.design, rates)
        return phase.registers(each.layer, images)

    def _pass(self, each: StepPass, rates: Rates) -> BoardPass:
        engine, arrays = self._engine(each), self._accelerator.arrays
        moves = {
            stream: arrays.moved(engine, stream, *each.parts[port])
            for port, stream in self._streams(each).items()
        }
        return BoardPass(engine, self._config(each, rates), moves)

    def audited(
        self, each: StepPass, played: PlayedPass, expected: GroupPass, rates: Rates
    ) -> Audited:
        """Compare a pass with its expectation: words in memory, and counts on the pins.

        Raises:
            CheckFailed: the list had other settings than the expectation.
        """
        if expected.run.config != self._config(each, rates):
            raise CheckFailed(f"{each.layer.name} {each.phase}: settings of the list are wrong")
        engine = self._engine(each)
        words: dict[str, Bits] = {pin.name: np.zeros(0, np.uint32) for pin in engine.ports.outputs}
        for port, stream in self._streams(each).items():
            if stream in words:
                words[stream] = self._accelerator.arrays.part(*each.parts[port])
        record = record_of(engine, played, words)
        return Audited(record, audit(record, without_cycles(expected.expected)))
