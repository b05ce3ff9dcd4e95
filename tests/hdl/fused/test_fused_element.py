"""An operand that is kept gives its number back: every class of numbers, and random words."""

from random import Random
from typing import Any

import pytest
from myhdl import ConcatSignal, always_comb

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_element import fused_element
from merp.hdl.fused.fused_operand import fused_operand
from merp.models.base.formats import BINARY32
from merp.models.base.fused import OPERAND_BITS
from merp.testbenches.arithmetic.fp_bench import corner_values

SIGN = BINARY32.sign_bit


@entity
def there_and_back(clk: Bit, word: Word, element: Word) -> Any:
    """Decode a number and encode it again, a cycle later."""
    operand, kept = bits(OPERAND_BITS), bits(OPERAND_BITS + 1)
    joined = ConcatSignal(word(BINARY32.width - 1), operand)

    @always_comb
    def keep() -> None:
        kept.next = joined

    return (
        fused_operand(word=word, operand=operand),
        keep,
        fused_element(clk, operand=kept, element=element),
    )


def as_kept(word: int) -> int:
    magnitude = word % SIGN
    if magnitude < 1 << BINARY32.frac_bits:
        return word - magnitude
    return BINARY32.nan if magnitude > BINARY32.inf else word


def run(count: int) -> Recorded:
    rng = Random(count)
    words = [*corner_values(BINARY32), *(rng.getrandbits(32) for _ in range(count))]
    words += [word ^ SIGN for word in words]
    bench = BlockBench(there_and_back, "clk", word=bits(32), element=bits(32))
    trace = bench.feed(word=words)
    assert trace.column("element")[1:] == [as_kept(word) for word in words[:-1]]
    return trace


def test_every_number_comes_back() -> None:
    run(3000)


@pytest.mark.ghdl
def test_fused_element_vhdl(replays: Replays) -> None:
    replays(run(300))
