"""The training of a firmware on the MAC array: the part ``firmware`` of the machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.stored import stored_images, stored_parameters
from merp.cosim.machines.training.board_run import StoredArray
from merp.models.arithmetic.fixed import Words
from merp.models.golden.loss import Labels
from merp.models.machines.mac_array.fixed_golden_step import FixedGoldenStep
from merp.models.machines.mac_array.fixed_training import (
    FixedModel,
    FixedRates,
    initial_model,
    outputs,
    train_step,
)
from merp.models.machines.mac_array.params.design import USUAL_LOSS, ArrayDesign
from merp.models.machines.mac_array.params.rates import rate_of
from merp.models.machines.mac_array.passes import design_of
from merp.models.network.network import Network
from merp.tools.fpga.litex.examples import EXAMPLES, GoldenEpoch
from merp.tools.train.arithmetic import arithmetic_of
from merp.tools.train.data import batch_of
from merp.tools.train.datasets.digits import digits

EPOCHS: Final = 20
"""Most epochs of a training."""

RATE: Final = 0.02
"""Learning rate of the mean loss."""

SEED: Final = 0
"""Seed of the initial parameters and of the order of images, as in ``merp train``."""


@dataclass(frozen=True)
class ArrayExamples:
    """The training of a firmware.

    Attributes:
        network: a network on the MAC array.
        batch: images of a step, a divisor of ``EXAMPLES``.
    """

    network: Network
    batch: int

    @cached_property
    def _data(self) -> tuple[Words, Labels]:
        data = digits(self.network.layers[-1].outputs)
        words = arithmetic_of(self.network).image_words("digits: images", data.images[:EXAMPLES])
        return words, data.labels[:EXAMPLES]

    @property
    def classes(self) -> Labels:
        """The class of each image."""
        return self._data[1]

    @property
    def class_scores(self) -> int:
        """Words from the score of a class to that of the next one in memory."""
        return design_of(self.network, self.network.layers[-1]).pox

    def orders(self) -> list[NDArray[np.int64]]:
        """Return the order of the images in each epoch, that of ``merp train``."""
        steps = EXAMPLES // self.batch
        return [
            np.concatenate(
                [
                    batch_of(EXAMPLES, self.batch, SEED, epoch * steps + each)
                    for each in range(steps)
                ]
            )
            for epoch in range(EPOCHS)
        ]

    def images(self) -> NDArray[np.uint32]:
        """Return the words of each image in memory: (images, words)."""
        first = self._at(initial_model(self.network, SEED))
        return stored_images(first, self._design).reshape(EXAMPLES, -1)

    def initial(self) -> tuple[StoredArray, ...]:
        """Return the parameters before the training, as memory has them."""
        return self._stored(initial_model(self.network, SEED))

    @property
    def _design(self) -> ArrayDesign:
        return replace(design_of(self.network, self.network.layers[0]), momentum=False)

    def _rates(self, step: int) -> FixedRates:
        return FixedRates(rate=RATE / self.batch, momentum=0.0, seed=SEED, step=step)

    def _at(self, model: FixedModel) -> ArrayStep:
        images, labels = self._data
        golden = FixedGoldenStep(
            self.network, images, labels, model, self._rates(0), USUAL_LOSS
        )  # fmt: skip
        return ArrayStep(golden)

    def _stored(self, model: FixedModel) -> tuple[StoredArray, ...]:
        return tuple(stored_parameters(self._at(model), self._design, new=False))

    def rates(self) -> Mapping[str, tuple[int, int]]:
        """Return the learning rate of each layer: its mantissa, and the shift of the update."""
        rate, found = rate_of(RATE / self.batch), {}
        for layer in self.network.layers:
            numbers = self.network.fixed.of(layer.name)
            shift = rate.update_shift(numbers.velocity, numbers.kernel)
            found[layer.name] = rate.mantissa, shift
        return found

    def golden(self) -> Iterator[GoldenEpoch]:
        """Yield the epochs of the golden model, until it classifies every image correctly."""
        images, labels = self._data
        model, step = initial_model(self.network, SEED), 0
        for order in self.orders():
            loss = 0.0
            for chosen in order.reshape(-1, self.batch):
                done = train_step(
                    self.network, model, images[chosen], labels[chosen], self._rates(step),
                    USUAL_LOSS,
                )  # fmt: skip
                model, step = done.model, step + 1
                loss += done.loss * self.batch
            found = outputs(self.network, images, model.parameters).argmax(axis=1)
            right = int((found == labels).sum())
            yield GoldenEpoch(loss, right, self._stored(model))
            if right == EXAMPLES:
                return
