"""The adder tree against the golden model: order of the sums, odd elements, latency."""

from pathlib import Path
from random import Random

import pytest
from myhdl import Signal

from block_bench import BlockBench, Recorded, Replays
from marks import few
from merp.cosim.block.replay import lint_verilog
from merp.hdl.arithmetic.fp_tree import fp_tree
from merp.hdl.base.signals import bits
from merp.models.arithmetic.fp_tree import fp_tree as golden
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.testbenches.arithmetic.fp_bench import corner_values

# Two levels of odd elements, one passing through several levels, powers of two, the CUs' sizes.
COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 17, 25)


def depth(count: int) -> int:
    return (count - 1).bit_length()


def run(vectors: list[list[int]], fmt: FloatFormat, latency: int) -> Recorded:
    """Drive one vector of terms per cycle, then zeros until the last sum is out."""
    count, width = len(vectors[0]), fmt.width
    words = [sum(term << i * width for i, term in enumerate(terms)) for terms in vectors]
    words += [0] * (depth(count) * latency)
    bench = BlockBench(
        fp_tree, "clk", terms=bits(count * width), y=bits(width), count=count, fmt=fmt,
        latency=latency,
    )  # fmt: skip
    return bench.feed(terms=words)


def check(vectors: list[list[int]], fmt: FloatFormat, latency: int) -> Recorded:
    trace = run(vectors, fmt, latency)
    assert trace.column("y")[depth(len(vectors[0])) * latency :] == golden(vectors, fmt).tolist()
    return trace


def random_vectors(count: int, fmt: FloatFormat, cycles: int, rng: Random) -> list[list[int]]:
    """Terms of like magnitude, where the order of the sums shows, and a corner now and then."""
    corners = corner_values(fmt)

    def term() -> int:
        if rng.random() < 0.02:
            return rng.choice(corners)
        exponent = fmt.bias + rng.randrange(-3, 4)
        sign_and_frac = rng.getrandbits(1) * fmt.sign_bit | rng.getrandbits(fmt.frac_bits)
        return sign_and_frac | exponent << fmt.frac_bits

    return [[term() for _ in range(count)] for _ in range(cycles)]


def test_fp_tree_order_is_specified() -> None:
    """Neighbours are paired: term by term the first sum is 0, half by half the second is 1."""
    one, two, big, minus_big = 0x3F800000, 0x40000000, 0x4B800000, 0xCB800000  # big is 2^24
    trace = check([[big, one, one, minus_big], [one, one, big, minus_big]], BINARY32, 1)
    assert trace.column("y")[2:] == [one, two]


@pytest.mark.parametrize("count", COUNTS)
def test_fp_tree_random(count: int) -> None:
    rng = Random(count)
    check(random_vectors(count, BINARY32, 40, rng), BINARY32, rng.randrange(1, 6))


@pytest.mark.sample(2)
@pytest.mark.parametrize("latency", [1, 2, 3, 4, 5])
def test_fp_tree_latencies(latency: int) -> None:
    check(random_vectors(7, BFLOAT16, 40, Random(latency)), BFLOAT16, latency)


def test_fp_tree_single_term_is_a_wire() -> None:
    """Not even a NaN is made canonical, nor a subnormal flushed: nothing is added."""
    words = [0x7F800001, 0x80000001, 0x3F800000]
    assert run([[word] for word in words], BINARY32, 4).column("y") == words


@pytest.mark.parametrize("place", range(5))
def test_fp_tree_latency(place: int) -> None:
    """One term in an empty tree, from each place: its sum comes in the declared cycle, for one."""
    one = [BFLOAT16.one if i == place else 0 for i in range(5)]
    y = run([[0] * 5, one, [0] * 5, [0] * 5], BFLOAT16, 3).column("y")
    assert y == [0] * 10 + [BFLOAT16.one] + [0] * 2


def test_fp_tree_rejects_count() -> None:
    with pytest.raises(ValueError, match="count must be 1 or more, not 0"):
        fp_tree(Signal(bool(0)), bits(32), bits(32), 0, BINARY32, 1)


@pytest.mark.sample(2)
@pytest.mark.ghdl
@pytest.mark.parametrize(("count", "latency"), [(1, 4), (2, 1), (5, 3), (9, 4)])
@pytest.mark.parametrize("fmt", few([BINARY32, BFLOAT16], BFLOAT16), ids=["binary32", "bfloat16"])
def test_fp_tree_vhdl(count: int, latency: int, fmt: FloatFormat, replays: Replays) -> None:
    replays(check(random_vectors(count, fmt, 60, Random(count)), fmt, latency))


@pytest.mark.verilator
@pytest.mark.parametrize("count", [1, 5])
def test_fp_tree_verilog_is_clean(count: int, tmp_path: Path) -> None:
    trace = run([[0] * count], BFLOAT16, 4)
    lint_verilog(trace.block, trace.args, tmp_path)
