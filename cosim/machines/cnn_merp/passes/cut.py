"""Divide the maps of a layer into parts, and run the passes over them one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.cosim.phases.audit.run_and_audit import Audited
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.testbenches.top.top import Top

Part = NDArray[np.int64]
"""The maps of a part, in ascending order."""

Made = Generator[GroupPass, Audited | None, Mapping[str, Bits]]
"""A generator of passes, one at a time. It returns their results: arrays by name."""


def parts_of(maps: int, parts: int) -> tuple[Part, ...]:
    """Divide ``maps`` into ``parts`` whose sizes differ by at most one.

    Raises:
        ValueError: ``parts`` is less than 1 or greater than ``maps``.
    """
    if not 1 <= parts <= maps:
        raise ValueError(f"parts must be a whole number from 1 to {maps}, not {parts}")
    borders = [index * maps // parts for index in range(parts + 1)]
    return tuple(np.arange(low, high) for low, high in pairwise(borders))


class PassPlace(NamedTuple):
    """A pass: the numbers, from 0, of its part of the outputs and its part of the inputs."""

    outputs: int
    inputs: int


@dataclass(frozen=True)
class Cut:
    """The parts of the output maps and the input maps of a phase; each map belongs to one part.

    The output parts are the outer loop. The inner loop passes through the input parts in ascending
    order. Therefore the sums of one output part exist at a time, and each sum has its terms in the
    order of the whole layer.
    """

    outputs: tuple[Part, ...]
    inputs: tuple[Part, ...]

    @classmethod
    def of(cls, outputs: int, inputs: int, parts: tuple[int, int], taps: int = 1) -> Cut:
        """Divide the maps into ``parts`` of outputs and of inputs.

        Args:
            taps: number of inputs that are summed in one step and must stay together; k*k if the
                layer runs folded.
        """
        together = parts_of(-(-inputs // taps), parts[1])
        return cls(
            parts_of(outputs, parts[0]),
            tuple(np.arange(low[0] * taps, min(inputs, (low[-1] + 1) * taps)) for low in together),
        )

    @classmethod
    def by_sizes(cls, outputs: int, inputs: int, sizes: tuple[int, int], taps: int = 1) -> Cut:
        """Divide the maps into parts of ``sizes`` outputs and inputs.

        The last part has the remainder.

        Args:
            taps: as in ``of``; ``taps`` inputs count as one in the size of an input part.

        Raises:
            ValueError: a size is less than 1.
        """
        if min(sizes) < 1:
            raise ValueError(f"sizes of parts must be at least 1, not {sizes}")
        cuts = ((outputs, sizes[0]), (inputs, sizes[1] * taps))
        return cls(
            *(
                tuple(np.arange(low, min(maps, low + size)) for low in range(0, maps, size))
                for maps, size in cuts
            )
        )

    def inputs_before(self, place: PassPlace) -> Part:
        """Return the inputs of all parts before the part of a pass."""
        return np.arange(self.inputs[place.inputs][0])


class Tiles(ABC):
    """One group of a layer in one phase, divided into parts.

    Attributes:
        cut: the parts.
    """

    cut: Cut

    @abstractmethod
    def top(self, array: str = "rtl") -> Top:
        """Return the block that runs every pass, as a top with its own signals."""

    def passes(self) -> Made:
        """Run the passes in order, and return their combined results."""
        rows = []
        for outputs in range(len(self.cut.outputs)):
            rows.append((yield from self.row(outputs)))
        return self.joined(rows)

    @abstractmethod
    def row(self, outputs: int) -> Made:
        """Run the passes of one output part. Each pass starts at the sums of the pass before it.

        The results are arrays of this part only.
        """

    @abstractmethod
    def joined(self, rows: Sequence[Mapping[str, Bits]]) -> Mapping[str, Bits]:
        """Combine the results of all parts into the results of the whole layer."""

    @abstractmethod
    def alone(self, place: PassPlace) -> GroupPass:
        """Return one pass by itself. It starts at the golden sums of the parts before it."""


def in_order(parts: tuple[Part, ...], arrays: list[Bits], axis: int = -1) -> Bits:
    """Combine the arrays of parts, with every map at its place."""
    order = np.argsort(np.concatenate(parts))
    return np.take(np.concatenate(arrays, axis=axis), order, axis=axis)
