"""Infinities and NaNs among products: every pair of classes, alone and beside others."""

from itertools import product
from random import Random

import pytest

from block_bench import BlockBench, Recorded
from merp.hdl.base.signals import bits
from merp.hdl.fused.fused_special import fused_special
from merp.hdl.fused.narrow_special import narrow_special
from merp.models.base.fused import OPERAND_BITS, activation_bits, operand_bits
from merp.testbenches.arithmetic.fused_bench import INF, NAN, ONE, SIGN, activation, operand
from merp.testbenches.cnn_merp.cu_bench import joined

LATENCY = 3
MAGNITUDES = (0, 1, 1 << 23, ONE, ONE | 0x7FFFFF, INF - 1, INF, INF + 1, NAN)
WORDS = [sign | word for word in MAGNITUDES for sign in (0, SIGN)]
Window = list[tuple[int, int]]


def windows(taps: int) -> list[Window]:
    """Every pair in a tap beside products of ones; then anything in all taps."""
    rng = Random(taps)
    rows = [
        [(ONE, rng.choice((ONE, SIGN | ONE)))] * at + [pair] + [(ONE, ONE)] * (taps - 1 - at)
        for i, pair in enumerate(product(WORDS, WORDS))
        for at in [i % taps]
    ]
    ends = [(ONE, INF), (SIGN | ONE, INF), (INF, ONE), (SIGN | INF, ONE), (ONE, ONE), (0, ONE)]
    rows += [[rng.choice(ends) for _ in range(taps)] for _ in range(100)]
    return rows + [[(rng.choice(WORDS), rng.choice(WORDS)) for _ in range(taps)]] * LATENCY


def infinite(word: int) -> bool:
    return word % SIGN == INF


def zero(word: int) -> bool:
    return word % SIGN < 1 << 23


def negative(x: int, b: int) -> bool:
    return x >> 31 != b >> 31


def special(window: Window) -> tuple[bool, int]:
    """Whether the sum is a NaN, else bit 1 if it is infinite, bit 0 if below zero at that."""
    nan, signs = False, set()
    for x, b in window:
        of_zero = (infinite(x) and zero(b)) or (zero(x) and infinite(b))
        nan |= x % SIGN > INF or b % SIGN > INF or of_zero
        if infinite(x) or infinite(b):
            signs.add(negative(x, b))
    nan |= len(signs) == 2
    return nan, 0 if nan or not signs else 2 | signs.pop()


def check(trace: Recorded, given: list[Window]) -> None:
    for window, found in zip(given, trace.column("special")[LATENCY:], strict=False):
        nan, wanted = special(window)
        assert found >> 2 == nan, window
        assert nan or found == wanted, window


@pytest.mark.parametrize(("taps", "dsp"), [(1, 2), (4, 1)])
def test_sums_that_are_no_numbers(taps: int, dsp: int) -> None:
    given = windows(taps)
    width = activation_bits(dsp)

    def drive(cycle: int, _: dict[str, int]) -> dict[str, int]:
        parts = [activation(x, dsp)[0] for x, _ in given[cycle]]
        operands = [operand(b) for _, b in given[cycle]]
        return {
            "activations": joined(parts, width), "kernels": joined(operands, OPERAND_BITS),
        }  # fmt: skip

    bench = BlockBench(
        fused_special, "clk", activations=bits(taps * width), kernels=bits(taps * OPERAND_BITS),
        special=bits(3), taps=taps, dsp=dsp,
    )  # fmt: skip
    check(bench.run(drive, len(given)), given)


@pytest.mark.parametrize("taps", [1, 4])
@pytest.mark.parametrize("significand", [8, 11])
def test_sums_of_narrow_products_that_are_no_numbers(taps: int, significand: int) -> None:
    """The signs of products, too. Factors are given decoded, so none is rounded to infinity."""
    given = windows(taps)
    width, kernel_width = activation_bits(1, significand), operand_bits(significand)
    sign_at, hidden_at = kernel_width - 1, kernel_width - 2

    def decoded(word: int) -> int:
        field = word >> 23 & 255
        own = (word >> 31) << sign_at
        if zero(word):
            return own
        if field < 255:
            return own | 1 << hidden_at | field
        return own | 1 << hidden_at - (1 if infinite(word) else 2)

    def drive(cycle: int, _: dict[str, int]) -> dict[str, int]:
        parts = []
        for x, _b in given[cycle]:
            nan = x % SIGN > INF
            above = (infinite(x) or nan) << 1 | (zero(x) or nan)
            parts.append(above << kernel_width | decoded(x))
        operands = [decoded(b) for _, b in given[cycle]]
        return {
            "activations": joined(parts, width), "kernels": joined(operands, kernel_width),
        }  # fmt: skip

    bench = BlockBench(
        narrow_special, "clk", activations=bits(taps * width), kernels=bits(taps * kernel_width),
        minus=bits(taps), special=bits(3), taps=taps,
    )  # fmt: skip
    trace = bench.run(drive, len(given))
    check(trace, given)
    signs = [sum(negative(*pair) << i for i, pair in enumerate(window)) for window in given]
    assert trace.column("minus")[1:] == signs[:-1]
