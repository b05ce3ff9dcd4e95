"""Training in floating point: the golden model, or the hardware itself, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from merp.cosim.machines.in_phases import InPhases
from merp.cosim.machines.training.hardware_step import HardwareStep, StepOutcome
from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.given import given, mention, name_of
from merp.models.base.rates import PLAIN, Rates
from merp.models.base.storage import Tensor
from merp.models.golden import training
from merp.models.golden.accumulated import AccumulatedStep, accumulated_step, run_minibatches
from merp.models.golden.initial import Parameters, parameters
from merp.models.golden.loss import Labels
from merp.models.golden.training import (
    Model,
    NoSuchFactor,
    initial_model,
    outputs,
    rates_of,
)
from merp.models.memory.bus_record import BusRecord
from merp.models.network.network import Network
from merp.models.network.phases import PHASES, phases_counted, phases_on
from merp.models.network.registry import machine_that_runs
from merp.models.traffic.bytes import bytes_of
from merp.models.traffic.closed_form import phase_bytes
from merp.models.traffic.count import Count
from merp.tools.common.finite_words import finite_words
from merp.tools.common.given_numbers import given_numbers, refuse_rounded
from merp.tools.common.kernel_file import every_pair, kernel_words, with_weights
from merp.tools.common.progress import Progress
from merp.tools.common.storable import check_storable
from merp.tools.train.bus import add_passes, bus_answer
from merp.tools.train.course import Course
from merp.tools.train.in_passes import InPasses
from merp.tools.train.place import Place

Step = Callable[[Model, Bits, Labels, Rates], StepOutcome]
"""From a model, images and labels to the result of a step. The golden engine has no audits."""


@dataclass(frozen=True)
class FloatRunner:
    """Steps of a course.

    Attributes:
        batch: images of a minibatch.
        run: runs a step.
        on_board: facts of a board, for the answer.
        bus: traffic on the memory bus in the steps so far, by list.
    """

    course: Course
    batch: int
    run: Step
    on_board: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    bus: dict[str, BusRecord] = field(default_factory=dict, kw_only=True)

    def check(self, epoch: int) -> None:
        """Refuse rates of an epoch that the format cannot represent."""
        self._rates(epoch)

    def step(self, model: Model, images: Bits, labels: Labels, place: Place) -> StepOutcome:
        """Run one step."""
        found = self.run(model, images, labels, self._rates(place.epoch))
        add_passes(self.bus, found.audits)
        return found

    def answer(self) -> dict[str, Any]:
        """Return the facts of a board, if one ran the steps."""
        return {**self.on_board, **bus_answer(self.bus)}

    def _rates(self, epoch: int) -> Rates:
        """Return the rates in the registers in an epoch.

        Raises:
            BadInput: the format cannot represent the rate, momentum or weight decay.
        """
        course = self.course
        try:
            return rates_of(
                course.rate(epoch),
                (course.accumulate or 1) * self.batch,
                course.network.fmt,
                momentum=course.momentum,
                weight_decay=course.weight_decay,
            )
        except NoSuchFactor as error:
            asked = given(error.name, getattr(course, error.name))
            said = course.rate_as_given(epoch) if error.name == "learning_rate" else asked
            raise BadInput(f"{said}: {error}") from error


@dataclass(frozen=True)
class FloatArithmetic:
    """Arithmetic of a floating-point network."""

    network: Network

    @property
    def identity(self) -> tuple[object, ...]:
        """The properties on which results depend: only a design's summation.

        A step may run on more units or in other passes.
        """
        network = self.network
        layers = [
            (replace(layer, design=None), network.summation(layer)) for layer in network.layers
        ]
        return network.input, network.fmt, layers

    def check(self, course: Course) -> None:
        """Refuse a network with a phase that the machine lacks, and an unsupported step.

        Raises:
            BadInput: names the phase or the option.
        """
        self.check_boards(course)
        if course.engine != "golden" and course.rule != PLAIN:
            raise BadInput(
                f"{mention('engine', course.engine)}: {self.network.name} runs on "
                f"{machine_that_runs(self.network).name}: allowed with "
                f"{mention('momentum', 0)} and {mention('weight_decay', 0)}"
            )

    def check_boards(self, course: Course) -> None:
        """Refuse a network with a phase that the machine lacks, and a board.

        Raises:
            BadInput: names the phase or the option.
        """
        check_trained(self.network)
        if course.target is not None:
            machine = machine_that_runs(self.network).name
            raise BadInput(f"{name_of('board')}: {self.network.name} runs on {machine}: omit it")

    def image_words(self, where: str, images: NDArray[Any]) -> Bits:
        """Return images as words in their stored format."""
        words = finite_words(where, given_numbers(where, images), self.network.fmt)
        refuse_rounded(where, images, to_values(words, self.network.fmt))
        check_storable(where, words, self.network.fmt, self.network.stored_input)
        return words

    def numbers(self, layer: str, tensor: str, words: Bits) -> Values:
        """Return the values of words, with the same format in all layers."""
        return to_values(words, self.network.fmt)

    def words(self, where: str, layer: str, tensor: str, numbers: Values) -> Bits:
        """Return the words of numbers in the stored format of the tensor."""
        network = self.network
        stored = network.stored(cast(Tensor, tensor))
        found = to_values(to_bits(numbers, stored), stored)
        differing = np.argwhere(~(np.isfinite(numbers) & (found == numbers)))
        if differing.size:
            place = tuple(int(index) for index in differing[0])
            said = "the network's format" if stored == network.fmt else f"the storage of {tensor}"
            raise BadInput(
                f"{where}[{', '.join(map(str, place))}] = {numbers[place]}: allowed are finite "
                f"numbers of {said}"
            )
        return to_bits(numbers, network.fmt)

    def initial(self, seed: int, weights: Path | None) -> Model:
        """Return initial kernels and biases, with zero velocities."""
        network = self.network if weights is None else with_weights(self.network, weights, seed)
        return initial_model(network, seed)

    def model(self, parameters: Mapping[str, Any], velocities: Mapping[str, Any]) -> Model:
        """Return a model from pairs of kernels and biases, and their velocities, by layer."""
        return Model(parameters=parameters, velocities=velocities)

    def runner(
        self, course: Course, plan: InPasses | None, batch: int, progress: Progress
    ) -> FloatRunner:
        """Return the runner of a course's steps."""
        golden = course.engine == "golden"
        run = golden_step(course, progress) if golden else self._hardware(course, progress)
        return FloatRunner(course, batch, run)

    def _hardware(self, course: Course, progress: Progress) -> Step:
        return hardware_step(
            HardwareStep(InPhases(course.network), course.engine, progress.begin, progress.update),
            course,
            progress,
        )

    def parameters(self, weights: Path | None) -> Parameters:
        """Return the kernels and biases of a file, else the network's own, as in memory."""
        words = {} if weights is None else kernel_words(weights, self.network)
        pairs = every_pair(weights, words, self.network)
        return parameters(replace(self.network, weights=pairs), 0)

    def outputs(self, images: Bits, parameters: Parameters) -> Bits:
        """Return the outputs of the golden model: (images, outputs)."""
        return outputs(self.network, images, parameters)

    def output_numbers(self, words: Bits) -> Values:
        """Return the numbers of outputs, in the network's format."""
        return to_values(words, self.network.fmt)

    def step_bytes(self, batch: int, count: str, state: str) -> Mapping[str, int]:
        """Return the bytes of a step by the machine's formulas."""
        counted = Count() if count == "maps" else Count(name=count, state=state)
        layers = bytes_of(self.network).layers(self.network, batch, counted)
        return phase_bytes(layers, phases_counted(self.network))


def golden_step(course: Course, progress: Progress) -> Step:
    """Return the golden model's step."""
    count = course.accumulate or 1

    def golden(model: Model, images: Bits, labels: Labels, rates: Rates) -> StepOutcome:
        step: training.Step | AccumulatedStep
        with progress.spent.on("golden"):
            if count > 1:
                found = run_minibatches(
                    course.network, model, images, labels, count, course.loss, course.state,
                    pooled=course.pooled,
                )  # fmt: skip
                step = accumulated_step(course.network, model, found, rates)
            else:
                step = training.train_step(
                    course.network, model, images, labels, rates, course.loss, course.state,
                    pooled=course.pooled,
                )  # fmt: skip
        return StepOutcome(step.model, step.loss, {}, right=step.right)

    return golden


class _Hardware(Protocol):
    """Hardware that runs steps."""

    seconds: dict[str, float]

    def step(
        self, model: Model, images: Bits, labels: Labels, rates: Rates, loss_kind: str
    ) -> StepOutcome:
        """Run one step."""


def hardware_step(hardware: _Hardware, course: Course, progress: Progress) -> Step:
    """Return the hardware's step. Its time is separate from the time of golden model and audit."""
    spent = progress.spent

    def simulated(model: Model, images: Bits, labels: Labels, rates: Rates) -> StepOutcome:
        before = dict(hardware.seconds)
        with spent.on("golden and audit"):
            found = hardware.step(model, images, labels, rates, course.loss)
        for what, seconds in hardware.seconds.items():
            spent.recount("golden and audit", what, seconds - before[what])
        return found

    return simulated


def check_trained(network: Network) -> None:
    """Check that the machine has all phases of a network's training step.

    Raises:
        BadInput: a phase is missing; the message names the layer.
    """
    for layer in network.layers:
        done = {part for phase in phases_on(network, layer).values() for part in phase.does}
        for name, phase in PHASES.items():
            if phase.has(network, layer) and name not in done:
                raise BadInput(
                    f"{network.name}: {layer.name}: {machine_that_runs(network).name} has no "
                    f"{phase.title}: allowed are networks that need none"
                )
