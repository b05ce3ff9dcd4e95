"""Operands for the twins' arithmetic: corners, classes of pairs, windows of all kinds."""

from itertools import product
from random import Random

import numpy as np

from merp.models.arithmetic.words import as_words
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.summation import Summation
from merp.testbenches.arithmetic.fp_bench import CLASSES, corner_pairs

ODD = FloatFormat(4, 3)


def operands(fmt: FloatFormat) -> tuple[Bits, Bits]:
    """Corners against corners and every class of pairs; all pairs of the 8-bit format."""
    rng = Random(str(fmt))
    pairs = corner_pairs(fmt)
    for make in CLASSES.values():
        pairs += make(fmt, 2000, rng)
    if fmt == ODD:
        pairs = list(product(range(1 << fmt.width), repeat=2))
    a, b = (as_words(column, fmt) for column in zip(*pairs, strict=True))
    return a, b


SUMMATIONS = [
    *(Summation(kind="fused", dsp=dsp, window=window, precision=precision)
      for dsp, window, precision in ((1, 32, 24), (1, 28, 28), (2, 30, 25), (2, 32, 24))),
    *(Summation(kind="fused", operand=operand, window=window, precision=precision)
      for operand, window, precision in ((8, 16, 24), (8, 32, 26), (11, 20, 24), (11, 27, 28))),
]  # fmt: skip


def words_around(rng: Random, exponent: int, spread: int) -> int:
    """A word whose exponent field is near a given one, with few or many ones in its fraction."""
    field = min(254, max(0, exponent + rng.randint(-spread, spread)))
    fraction = rng.choice((rng.getrandbits(23), 0, 0x7FFFFF, 1 << rng.randrange(23),
                           rng.getrandbits(8) << 15, 0x7F8000 | rng.getrandbits(16)))  # fmt: skip
    return rng.getrandbits(1) << 31 | field << 23 | fraction


def windows(count: int, seed: int) -> tuple[Bits, Bits]:
    """Pairs of windows of nine taps: near each other, far apart, at the limits, with specials."""
    rng = Random(seed)
    pair: tuple[list[list[int]], list[list[int]]] = ([], [])
    for index in range(count):
        spread = rng.choice((0, 1, 4, 20, 90))
        # The sum of the exponents is what counts: in the middle, near 0, and near the largest.
        a, b = rng.choice(((127, 127), (127, 120), (60, 67), (64, 64), (190, 190), (200, 182)))
        for words, exponent in zip(pair, (a, b), strict=True):
            words.append([words_around(rng, exponent, spread) for _ in range(9)])
        if index % 4 == 0:  # equal and opposite products
            pair[0][-1][4:8] = [word ^ 1 << 31 for word in pair[0][-1][:4]]
            pair[1][-1][4:8] = pair[1][-1][:4]
        if index % 5 == 0:
            for _ in range(rng.randint(1, 2)):
                special = rng.choice((0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001,
                                      1, 0x807FFFFF))  # fmt: skip
                rng.choice(pair)[-1][rng.randrange(9)] = special
        if index % 7 == 0:  # only a few taps count
            for tap in range(rng.randint(0, 2), 9):
                rng.choice(pair)[-1][tap] = rng.choice((0, 1 << 31, 0x7FFFFF))
    a, b = (np.array(words, np.uint32) for words in pair)
    return a, b


def specials_everywhere() -> tuple[Bits, Bits]:
    """Every pair of kinds in two taps, the other taps numbers."""
    kinds = (0x80000000, 0x3F800000, 0xC0490FDB, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00400000)
    rows = [(w, x, y, z) for w, x, y, z in product(kinds, repeat=4) if w >= y]
    a = np.array([[w, y, 0x3F000000] for w, _, y, _ in rows], np.uint32)
    b = np.array([[x, z, 0x3F800000] for _, x, _, z in rows], np.uint32)
    return a[::3], b[::3]


def arithmetic(summation: Summation) -> tuple[int, int, int, int]:
    """What the fused arithmetic takes of a design, in its order."""
    return summation.dsp, summation.operand, summation.window, summation.precision


def id_of(summation: Summation) -> str:
    """The same as a test's name."""
    return "-".join(str(each) for each in arithmetic(summation))
