"""Interface between training and the machine that runs a network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from merp.cosim.machines.training.hardware_step import WholeStep
from merp.models.arithmetic.compiled import Values
from merp.models.golden.loss import Labels
from merp.models.network.machine import Machine
from merp.models.network.network import Network
from merp.models.network.registry import machine_that_runs
from merp.tools.common.progress import Progress
from merp.tools.train.course import Course
from merp.tools.train.in_passes import InPasses
from merp.tools.train.place import Place
from merp.tools.train.predict.inference import Inference, inference_on

Words = NDArray[Any]
"""Words of a network's numbers, of any type that holds them."""

Model = Any
"""The state of training: ``parameters`` and ``velocities``, pairs of words by layer."""


class Stepped(Protocol):
    """The result of a step."""

    @property
    def model(self) -> Model:
        """The next model."""

    @property
    def loss(self) -> float:
        """Mean loss before the step."""

    @property
    def audits(self) -> Mapping[tuple[str, str], Any]:
        """Audits of the hardware, if it ran."""

    @property
    def whole(self) -> WholeStep | None:
        """The step as one run, on a machine that runs all layers concurrently."""

    @property
    def right(self) -> int | None:
        """Images of the batch that were classified correctly before the step, if known."""


class Runner(Protocol):
    """The steps of a course, one after the other."""

    def check(self, epoch: int) -> None:
        """Refuse the rates of an epoch that registers cannot hold.

        Raises:
            BadInput: names the rate and the allowed values.
        """

    def step(self, model: Model, images: Words, labels: Labels, place: Place) -> Stepped:
        """Run one step."""

    def answer(self) -> dict[str, Any]:
        """Return the additions of the steps to the answer for programs, by key."""


class Arithmetic(Inference, Protocol):
    """The arithmetic of a network for training."""

    @property
    def identity(self) -> tuple[object, ...]:
        """All properties of the network that decide the bits of a step, except the storage of
        deltas."""

    def check(self, course: Course) -> None:
        """Refuse a course that it does not support.

        Raises:
            BadInput: names the unsupported option.
        """

    def numbers(self, layer: str, tensor: str, words: Words) -> Values:
        """Return the numbers of a layer's ``kernels``, or of its ``gradients``: its velocities."""

    def words(self, where: str, layer: str, tensor: str, numbers: Values) -> Words:
        """Return numbers as words, the inverse of ``numbers``.

        Raises:
            BadInput: the format does not hold a number; ``where`` starts the message.
        """

    def initial(self, seed: int, weights: Path | None) -> Model:
        """Return initial kernels and biases, with velocities of 0.

        Raises:
            BadInput: the file ``weights`` is wrong.
        """

    def model(self, parameters: Mapping[str, Any], velocities: Mapping[str, Any]) -> Model:
        """Return a model of pairs of kernels and biases, and of their velocities, by layer."""

    def runner(
        self, course: Course, plan: InPasses | None, batch: int, progress: Progress
    ) -> Runner:
        """Return the runner of the steps of a course.

        Raises:
            BadInput: no hardware supports the course.
        """

    def step_bytes(self, batch: int, count: str, state: str) -> Mapping[str, int]:
        """Return the bytes of a step by one count, for each phase, ``step`` and ``momentum``."""


def arithmetic_of(network: Network) -> Arithmetic:
    """Return the arithmetic of the machine of a network's designs.

    Raises:
        BadInput: layers run on several machines, or the machine does not train.
    """
    return _arithmetic(machine_that_runs(network), network)


def arithmetic_for(course: Course) -> Arithmetic:
    """Return the arithmetic of the machine that runs a course.

    Raises:
        BadInput: it does not train.
    """
    return _arithmetic(course.machine, course.network)


def _arithmetic(machine: Machine, network: Network) -> Arithmetic:
    found: Arithmetic = inference_on(machine, network)
    return found
