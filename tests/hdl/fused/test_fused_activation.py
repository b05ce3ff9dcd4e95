"""Decoded activations, wide and narrow, against their definition: every class of numbers."""

from random import Random

import pytest

from block_bench import BlockBench
from merp.hdl.base.signals import bits
from merp.hdl.fused.fused_activation import fused_activation
from merp.hdl.fused.narrow_activation import narrow_activation
from merp.models.base.formats import BINARY32
from merp.models.base.fused import activation_bits
from merp.testbenches.arithmetic.fp_bench import corner_values
from merp.testbenches.arithmetic.fused_bench import activation

SIGN, INF, FRACTION = BINARY32.sign_bit, BINARY32.inf, (1 << 23) - 1


def words_for(count: int) -> list[int]:
    rng = Random(count)
    words = [*corner_values(BINARY32), *(rng.getrandbits(32) for _ in range(count))]
    return [word ^ sign for word in words for sign in (0, SIGN)]


@pytest.mark.parametrize("dsp", [1, 2])
def test_numbers_are_decoded(dsp: int) -> None:
    """Exponent and flags a cycle later, the mantissa and its triple two."""
    words = words_for(300)
    bench = BlockBench(
        fused_activation, "clk", word=bits(32), activation=bits(activation_bits(dsp)), dsp=dsp
    )
    trace = bench.feed(word=words)
    parts = [activation(word, dsp) for word in words]
    wanted = [parts[t - 1][0] | parts[t - 2][1] for t in range(2, len(words))]
    assert trace.column("activation")[2:] == wanted


def narrow(word: int, significand: int) -> tuple[bool, bool, bool, int, int | None]:
    """Infinite, zero, negative, significand and exponent field of a number rounded to even.

    A NaN is infinite and zero; the exponent of what is no number means nothing.
    """
    magnitude, negative = word % SIGN, word >= SIGN
    if magnitude <= FRACTION:
        return False, True, negative, 0, 0
    if magnitude > INF:
        return True, True, negative, 1 << significand - 3, None
    lost = 24 - significand
    rest, half = magnitude % (1 << lost), 1 << lost - 1
    kept = magnitude >> lost
    kept += rest > half or (rest == half and kept % 2 == 1)
    if kept << lost >= INF:
        return True, False, negative, 1 << significand - 2, None
    hidden = 1 << significand - 1
    return False, False, negative, hidden | kept % hidden, kept >> significand - 1


@pytest.mark.parametrize("significand", [8, 11])
def test_numbers_are_rounded_and_decoded(significand: int) -> None:
    """Ties and their neighbours, also those that carry into the exponent, up to infinity."""
    last = 1 << 24 - significand
    words = words_for(300)
    for word in (0x3F800000, 0x3F800000 | last, 0x3F800000 | FRACTION & -last, INF - last):
        words += [sign | word + last // 2 + more for more in (-1, 0, 1) for sign in (0, SIGN)]
    words += [INF - 1, SIGN | INF - 1, INF + 1, INF + last, SIGN | INF + last // 2, 0, 0]
    bench = BlockBench(
        narrow_activation, "clk", word=bits(32), activation=bits(activation_bits(1, significand)),
        significand=significand,
    )  # fmt: skip
    trace = bench.feed(word=words)
    found = trace.column("activation")
    for t in range(2, len(words)):
        infinite, zero, negative, _, exponent = narrow(words[t - 1], significand)
        flags = found[t] >> 8 + significand
        assert flags == infinite << 2 | zero << 1 | negative, hex(words[t - 1])
        assert exponent is None or found[t] % 256 == exponent, hex(words[t - 1])
        late = found[t] >> 8 & (1 << significand) - 1
        assert late == narrow(words[t - 2], significand)[3], hex(words[t - 2])
