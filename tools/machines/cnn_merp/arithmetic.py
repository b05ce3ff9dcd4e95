"""Training in floats, on CNN-MERP: the golden model, or the hardware itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from merp.cosim.training.hardware_step import Stepped
from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.base.rates import Rates
from merp.models.base.storage import Tensor
from merp.models.golden.loss import Labels
from merp.models.golden.training import Model, NoSuchFactor, classify, initial_model, rates_of
from merp.models.machines.cnn_merp.plan.planned import Plan
from merp.models.network.network import Network
from merp.models.traffic.closed_form import step_bytes
from merp.models.traffic.footing import Footing
from merp.tools.common.finite_words import finite_words
from merp.tools.common.kernel_file import with_weights
from merp.tools.common.progress import Progress
from merp.tools.common.storable import check_storable
from merp.tools.machines.cnn_merp.step import Step, step_of
from merp.tools.train.course import Course
from merp.tools.train.place import Place


@dataclass(frozen=True)
class FloatRunner:
    """Steps of a course; ``run`` runs one."""

    course: Course
    batch: int
    run: Step

    def check(self, epoch: int) -> None:
        """Refuse rates of an epoch that the format does not have."""
        self._rates(epoch)

    def step(self, model: Model, images: Bits, labels: Labels, place: Place) -> Stepped:
        """Run one step."""
        return self.run(model, images, labels, self._rates(place.epoch))

    def answer(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def _rates(self, epoch: int) -> Rates:
        """What the registers of a step hold in an epoch.

        Raises:
            BadInput: the format has no such rate, momentum or weight decay.
        """
        course = self.course
        try:
            return rates_of(
                course.rate(epoch),
                self.batch,
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
    """Of a network in floats."""

    network: Network

    @property
    def identity(self) -> tuple[object, ...]:
        """Of a design that is how it sums alone: a step may run on more units, in other passes."""
        network = self.network
        layers = [
            (replace(layer, design=None), network.summation(layer)) for layer in network.layers
        ]
        return network.input, network.fmt, layers

    def check(self, course: Course) -> None:
        """Everything is there."""

    def image_words(self, where: str, images: Values) -> Bits:
        """Images as words that their storage holds."""
        words = finite_words(where, images, self.network.fmt)
        check_storable(where, words, self.network.fmt, self.network.stored_input)
        return words

    def numbers(self, layer: str, tensor: str, words: Bits) -> Values:
        """Values of words, alike of all layers."""
        return to_values(words, self.network.fmt)

    def words(self, where: str, layer: str, tensor: str, numbers: Values) -> Bits:
        """Words of numbers that the storage of the tensor holds."""
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
        """Kernels and biases to begin with, at rest."""
        network = self.network if weights is None else with_weights(self.network, weights, seed)
        return initial_model(network, seed)

    def model(self, parameters: Mapping[str, Any], velocities: Mapping[str, Any]) -> Model:
        """A model of pairs of kernels and biases, and of their velocities, by layer."""
        return Model(parameters=parameters, velocities=velocities)

    def runner(
        self, course: Course, plan: Plan | None, batch: int, progress: Progress
    ) -> FloatRunner:
        """What runs the steps of a course."""
        return FloatRunner(course, batch, step_of(course, plan, batch, progress))

    def classify(self, images: Bits, parameters: Mapping[str, Any]) -> Labels:
        """Class of each image: (images,)."""
        return classify(self.network, images, parameters)

    def step_bytes(self, batch: int, footing: str, state: str) -> Mapping[str, int]:
        """Bytes of a step by the closed form."""
        counted = Footing() if footing == "paper" else Footing(name=footing, state=state)
        return step_bytes(self.network, batch, counted)
