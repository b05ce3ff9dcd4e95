"""Training in fixed point, on the MAC array: the golden model, or the hardware."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from merp.cosim.machines.mac_array.phases.built import check_array
from merp.cosim.machines.mac_array.training import ArrayStepped, ArrayTraining
from merp.cosim.machines.training.hardware_step import check
from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.fixed import LEAST, MOST, Words, to_numbers, to_words
from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.golden.loss import Labels
from merp.models.machines.mac_array.fixed_training import (
    Clipped,
    FixedModel,
    FixedRates,
    FixedStep,
    Pairs,
    initial_model,
    outputs,
    train_step,
)
from merp.models.machines.mac_array.fixed_update import Pair
from merp.models.machines.mac_array.params.rates import MOST_SHIFT, nearest_rate, rate_of
from merp.models.machines.mac_array.passes import design_of
from merp.models.machines.mac_array.step_traffic import array_traffic
from merp.models.memory.bus_record import BusRecord
from merp.models.network.network import Network
from merp.models.network.phases import PHASES
from merp.models.traffic.closed_form import phase_bytes
from merp.models.traffic.count import Count
from merp.tools.common.given_numbers import given_numbers, refuse_first
from merp.tools.common.kernel_file import every_pair
from merp.tools.common.progress import Progress
from merp.tools.machines.mac_array.given_weights import given_model, given_words
from merp.tools.train.bus import add_passes, bus_answer
from merp.tools.train.course import Course
from merp.tools.train.in_passes import InPasses
from merp.tools.train.names import ring_per_pass
from merp.tools.train.place import Place

_FRACTIONS = {"kernels": "kernel", "gradients": "velocity"}


NONE = Clipped(0, 0)


class FixedStepped(NamedTuple):
    """Result of a step. The golden engine has no audits. ``saturated`` is a share of all words."""

    model: FixedModel
    loss: float
    audits: Mapping[tuple[str, str], Any]
    right: int
    saturated: float
    whole: None = None


class _Hardware(Protocol):
    """Hardware that runs steps."""

    seconds: dict[str, float]

    def step(
        self, model: FixedModel, images: Words, labels: Labels, rates: FixedRates, loss_kind: str
    ) -> ArrayStepped:
        """Run one step."""


@dataclass(frozen=True)
class FixedRunner:
    """Steps of a course, and their saturated words.

    Attributes:
        hardware: the hardware that runs the steps; None: only the golden model.
        on_board: facts of a board, for the answer.
        bus: traffic on the memory bus in the steps so far, by list.
    """

    course: Course
    batch: int
    progress: Progress
    hardware: _Hardware | None = None
    on_board: Mapping[str, Any] = field(default_factory=dict)
    bus: dict[str, BusRecord] = field(default_factory=dict)
    saturated: dict[tuple[str, str], Clipped] = field(default_factory=dict)
    vanished: dict[str, Clipped] = field(default_factory=dict)

    def check(self, epoch: int) -> None:
        """Refuse a learning rate for which a layer's fractions allow no shift."""
        # A rate that has decayed to 0 is refused like the tiny rates before it, which have no
        # shift.
        rate = max(self.course.rate(epoch) / self.batch, sys.float_info.min)
        for layer in self.course.network.layers:
            numbers = self.course.network.fixed.of(layer.name)
            fractions = numbers.velocity, numbers.kernel
            if not 0 <= rate_of(rate).update_shift(*fractions) <= MOST_SHIFT:
                nearest = nearest_rate(rate, *fractions) * self.batch
                said = self.course.rate_as_given(epoch)
                raise BadInput(
                    f"{said}: over a batch of {self.batch} layer {layer.name} has no such rate: "
                    f"the nearest allowed is {nearest!r}"
                )

    def step(self, model: FixedModel, images: Words, labels: Labels, place: Place) -> FixedStepped:
        """Run one step."""
        rates = FixedRates(
            rate=self.course.rate(place.epoch) / self.batch,
            momentum=self.course.momentum,
            seed=place.seed,
            step=place.step,
        )
        network = self.course.network
        with self.progress.spent.on("golden"):
            done = train_step(network, model, images, labels, rates, self.course.loss)
        for layer, tensors in done.clipping.items():
            for tensor, found in tensors.items():
                so_far = self.saturated.get((layer, tensor), NONE)
                self.saturated[layer, tensor] = so_far.plus(found)
            so_far = self.vanished.get(layer, NONE)
            self.vanished[layer] = so_far.plus(done.vanished[layer])
        share = _share(done)
        if self.hardware is None:
            return FixedStepped(done.model, done.loss, {}, done.right, share)
        ran = self._simulated(self.hardware, done, model, images, labels, rates)
        return FixedStepped(ran.model, ran.loss, ran.audits, done.right, share)

    def _simulated(
        self,
        hardware: _Hardware,
        golden: FixedStep,
        model: FixedModel,
        images: Words,
        labels: Labels,
        rates: FixedRates,
    ) -> ArrayStepped:
        """Run the step in the hardware, image by image.

        Raises:
            CheckFailed: its bits differ from those of the golden model.
        """
        before, spent = dict(hardware.seconds), self.progress.spent
        with spent.on("golden and audit"):
            found = hardware.step(model, images, labels, rates, self.course.loss)
        for what, seconds in hardware.seconds.items():
            spent.recount("golden and audit", what, seconds - before[what])
        for layer, theirs in golden.model.parameters.items():
            pairs = (found.model.parameters[layer], theirs), (
                found.model.velocities[layer], golden.model.velocities[layer])  # fmt: skip
            equal = all(np.array_equal(a, b) for pair in pairs for a, b in zip(*pair, strict=True))
            check(layer, [] if equal else ["kernels: different from the golden step"])
        check("loss", [] if found.loss == golden.loss else ["different from the golden step"])
        add_passes(self.bus, found.audits)
        return found

    def answer(self) -> dict[str, Any]:
        """Return the saturated words of the steps, and the share of increments rounded to 0."""
        rows: dict[str, dict[str, Any]] = {}
        for (layer, tensor), found in self.saturated.items():
            rows.setdefault(layer, {})[tensor] = {"words": found.clipped, "share": found.share}
        for layer, found in self.vanished.items():
            rows[layer]["zero_increments"] = found.share
        rounding = self.course.network.fixed.rounding
        facts = {**self.on_board, **bus_answer(self.bus)}
        return {"rounding": rounding, "saturated": rows, **facts}


@dataclass(frozen=True)
class FixedArithmetic:
    """Arithmetic of a fixed-point network."""

    network: Network

    @property
    def identity(self) -> tuple[object, ...]:
        """The properties that affect results: random bits follow the array's order of kernels."""
        network = self.network
        arrays = [
            design_of(network, layer).unrolled if network.fixed.stochastic else None
            for layer in network.layers
        ]
        layers = [replace(layer, design=None) for layer in network.layers]
        return network.input, network.fixed, layers, arrays

    def check(self, course: Course) -> None:
        """Refuse options that the array does not support.

        Raises:
            BadInput: weights, weight decay, or a layer without a design or without support by the
                array.
        """
        where = f"{self.network.name} is in fixed point"
        for layer in self.network.layers:
            design_of(self.network, layer)
        if course.engine != "golden":
            check_array(self.network)
        if course.weight_decay:
            raise BadInput(f"{given('weight_decay', course.weight_decay)}: {where}: allowed is 0")

    def image_words(self, where: str, images: NDArray[Any]) -> Words:
        """Return images as words; too large numbers are refused, not clipped."""
        return _nearest(where, given_numbers(where, images), self.network.fixed.input)

    def _fraction(self, layer: str, tensor: str) -> int:
        found: int = getattr(self.network.fixed.of(layer), _FRACTIONS[tensor])
        return found

    def numbers(self, layer: str, tensor: str, words: Words) -> Values:
        """Return the values of words, by the layer's fractions."""
        return to_numbers(words, self._fraction(layer, tensor))

    def words(self, where: str, layer: str, tensor: str, numbers: Values) -> Words:
        """Return the words of numbers, exactly."""
        fraction = self._fraction(layer, tensor)
        found = to_words(np.where(np.isfinite(numbers), numbers, 0), fraction).words
        differing = np.argwhere(to_numbers(found, fraction) != numbers)
        if differing.size:
            place = tuple(int(index) for index in differing[0])
            raise BadInput(
                f"{where}[{', '.join(map(str, place))}] = {numbers[place]}: allowed are numbers of "
                f"16 bits, {fraction} of them of the fraction"
            )
        return found

    def initial(self, seed: int, weights: Path | None) -> FixedModel:
        """Return kernels and biases of a file, or from the seed, with zero velocities."""
        if weights is None:
            return initial_model(self.network, seed)
        return given_model(self.network, seed, weights)

    def model(self, parameters: Mapping[str, Any], velocities: Mapping[str, Any]) -> FixedModel:
        """Return a model from pairs of kernels and biases, and their velocities, by layer."""
        return FixedModel(
            parameters={layer: Pair(*pair) for layer, pair in parameters.items()},
            velocities={layer: Pair(*pair) for layer, pair in velocities.items()},
        )

    def runner(
        self, course: Course, plan: InPasses | None, batch: int, progress: Progress
    ) -> FixedRunner:
        """Return the runner of a course's steps."""
        if course.engine == "golden":
            return FixedRunner(course, batch, progress)
        if course.engine == "system":
            return self._on_board(course, batch, progress)
        hardware = ArrayTraining(
            self.network, course.engine, momentum=bool(course.momentum), begin=progress.begin,
            progress=progress.update,
        )  # fmt: skip
        return FixedRunner(course, batch, progress, hardware)

    def _on_board(self, course: Course, batch: int, progress: Progress) -> FixedRunner:
        """Return the runner of steps whose arrays stay in memory, otherwise of single passes."""
        # It builds a board, which takes an extra.
        from merp.cosim.machines.mac_array.board_step import ArrayBoardStep

        momentum, begin, update = bool(course.momentum), progress.begin, progress.update
        try:
            board = ArrayBoardStep(
                self.network, batch, course.loss, momentum=momentum, begin=begin, progress=update,
                device=course.on,
            )  # fmt: skip
        except BadInput as error:
            if course.on is not None:
                raise
            hardware = ArrayTraining(
                self.network, course.engine, momentum=momentum, begin=begin, progress=update
            )
            return FixedRunner(course, batch, progress, hardware, ring_per_pass(error))
        return FixedRunner(course, batch, progress, board, board.on_board, board.bus)

    def parameters(self, weights: Path | None) -> Pairs:
        """Return the kernels and biases of a file, as a training starts with them."""
        found = {} if weights is None else given_words(weights, self.network)
        pairs = every_pair(weights, found, self.network)
        return {layer: Pair(*pair) for layer, pair in pairs.items()}

    def outputs(self, images: Words, parameters: Pairs) -> Words:
        """Return the outputs of the golden model: (images, outputs)."""
        return outputs(self.network, images, parameters)

    def output_numbers(self, words: Words) -> Values:
        """Return the numbers of outputs, by the fractions of the last layer's maps."""
        return to_numbers(words, self.network.fixed.of(self.network.layers[-1].name).map)

    def step_bytes(self, batch: int, count: str, state: str) -> Mapping[str, int]:
        """Return the bytes of a step on the ports of the array, with fused pooling and un-pooling.

        The count ``maps`` includes only maps and deltas; no masks leave the array.
        """
        counted = Count() if count == "maps" else Count(name=count, state="pooled")
        layers = array_traffic(self.network, batch, counted)
        return phase_bytes(layers, PHASES)


def _share(done: FixedStep) -> float:
    """Return the share of saturated words of a step."""
    every = [each for tensors in done.clipping.values() for each in tensors.values()]
    return sum(each.clipped for each in every) / sum(each.words for each in every)


def _nearest(where: str, numbers: Values, fraction: int) -> Words:
    """Return the words nearest to the numbers of images.

    Raises:
        BadInput: a number is too large, infinite or NaN; ``where`` starts the message.
    """
    found = to_words(np.where(np.isfinite(numbers), numbers, np.inf), fraction).words
    unusable = ~(np.abs(to_numbers(found, fraction) - numbers) <= 2.0 ** -(fraction + 1))
    least, most = to_numbers(np.array([LEAST, MOST], np.int16), fraction)
    allowed = f"numbers from {least:g} to {most:g}, as fractions: input = {fraction}"
    refuse_first(where, numbers, unusable, allowed)
    return found
