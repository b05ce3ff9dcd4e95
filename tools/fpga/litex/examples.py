"""The training of a firmware: its images, initial parameters, rates, and the golden course.

It is the part ``firmware`` of a machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from merp.cosim.machines.loader import having, optional_part
from merp.cosim.machines.training.board_run import StoredArray
from merp.models.golden.loss import Labels
from merp.models.network.machine import Machine
from merp.models.network.network import Network

PART: Final = "firmware"
"""Name of the part."""

EXAMPLES: Final = 64
"""The firmware trains on the first digits of scikit-learn."""

FNV_BASIS, FNV_PRIME, FNV_MASK = 2166136261, 16777619, 0xFFFF_FFFF


@dataclass(frozen=True)
class GoldenEpoch:
    """An epoch of the golden model.

    Attributes:
        loss: sum of the losses of all images, each before its update.
        right: number of images that are classified correctly after the epoch.
        parameters: kernels and biases after the epoch.
    """

    loss: float
    right: int
    parameters: tuple[StoredArray, ...]

    @property
    def checksum(self) -> int:
        """Hash FNV-1a of the parameters, word by word; places without a parameter are 0."""
        found = FNV_BASIS
        for each in self.parameters:
            for word in words_of(each).tolist():
                found = (found ^ word) * FNV_PRIME & FNV_MASK
        return found


def meant_of(array: StoredArray) -> NDArray[np.bool_]:
    """Return for each word of an array in memory whether it counts."""
    return np.ones(array.words.shape, np.bool_) if array.meant is None else array.meant


def words_of(array: StoredArray) -> NDArray[np.uint16]:
    """Return the words of an array in memory; places that do not count are 0."""
    return np.where(meant_of(array), array.words, 0).astype("<u2")


class Examples(Protocol):
    """The training of a firmware on a network and a batch, a divisor of ``EXAMPLES``."""

    @property
    def classes(self) -> Labels:
        """The class of each image."""

    @property
    def class_scores(self) -> int:
        """Words from the score of a class to that of the next one in memory."""

    def orders(self) -> Sequence[NDArray[np.int64]]:
        """Return the order of the images in each epoch, that of ``merp train``."""

    def images(self) -> NDArray[np.uint32]:
        """Return the words of each image in memory: (images, words)."""

    def initial(self) -> Sequence[StoredArray]:
        """Return the parameters before the training, as memory has them."""

    def rates(self) -> Mapping[str, tuple[int, int]]:
        """Return the learning rate of each layer: its mantissa, and the shift of the update."""

    def golden(self) -> Iterator[GoldenEpoch]:
        """Yield the epochs of the golden model, until it classifies every image correctly."""


class MachineExamples(Protocol):
    """The part ``firmware`` of a machine."""

    def __call__(self, network: Network, batch: int) -> Examples:
        """Return the training of a network on the machine, in steps of ``batch`` images."""


def examples_on(machine: Machine) -> MachineExamples | None:
    """Return the part of a machine; None if it lacks the part."""
    found: MachineExamples | None = optional_part(machine, PART, None)
    return found


def allowed_machines() -> str:
    """Return in words the machines that have the part."""
    return " or ".join(having(PART))
