"""Drive a float unit with one pair of operands per clock, and the pairs worth driving.

The classes of pairs are those that find bugs: corners, plain random bits, neighbouring exponents
(cancellation), products at the limits of the exponent, and sparse fractions (ties).
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
LATENCIES = {"add": tuple(ADD_CUTS), "mul": tuple(MUL_CUTS)}  # that they can be built with


@dataclass(frozen=True)
class FpRun:
    """``results[i]`` is the answer to the i-th pair; ``trace`` is the run, for replay."""

    results: list[int]
    trace: Trace


def run_fp(
    op: str, a: Sequence[int], b: Sequence[int], fmt: FloatFormat, latency: int, **built: int
) -> FpRun:
    """Push a pair into ``fp_<op>`` in every cycle and collect the results ``latency`` later.

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
    trace = run_block(UNITS[op], args, ("a", "b"), drive, len(stream))
    return FpRun(trace.column("y")[latency:], trace)


def corner_values(fmt: FloatFormat) -> list[int]:
    """Words at which an operation changes its mind, both signs, no duplicates."""
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
    """Every corner against every corner."""
    values = corner_values(fmt)
    return list(product(values, values))


def _word(fmt: FloatFormat, rng: Random, exponent: int, frac: int) -> int:
    """A word with a random sign, its exponent field held within the finite numbers."""
    field = min(max(exponent, 0), fmt.exp_max - 1)
    return rng.getrandbits(1) * fmt.sign_bit | field << fmt.frac_bits | frac


def _sparse(fmt: FloatFormat, rng: Random) -> int:
    """A fraction of a few set or a few clear bits."""
    frac = sum({1 << rng.randrange(fmt.frac_bits) for _ in range(rng.randrange(4))})
    return frac if rng.getrandbits(1) else frac ^ ((1 << fmt.frac_bits) - 1)


def random_pairs(fmt: FloatFormat, count: int, rng: Random) -> list[Pair]:
    """Raw bits."""
    return [(rng.getrandbits(fmt.width), rng.getrandbits(fmt.width)) for _ in range(count)]


def near_pairs(fmt: FloatFormat, count: int, rng: Random) -> list[Pair]:
    """Exponents up to two apart and, every other time, all but the lowest fraction bits equal."""
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
    """Sparse fractions, exponents as far apart as the fraction is long: sticky bits and ties."""
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
    """Products within two places of the smallest normal number and of infinity."""
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
    """Sparse fractions near one: products that are ties."""
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
