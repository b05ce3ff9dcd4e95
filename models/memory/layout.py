"""Arrays in memory: name, size and address of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import NamedTuple

from merp.models.memory.walk import Walk

ALIGN = 64
"""Bytes: each array begins at a multiple, as the beats of the widest port do."""

FIRST_ADDRESS = 4096
"""Address of the first array. Address 0 is the value of a register that nobody wrote."""


@dataclass(frozen=True)
class Array:
    """An array in memory, in C order and without gaps between its elements.

    Attributes:
        name: its name.
        shape: its size.
        element_bits: bits of an element that count.
        element_bytes: bytes of an element, a power of two.
    """

    name: str
    shape: tuple[int, ...]
    element_bits: int
    element_bytes: int

    @classmethod
    def of(cls, name: str, shape: Sequence[int], element_bits: int) -> Array:
        """Return an array whose elements take the next power of two in bytes."""
        size = max(1, 1 << (-(-element_bits // 8) - 1).bit_length())
        return cls(name, tuple(shape), element_bits, size)

    @property
    def elements(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.elements * self.element_bytes

    @property
    def padding(self) -> int:
        """Bits of its elements that do not count, in bytes."""
        return self.elements * (8 * self.element_bytes - self.element_bits) // 8


class Part(NamedTuple):
    """A part of an array.

    Attributes:
        array: name of the array.
        walk: the part, in elements, as if the array began at address 0.
    """

    array: str
    walk: Walk


@dataclass(frozen=True)
class Layout:
    """Arrays with their addresses.

    Attributes:
        arrays: the arrays by name.
        addresses: byte address of each.
        first: byte address from which memory may be used.
        end: byte address behind the memory.

    Raises:
        ValueError: an array is misaligned, leaves the memory, or overlaps with another one. The
            message names it and the allowed addresses.
    """

    arrays: Mapping[str, Array]
    addresses: Mapping[str, int]
    first: int
    end: int

    def __post_init__(self) -> None:
        """Check all places."""
        for name, address in self.addresses.items():
            # The last word of an array may have places behind it, so memory ends on a boundary.
            last = self.end // ALIGN * ALIGN - self.arrays[name].size
            if not self.first <= address <= last:
                raise ValueError(
                    f"{name}: address {address:#x}: allowed with {self.arrays[name].size} bytes "
                    f"are {self.first:#x} to {last:#x}"
                )
            if address % ALIGN:
                raise ValueError(f"{name}: address {address:#x}: allowed are multiples of {ALIGN}")
        for one, other in pairwise(sorted(self.addresses, key=self.addresses.__getitem__)):
            end = self.addresses[one] + self.arrays[one].size
            if end > self.addresses[other]:
                raise ValueError(
                    f"{other}: address {self.addresses[other]:#x}: {one} ends at {end:#x}"
                )

    @classmethod
    def of(cls, arrays: Iterable[Array], first: int, end: int) -> Layout:
        """Place arrays one behind the other.

        Raises:
            ValueError: they do not fit the memory.
        """
        named = {each.name: each for each in arrays}
        places, address = {}, -(-first // ALIGN) * ALIGN
        for name, each in named.items():
            places[name] = address
            address += -(-each.size // ALIGN) * ALIGN
        if address > end:
            raise ValueError(
                f"{address - first} bytes of arrays: allowed are the memory's {end - first}"
            )
        return cls(named, places, first, end)

    @cached_property
    def used(self) -> int:
        """Bytes from ``first`` to the end of the last array."""
        ends = [self.addresses[name] + each.size for name, each in self.arrays.items()]
        return max(ends, default=self.first) - self.first

    def walk(self, name: str, part: Walk, word_bytes: int) -> Walk:
        """Return the walk of a part of an array, in words of memory.

        Args:
            name: the array.
            part: the part, in elements, as if the array began at address 0.
            word_bytes: bytes of a word, a multiple of an element's that divides ``ALIGN``.

        Raises:
            ValueError: the part leaves the array, or has no whole words.
        """
        array = self.arrays[name]
        low, high = part.span
        if low < 0 or high > array.elements:
            raise ValueError(f"{name}: allowed are elements 0 to {array.elements - 1}, not {part}")
        size, rest = divmod(word_bytes, array.element_bytes)
        if rest or not size or ALIGN % word_bytes:
            raise ValueError(
                f"{name}: words of {word_bytes} bytes: allowed are multiples of "
                f"{array.element_bytes} that divide {ALIGN}"
            )
        # Behind an array there are free places up to a multiple of ALIGN, so the last word of a run
        # to its end may have some. In the middle of an array it would overwrite other elements.
        if not part.dimensions and high == array.elements:
            part = Walk(part.base, -(-part.words // size) * size)
        return part.grouped(size).moved(self.addresses[name] // word_bytes)
