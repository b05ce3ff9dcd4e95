"""The blocks of tanh and of its derivative against their golden models."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.arithmetic.tanh import tanh
from merp.hdl.arithmetic.tanh_slope import tanh_slope
from merp.hdl.base.signals import bits
from merp.models.arithmetic.tanh import tanh as golden
from merp.models.arithmetic.tanh import through_tanh
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.base.tanh_table import TANH_LATENCY

ONE = BINARY32.one
SPECIAL = [
    0, 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, BINARY32.inf, BINARY32.inf + 1, BINARY32.nan,
    0x7FFFFFFF, ONE, ONE - 1, ONE + 1, 0x41102CB4, 0x41102CB3, 0x41200000,
]  # fmt: skip


def corners() -> list[int]:
    """Special words, and both ends of every octave and of some segments, with both signs."""
    ends = [
        (exponent << 23) + (segment << 16) + step
        for exponent in range(112, 134)
        for segment in (0, 1, 64, 127)
        for step in (-1, 0, 1, 0x7FFF, 0xFFFF)
    ]
    return [word | sign for word in SPECIAL + ends for sign in (0, BINARY32.sign_bit)]


def elements(number: int, rng: Random) -> list[int]:
    """Words from the octaves of the table and the octaves next to them."""
    return [
        rng.getrandbits(1) << 31 | rng.randint(113, 132) << 23 | rng.getrandbits(23)
        for _ in range(number)
    ]


def run(words: list[int]) -> Recorded:
    args = {"x": bits(32), "y": bits(32), "fmt": BINARY32}
    return BlockBench(tanh, "clk", **args).feed(x=words + [0] * TANH_LATENCY)


def check(words: list[int]) -> Recorded:
    trace = run(words)
    for word, found, wanted in zip(
        words, trace.column("y")[TANH_LATENCY:], golden(words, BINARY32).tolist(), strict=True
    ):
        assert found == wanted, f"{word:08x}: {found:08x}, not {wanted:08x}"
    return trace


def test_tanh_corners() -> None:
    check(corners())


def test_tanh_random() -> None:
    check(elements(3000, Random("tanh")))


def pairs(number: int, rng: Random) -> tuple[list[int], list[int]]:
    """Deltas and results of tanh, special ones first."""
    words = [*SPECIAL, *(word | BINARY32.sign_bit for word in SPECIAL)]
    results = golden(words + elements(number, rng), BINARY32).tolist()
    deltas = [rng.choice(words) for _ in words]
    return deltas + [rng.getrandbits(32) for _ in range(number)], results


def run_slope(deltas: list[int], results: list[int], multiply: int, add: int) -> Recorded:
    args = {name: bits(32) for name in ("delta", "y", "product")}
    args |= {"fmt": BINARY32, "mul_latency": multiply, "add_latency": add}
    tail = [0] * (add + 2 * multiply)
    return BlockBench(tanh_slope, "clk", **args).feed(delta=deltas + tail, y=results + tail)


@pytest.mark.parametrize(("multiply", "add"), [(3, 4), (1, 1), (2, 5)])
def test_tanh_slope(multiply: int, add: int) -> None:
    deltas, results = pairs(300, Random("slope"))
    found = run_slope(deltas, results, multiply, add).column("product")[add + 2 * multiply :]
    assert found == through_tanh(deltas, results, BINARY32).tolist()


@pytest.mark.parametrize("block", [tanh, tanh_slope])
def test_other_formats_are_refused(block: object) -> None:
    words = ("x", "y") if block is tanh else ("delta", "y", "product")
    args = {name: bits(16) for name in words} | {"fmt": BFLOAT16}
    if block is tanh_slope:
        args |= {"mul_latency": 3, "add_latency": 4}
    with pytest.raises(ValueError, match="bfloat16 is not allowed; allowed is binary32"):
        BlockBench(block, "clk", **args).run([{}])  # type: ignore[arg-type]


@pytest.mark.ghdl
def test_tanh_vhdl(replays: Replays) -> None:
    replays(check(corners()[::3] + elements(100, Random("vhdl"))), lint=True)


@pytest.mark.ghdl
def test_tanh_slope_vhdl(replays: Replays) -> None:
    replays(run_slope(*pairs(30, Random("vhdl")), 3, 4))
