"""Drive a float unit with one pair of operands per clock cycle, and generate the pairs.

The classes of pairs are chosen to find bugs:

- corner values
- plain random bits
- neighbouring exponents (cancellation)
- products at the limits of the exponent
- sparse fractions (ties)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from myhdl import Signal

from merp.hdl.arithmetic.fp_add import CUTS as ADD_CUTS
from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.arithmetic.fp_mul import CUTS as MUL_CUTS
from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.signals import bits
from merp.models.base.formats import FloatFormat
from merp.testbenches.block.trace import Sample, Trace, run_block

Pair = tuple[int, int]
UNITS = {"add": fp_add, "mul": fp_mul}
LATENCIES = {"add": tuple(ADD_CUTS), "mul": tuple(MUL_CUTS)}  # allowed for each unit


@dataclass(frozen=True)
class FpRun:
    """``results[i]`` is the result of the i-th pair; ``trace`` is the run, for replay."""

    results: list[int]
    trace: Trace


def run_fp(
    op: str, a: Sequence[int], b: Sequence[int], fmt: FloatFormat, latency: int, **built: int
) -> FpRun:
    """Pass a pair to ``fp_<op>`` in every cycle; collect the results ``latency`` cycles later.

    ``built`` are further parameters of the unit.

    Raises:
        ValueError: ``a`` and ``b`` differ in length.
    """
    pairs = list(zip(a, b, strict=True))
    idle = [(0, 0)] * latency
    stream = pairs + idle

    def drive(cycle: int, _seen: Sample) -> dict[str, int]:
        return {"a": stream[cycle][0], "b": stream[cycle][1]}

    args = {
        "clk": Signal(bool(0)),
        "a": bits(fmt.width),
        "b": bits(fmt.width),
        "y": bits(fmt.width),
        "fmt": fmt,
        "latency": latency,
        **built,
    }
    trace = run_block(UNITS[op], args, ("a", "b"), drive, len(stream), quick=True)
    return FpRun(trace.column("y")[latency:], trace)


def corner_values(fmt: FloatFormat) -> list[int]:
    """Return words at the boundaries of an operation's cases, with both signs, each once."""
    place = 1 << fmt.frac_bits
    ones = place - 1
    below_one = fmt.one - 1
    positive = [
        *(0, 1, ones),  # zero, smallest and largest subnormal
        *(place, place + 1, place + ones, 2 * place),  # around the smallest normals
        *(below_one, fmt.one, fmt.one + 1, fmt.one | ones, fmt.one + place),
        *(fmt.inf - place, fmt.inf - 2, fmt.inf - 1, fmt.inf),  # largest finite, infinity
        *(fmt.inf + 1, fmt.nan, fmt.nan | 1, fmt.inf | ones),  # signalling and quiet NaN
    ]
    return list(dict.fromkeys(word | sign for sign in (0, fmt.sign_bit) for word in positive))


def corner_pairs(fmt: FloatFormat) -> list[Pair]:
    """Return each pair of two corner values."""
    values = corner_values(fmt)
    return list(product(values, values))


def _word(fmt: FloatFormat, rng: Random, exponent: int, frac: int) -> int:
    """Return a word with a random sign; its exponent is limited to finite numbers."""
    field = min(max(exponent, 0), fmt.exp_max - 1)
    return rng.getrandbits(1) * fmt.sign_bit | field << fmt.frac_bits | frac


def _sparse(fmt: FloatFormat, rng: Random) -> int:
    """Return a fraction with only a few bits set, or with only a few bits clear."""
    frac = sum({1 << rng.randrange(fmt.frac_bits) for _ in range(rng.randrange(4))})
    return frac if rng.getrandbits(1) else frac ^ ((1 << fmt.frac_bits) - 1)


def random_pairs(fmt: FloatFormat, count: int, rng: Random) -> list[Pair]:
    """Return pairs of random bits."""
    return [(rng.getrandbits(fmt.width), rng.getrandbits(fmt.width)) for _ in range(count)]


def near_pairs(fmt: FloatFormat, count: int, rng: Random) -> list[Pair]:
    """Return pairs whose exponents differ by at most two.

    In every second pair the fractions differ only in their lowest bits.
    """
    pairs = []
    for index in range(count):
        exponent, frac = rng.randrange(1, fmt.exp_max), rng.getrandbits(fmt.frac_bits)
        other = frac ^ rng.getrandbits(1 + rng.randrange(fmt.frac_bits))
        if index % 2:
            other = rng.getrandbits(fmt.frac_bits)
        near = exponent + rng.choice((-2, -1, -1, 0, 0, 1, 1, 2))
        pairs.append((_word(fmt, rng, exponent, frac), _word(fmt, rng, near, other)))
    return pairs


def far_pairs(fmt: FloatFormat, count: int, rng: Random) -> list[Pair]:
    """Return sparse fractions with exponent distances up to the length of the fraction.

    These pairs test sticky bits and ties.
    """
    pairs = []
    for _ in range(count):
        exponent = rng.randrange(1, fmt.exp_max)
        other = exponent - rng.randrange(fmt.frac_bits + 5)
        pair = (
            _word(fmt, rng, exponent, _sparse(fmt, rng)),
            _word(fmt, rng, other, _sparse(fmt, rng)),
        )
        pairs.append(pair if rng.getrandbits(1) else pair[::-1])
    return pairs


def limit_pairs(fmt: FloatFormat, count: int, rng: Random) -> list[Pair]:
    """Return pairs with products within two exponents of the smallest normal or of infinity."""
    pairs = []
    for _ in range(count):
        target = rng.choice((1, fmt.exp_max)) + rng.randrange(-2, 2)
        first = rng.randrange(1, fmt.exp_max)
        pairs.append(
            (
                _word(fmt, rng, first, _sparse(fmt, rng)),
                _word(fmt, rng, target + fmt.bias - first, rng.getrandbits(fmt.frac_bits)),
            )
        )
    return pairs


def sparse_pairs(fmt: FloatFormat, count: int, rng: Random) -> list[Pair]:
    """Return pairs of sparse fractions near one, whose products are ties."""
    return [
        (
            _word(fmt, rng, fmt.bias + rng.randrange(-1, 2), _sparse(fmt, rng)),
            _word(fmt, rng, fmt.bias + rng.randrange(-1, 2), _sparse(fmt, rng)),
        )
        for _ in range(count)
    ]


CLASSES = {
    "random": random_pairs,
    "near": near_pairs,
    "far": far_pairs,
    "limit": limit_pairs,
    "sparse": sparse_pairs,
}
