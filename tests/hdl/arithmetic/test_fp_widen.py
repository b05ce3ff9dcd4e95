"""Floats in a wider format: every word of each narrow one."""

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays
from marks import rows_in_full
from merp.hdl.arithmetic.fp_widen import fp_widen
from merp.hdl.base.signals import bits
from merp.models.arithmetic.fp_convert import fp_convert as golden
from merp.models.arithmetic.words import to_values
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat

SMALL = (
    (FloatFormat(3, 2), FloatFormat(4, 5)),
    (FloatFormat(3, 3), FloatFormat(5, 3)),
    (FloatFormat(4, 3), FloatFormat(4, 6)),
)
PAIRS = ((BINARY16, BINARY32), (BFLOAT16, BINARY32), *SMALL)
every_pair = pytest.mark.parametrize(("fmt", "target"), PAIRS)


def run(words: list[int], fmt: FloatFormat, target: FloatFormat) -> Recorded:
    bench = BlockBench(fp_widen, a=bits(fmt.width), y=bits(target.width), fmt=fmt, target=target)
    return bench.feed(a=words)


def borders(fmt: FloatFormat) -> list[int]:
    """Both ends of every exponent."""
    fractions = (0, 1, (1 << fmt.frac_bits - 1), (1 << fmt.frac_bits) - 1)
    return [
        sign | field << fmt.frac_bits | fraction
        for sign in (0, fmt.sign_bit)
        for field in range(fmt.exp_max + 1)
        for fraction in fractions
    ]


@pytest.mark.sample(2)
@every_pair
def test_every_word(fmt: FloatFormat, target: FloatFormat) -> None:
    """The number, its sign, and the golden's word of it; what is none of its words counts alike."""
    words = np.arange(1 << fmt.width, dtype=np.uint32)
    found = np.array(run(words.tolist(), fmt, target).column("y"), np.uint32)
    wanted = golden(words, fmt, target)
    field, fraction = words >> fmt.frac_bits & fmt.exp_max, words & (1 << fmt.frac_bits) - 1
    odd = (field == 0) & (fraction != 0) | (field == fmt.exp_max) & (fraction != 0)
    odd &= (words != fmt.nan) & (fmt.exp_bits == target.exp_bits)
    assert np.array_equal(found[~odd], wanted[~odd])
    assert np.array_equal(golden(found, target, target), wanted)
    np.testing.assert_array_equal(to_values(found, target), to_values(words, fmt))


@every_pair
def test_back_it_is_the_same_word(fmt: FloatFormat, target: FloatFormat) -> None:
    words = [*range(0, fmt.inf + 1, 37), fmt.nan, fmt.sign_bit, fmt.inf, fmt.sign_bit | fmt.inf]
    words = [word for word in words if word >> fmt.frac_bits or word == 0]
    found = run(words, fmt, target).column("y")
    assert golden(found, target, fmt).tolist() == words


@pytest.mark.parametrize("target", [FloatFormat(4, 12), FloatFormat(8, 9)])
def test_refuses_what_is_not_wider(target: FloatFormat) -> None:
    with pytest.raises(ValueError, match=r"target must be .* with no fewer bits"):
        run([0], BINARY16, target)


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(("fmt", "target"), [*PAIRS[:2], *rows_in_full(*SMALL)])
def test_vhdl_replays(fmt: FloatFormat, target: FloatFormat, replays: Replays) -> None:
    replays(run(borders(fmt), fmt, target), lint=True)
