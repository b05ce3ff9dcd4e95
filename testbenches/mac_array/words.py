"""Packing of words, and the rules of rounding and clipping, in Python integers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from merp.models.machines.mac_array.params.design import WORD_BITS

EXTREMES = (0x8000, 0x7FFF, 0xFFFF, 1, 0)


def joined(words: Sequence[int], width: int = WORD_BITS) -> int:
    """Concatenate words; the first word is lowest."""
    return sum((word & (1 << width) - 1) << i * width for i, word in enumerate(words))


def number(word: int, width: int = WORD_BITS) -> int:
    """Interpret a word as a number in two's complement."""
    return word - (word >> width - 1 << width)


def parted(words: int, count: int, width: int = WORD_BITS) -> list[int]:
    """Split concatenated words into ``count`` numbers in two's complement."""
    return [number(words >> i * width & (1 << width) - 1, width) for i in range(count)]


def any_word(rng: Random) -> int:
    """Return a random word; one in five is an extreme value."""
    return rng.choice(EXTREMES) if rng.random() < 0.2 else rng.getrandbits(WORD_BITS)


def nearest(value: int, n: int) -> int:
    """Calculate RNE(value, n): value * 2^-n, rounded to nearest, ties to even."""
    if n <= 0:
        return value << -n
    whole, rest = value >> n, value & (1 << n) - 1
    return whole + (2 * rest > 1 << n or (2 * rest == 1 << n and whole % 2 == 1))


def clipped(value: int, width: int = WORD_BITS) -> int:
    """Return the nearest number that a word can represent."""
    return max(-(1 << width - 1), min((1 << width - 1) - 1, value))
