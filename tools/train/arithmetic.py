"""Interface between training and the machine that runs a network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from merp.cosim.training.hardware_step import WholeStep
from merp.models.arithmetic.compiled import Values
from merp.models.golden.loss import Labels
from merp.models.network.machine import Machine
from merp.models.network.network import Network
from merp.models.network.registry import machine_that_runs, part_of
from merp.tools.common.progress import Progress
from merp.tools.train.course import Course
from merp.tools.train.in_passes import InPasses
from merp.tools.train.place import Place

Words = NDArray[Any]
"""Words of a network's numbers, of whatever type holds them."""

Model = Any
"""What a step changes: ``parameters`` and ``velocities``, pairs of words by layer."""


class Stepped(Protocol):
    """What comes of a step."""

    @property
    def model(self) -> Model:
        """The next one."""

    @property
    def loss(self) -> float:
        """Mean, before the step."""

    @property
    def audits(self) -> Mapping[tuple[str, str], Any]:
        """What was found of hardware, where it ran."""

    @property
    def whole(self) -> WholeStep | None:
        """Of a machine that runs all layers at once, the step as one run."""


class Runner(Protocol):
    """Steps of a course, one after the other."""

    def check(self, epoch: int) -> None:
        """Refuse rates of an epoch that registers do not hold.

        Raises:
            BadInput: names the rate, and what is allowed.
        """

    def step(self, model: Model, images: Words, labels: Labels, place: Place) -> Stepped:
        """Run one step."""

    def answer(self) -> dict[str, Any]:
        """What its steps leave to say, by the keys of the answer for machines."""


class Arithmetic(Protocol):
    """Numbers of a network as training has them."""

    @property
    def identity(self) -> tuple[object, ...]:
        """All of the network that decides the bits of a step, beside how deltas are stored."""

    def check(self, course: Course) -> None:
        """Refuse what of a course it does not have.

        Raises:
            BadInput: names it.
        """

    def image_words(self, where: str, images: Values) -> Words:
        """Images as words.

        Raises:
            BadInput: a number that the format does not hold; ``where`` opens the message.
        """

    def numbers(self, layer: str, tensor: str, words: Words) -> Values:
        """Values of words of a layer's ``kernels``, or of its ``gradients``: its velocities."""

    def words(self, where: str, layer: str, tensor: str, numbers: Values) -> Words:
        """The same back again.

        Raises:
            BadInput: one is no number of the format; ``where`` opens the message.
        """

    def initial(self, seed: int, weights: Path | None) -> Model:
        """Kernels and biases to begin with, at rest.

        Raises:
            BadInput: of ``weights``.
        """

    def model(self, parameters: Mapping[str, Any], velocities: Mapping[str, Any]) -> Model:
        """A model of pairs of kernels and biases, and of their velocities, by layer."""

    def runner(
        self, course: Course, plan: InPasses | None, batch: int, progress: Progress
    ) -> Runner:
        """What runs the steps of a course.

        Raises:
            BadInput: there is no hardware that does.
        """

    def classify(self, images: Words, parameters: Mapping[str, Any]) -> Labels:
        """Class of each image: (images,)."""

    def step_bytes(self, batch: int, count: str, state: str) -> Mapping[str, int]:
        """Bytes of a step by one count, for each phase, ``step`` and ``momentum``; by formula."""


def arithmetic_of(network: Network) -> Arithmetic:
    """That of the machine whose designs a network has.

    Raises:
        BadInput: layers run on several machines, or the machine does not train.
    """
    return _arithmetic(machine_that_runs(network), network)


def arithmetic_for(course: Course) -> Arithmetic:
    """That of the machine that runs a course.

    Raises:
        BadInput: it does not train.
    """
    return _arithmetic(course.machine, course.network)


def _arithmetic(machine: Machine, network: Network) -> Arithmetic:
    found: Callable[[Network], Arithmetic] = part_of(machine, machine.hardware, "arithmetic")
    return found(network)
