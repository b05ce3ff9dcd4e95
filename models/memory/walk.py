"""Golden model of a walk: the runs of consecutive words that a stream reads or writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from merp.models.base.whole_numbers import check_ranges
from merp.models.memory.params.mover import DIMENSIONS, Mover


@dataclass(frozen=True)
class Dimension:
    """A dimension of a walk.

    Attributes:
        count: how many steps, at least one.
        stride: words from one step to the next; it may be negative.
    """

    count: int = 1
    stride: int = 0


@dataclass(frozen=True)
class Run:
    """Consecutive words in memory.

    Attributes:
        address: address of the first word, in words.
        words: how many, at least one.
    """

    address: int
    words: int


@dataclass(frozen=True)
class Walk:
    """The order in which a stream passes through memory, in words.

    Attributes:
        base: address of the first word.
        words: consecutive words of a run, at least one.
        dimensions: at most four, the fastest first.
    """

    base: int
    words: int
    dimensions: tuple[Dimension, ...] = ()

    def check(self, mover: Mover) -> None:
        """Check that a mover can make this walk, and that each word has an address.

        Raises:
            ValueError: it cannot; the message names the field and the allowed values.
        """
        if len(self.dimensions) > DIMENSIONS:
            raise ValueError(
                f"a walk has at most {DIMENSIONS} dimensions, not {len(self.dimensions)}"
            )
        limit = 1 << mover.address_bits
        check_ranges(self, {"base": (0, limit - 1), "words": (1, limit)})
        for dimension in self.dimensions:
            check_ranges(
                dimension,
                {"count": (1, 1 << mover.count_bits), "stride": (1 - limit, limit - 1)},
            )
        low, high = self.span
        if low < 0 or high > limit:
            raise ValueError(
                f"the words of a walk must have addresses from 0 to {limit - 1}, "
                f"not {low} to {high - 1}"
            )

    @property
    def total(self) -> int:
        """Number of words."""
        total = self.words
        for dimension in self.dimensions:
            total *= dimension.count
        return total

    @property
    def span(self) -> tuple[int, int]:
        """The lowest address of a word, and the address behind the highest."""
        ends = [(each.count - 1) * each.stride for each in self.dimensions]
        low = self.base + sum(end for end in ends if end < 0)
        return low, self.base + sum(end for end in ends if end > 0) + self.words

    @property
    def jumps(self) -> tuple[int, ...]:
        """Of each dimension, the words from a step's last run to the first run of the next step.

        A step of a dimension goes through all steps of the dimensions inside it.
        """
        jumps, inside = [], 0
        for each in self.dimensions:
            jumps.append(each.stride - inside)
            inside += (each.count - 1) * each.stride
        return tuple(jumps)

    def moved(self, distance: int) -> Walk:
        """Return the same walk, ``distance`` words further on."""
        return replace(self, base=self.base + distance)

    def grouped(self, size: int) -> Walk:
        """Return the walk in words that each hold ``size`` words of this walk.

        Raises:
            ValueError: a run does not begin or end with such a word.
        """
        strides = [each.stride for each in self.dimensions]
        if any(place % size for place in (self.base, self.words, *strides)):
            raise ValueError(f"runs must begin and end at multiples of {size} elements: {self}")
        dimensions = (replace(each, stride=each.stride // size) for each in self.dimensions)
        return Walk(self.base // size, self.words // size, tuple(dimensions))

    def runs(self) -> Iterator[Run]:
        """Yield the runs in their order."""
        outer_first = reversed(self.dimensions)
        for steps in product(*(range(each.count) for each in outer_first)):
            places = zip(reversed(steps), self.dimensions, strict=True)
            yield Run(self.base + sum(step * each.stride for step, each in places), self.words)

    def addresses(self) -> Iterator[int]:
        """Yield the address of each word, in the order of the stream."""
        for run in self.runs():
            yield from range(run.address, run.address + run.words)
