"""From sums to floats, against rounding of integers: leading zeros, ties, both ends, specials."""

from random import Random

import pytest

from block_bench import BlockBench
from merp.hdl.base.signals import bits
from merp.hdl.fused.fused_normalise import fused_normalise
from merp.models.base.formats import BINARY32, FloatFormat

LATENCY = 5
Case = tuple[int, int, int]  # total, largest, special


def rounded(value: int, exponent: int, fmt: FloatFormat) -> int:
    """The word of value * 2^exponent, to nearest even; what is below the normals is a zero."""
    if value == 0:
        return 0
    sign, magnitude = (fmt.sign_bit if value < 0 else 0), abs(value)
    cut = magnitude.bit_length() - 1 - fmt.frac_bits
    if cut <= 0:
        kept = magnitude << -cut
    else:
        kept, rest = divmod(magnitude, 1 << cut)
        half = 1 << cut - 1
        kept += rest > half or (rest == half and kept % 2 == 1)
    if kept >> fmt.frac_bits + 1:
        kept, cut = kept >> 1, cut + 1
    biased = exponent + cut + fmt.frac_bits + fmt.bias
    if biased < 1:
        return sign
    if biased >= fmt.exp_max:
        return sign | fmt.inf
    return sign | biased << fmt.frac_bits | kept % (1 << fmt.frac_bits)


def cases(width: int, fmt: FloatFormat, rng: Random) -> list[Case]:
    """Totals with every number of leading zeros, of either sign, with and without the unit."""
    values = {0, -(1 << width - 1), (1 << width - 1) - 1}
    for top in range(width - 1):
        ulp = max(0, top - fmt.frac_bits)
        half = 1 << ulp >> 1
        some = rng.getrandbits(top) if top else 0
        for low in (
            0,
            1,
            half,
            half + 1,
            half - 1,
            (1 << top) - 1,
            some,
            some >> ulp << ulp | half,
        ):
            values |= {(1 << top) + low, -(1 << top) - low}
    fit = [value for value in sorted(values) if -(1 << width - 1) <= value < 1 << width - 1]
    found = []
    for value in fit:
        total = value % (1 << width) << 1
        for unit in (0, 1):
            found.append((total | unit, rng.choice((254, 260, rng.randrange(509))), 0))
    ends = rng.sample(fit, 12)
    found += [
        (value % (1 << width) << 1, largest, 0)
        for value in ends
        for largest in (*range(110, 150, 3), *range(370, 405, 3))
    ]
    return found + [(rng.getrandbits(width + 1), 254, special) for special in range(2, 8)]


@pytest.mark.parametrize(
    ("window", "width", "precision"), [(32, 32, 24), (28, 32, 24), (32, 39, 28), (16, 17, 24),
                                       (32, 47, 25)]
)  # fmt: skip
def test_sums_are_rounded(window: int, width: int, precision: int) -> None:
    fmt = FloatFormat(8, precision - 1)
    given = cases(width, fmt, Random(width))
    given += [given[0]] * LATENCY
    bench = BlockBench(
        fused_normalise, "clk", total=bits(width + 1), largest=bits(9), special=bits(3),
        y=bits(fmt.width), window=window, fmt=fmt,
    )  # fmt: skip
    names = ("total", "largest", "special")
    trace = bench.run(lambda cycle, _: dict(zip(names, given[cycle], strict=True)), len(given))
    y = trace.column("y")[LATENCY:]
    for (total, largest, special), found in zip(given, y, strict=False):
        if special & 4:
            wanted = fmt.nan
        elif special & 2:
            wanted = fmt.inf | (fmt.sign_bit if special & 1 else 0)
        else:
            value = (total >> 1) - (total >> width << width) + (total & 1)
            wanted = rounded(value, largest - window - 250, fmt)
        assert found == wanted, (hex(total), largest, special)


def test_the_reach_of_binary32() -> None:
    """Sums on either side of the smallest normal and of the largest number."""
    assert rounded(1, -126, BINARY32) == 1 << 23
    assert rounded(-1, -127, BINARY32) == BINARY32.sign_bit
    assert rounded((1 << 25) - 1, 104, BINARY32) == BINARY32.inf
    assert rounded((1 << 24) - 1, 104, BINARY32) == BINARY32.inf - 1
