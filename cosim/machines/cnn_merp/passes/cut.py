"""Parts of the maps of a layer, and what runs them one after the other."""

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
"""The maps of a part, ascending."""

Made = Generator[GroupPass, Audited | None, Mapping[str, Bits]]
"""Passes that are made one at a time, and in the end what they gave: arrays by name."""


def parts_of(maps: int, parts: int) -> tuple[Part, ...]:
    """Cut ``maps`` into ``parts``, whose sizes differ by one at most.

    Raises:
        ValueError: there are fewer maps than parts, or no part.
    """
    if not 1 <= parts <= maps:
        raise ValueError(f"parts must be a whole number from 1 to {maps}, not {parts}")
    borders = [index * maps // parts for index in range(parts + 1)]
    return tuple(np.arange(low, high) for low, high in pairwise(borders))


class PassPlace(NamedTuple):
    """A pass: its part of what the phase gives, and of what it takes, as numbers from 0."""

    outputs: int
    inputs: int


@dataclass(frozen=True)
class Cut:
    """Parts of the maps that a phase gives, and of those that it takes; all maps, each once.

    The former are outside: sums of a part live only while the latter are gone through, in ascending
    order, so that every sum has its terms in the order of the whole layer.
    """

    outputs: tuple[Part, ...]
    inputs: tuple[Part, ...]

    @classmethod
    def of(cls, outputs: int, inputs: int, parts: tuple[int, int], taps: int = 1) -> Cut:
        """Cut so many maps into ``parts`` of outputs and of inputs.

        taps: inputs that are summed at once and stay together, k*k where a layer runs folded.
        """
        together = parts_of(-(-inputs // taps), parts[1])
        return cls(
            parts_of(outputs, parts[0]),
            tuple(np.arange(low[0] * taps, min(inputs, (low[-1] + 1) * taps)) for low in together),
        )

    @classmethod
    def by_sizes(cls, outputs: int, inputs: int, sizes: tuple[int, int], taps: int = 1) -> Cut:
        """Cut so many maps into parts of ``sizes`` outputs and inputs, the last what is left.

        taps: as of ``of``; the size of a part of the inputs counts them together.

        Raises:
            ValueError: a size is below 1.
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
        """The inputs of all parts in front of that of a pass."""
        return np.arange(self.inputs[place.inputs][0])


class Tiles(ABC):
    """One group of a layer in one phase, cut into parts.

    Attributes:
        cut: the parts.
    """

    cut: Cut

    @abstractmethod
    def top(self, array: str = "rtl") -> Top:
        """The block that runs every pass, with signals of its own."""

    def passes(self) -> Made:
        """The passes, in order, and what they give together."""
        rows = []
        for outputs in range(len(self.cut.outputs)):
            rows.append((yield from self.row(outputs)))
        return self.joined(rows)

    @abstractmethod
    def row(self, outputs: int) -> Made:
        """Those of one part of what the phase gives; the sums of each come from the one before.

        They give arrays of this part alone.
        """

    @abstractmethod
    def joined(self, rows: Sequence[Mapping[str, Bits]]) -> Mapping[str, Bits]:
        """What the passes of every part gave, as the layer in one piece gives it."""

    @abstractmethod
    def alone(self, place: PassPlace) -> GroupPass:
        """One pass by itself: the sums that it takes are the golden's of the parts in front."""


def in_order(parts: tuple[Part, ...], arrays: list[Bits], axis: int = -1) -> Bits:
    """Arrays of parts as one, every map in its place."""
    order = np.argsort(np.concatenate(parts))
    return np.take(np.concatenate(arrays, axis=axis), order, axis=axis)
