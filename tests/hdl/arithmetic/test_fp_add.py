"""The adder against the golden model: borders first, then every class of pairs."""

from itertools import product
from pathlib import Path
from random import Random

import pytest

from block_bench import Replays
from marks import few, in_full
from merp.cosim.block.replay import lint_verilog
from merp.models.arithmetic.fp_add import fp_add
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.testbenches.arithmetic.fp_bench import CLASSES, Pair, corner_pairs, run_fp
from merp.testbenches.block.trace import Trace

LATENCIES = (1, 2, 3, 4, 5)
ODD = FloatFormat(4, 3)
FORMATS = {
    "binary32": BINARY32,
    "bfloat16": BFLOAT16,
    "binary16": BINARY16,
    "e4f3": ODD,
    "e3f2": FloatFormat(3, 2),
    "e3f23": FloatFormat(3, 23),
    "e8f2": FloatFormat(8, 2),
    "e8f27": FloatFormat(8, 27),  # of wide accumulators
}
every_format = pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
every_latency = pytest.mark.parametrize("latency", few(LATENCIES, 1, 4))

DIRECTED = [
    (0x3F800000, 0x80000000, 0x3F800000),  # zero beside a number
    (0x00000000, 0x80000000, 0x00000000),
    (0x80000000, 0x80000000, 0x80000000),
    (0x80000001, 0x80000001, 0x80000000),  # a subnormal is a zero
    (0x80000001, 0x007FFFFF, 0x00000000),
    (0x00800000, 0x807FFFFF, 0x00800000),
    (0x3F800001, 0x007FFFFF, 0x3F800001),
    (0x3F800000, 0xBF800000, 0x00000000),  # exact cancellation is +0
    (0xBF800000, 0x3F800000, 0x00000000),
    (0x3F800001, 0xBF800000, 0x34000000),  # 23 leading zeros
    (0x3F800000, 0xBF7FFFFF, 0x33800000),  # 24: the guard bit is the sum
    (0x00800001, 0x80800000, 0x00000000),  # an exact difference below the smallest normal
    (0x80800001, 0x00800000, 0x80000000),
    (0x01000000, 0x80800000, 0x00800000),  # the smallest normal, exact
    (0x01000000, 0x80800001, 0x00000000),
    (0x3F800000, 0x33800000, 0x3F800000),  # ties, down and up to even
    (0x3F800001, 0x33800000, 0x3F800002),
    (0x3F800000, 0x33800001, 0x3F800001),  # above a tie by the last bit lost
    (0x3F800000, 0xB3000000, 0x3F800000),  # a tie below 1, where places are half as wide
    (0x3F800000, 0xB3000001, 0x3F7FFFFF),
    (0x3F800001, 0xB3800000, 0x3F800000),
    (0x3F800001, 0xB3800001, 0x3F800000),
    (0x3F800000, 0xB2FFFFFF, 0x3F800000),
    (0x3FE00000, 0x3E800004, 0x40000000),  # a tie at twice the place, after a carry
    (0x3FE00000, 0x3E800005, 0x40000001),  # above it by either of the two bits below
    (0x3FE00000, 0x3E800006, 0x40000001),
    (0x3FFFFFFF, 0x33800000, 0x40000000),  # rounding carries into the exponent
    (0x3F800000, 0xB2800000, 0x3F800000),  # beyond the guard and round bits: sticky only
    (0x3F800000, 0x00800000, 0x3F800000),  # out of the shifter's reach
    (0x3F800000, 0x80800000, 0x3F800000),
    (0x4B800001, 0x3F800000, 0x4B800002),  # 24 places apart
    (0x4F800000, 0xBFFFFFFF, 0x4F800000),  # 32 places apart, the shifter's reach
    (0x4F000000, 0xBFFFFFFF, 0x4F000000),
    (0x7F7FFFFF, 0x73000000, 0x7F800000),  # a tie up to infinity
    (0x7F7FFFFF, 0x72FFFFFF, 0x7F7FFFFF),
    (0x7F7FFFFF, 0x7F7FFFFF, 0x7F800000),
    (0xFF7FFFFF, 0xFF7FFFFF, 0xFF800000),
    (0x7F800000, 0xFF7FFFFF, 0x7F800000),
    (0xFF800000, 0xFF800000, 0xFF800000),
    (0x7F800000, 0xFF800000, 0x7FC00000),  # infinity minus infinity
    (0xFF800001, 0x7F800000, 0x7FC00000),  # every NaN is the canonical one
    (0x3F800000, 0xFFFFFFFF, 0x7FC00000),
    (0x7F800001, 0x7F800001, 0x7FC00000),
]


def check(pairs: list[Pair], fmt: FloatFormat, latency: int) -> Trace:
    assert pairs
    a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    run = run_fp("add", a, b, fmt, latency)
    wanted = fp_add(a, b, fmt).tolist()
    assert len(run.results) == len(wanted)
    for x, y, got, word in zip(a, b, run.results, wanted, strict=True):
        assert got == word, f"{x:x} + {y:x}: {got:x}, not {word:x}"
    return run.trace


@every_latency
def test_fp_add_directed(latency: int) -> None:
    a, b, wanted = (list(column) for column in zip(*DIRECTED, strict=True))
    assert run_fp("add", a + b, b + a, BINARY32, latency).results == wanted * 2


@pytest.mark.sample(3)
@every_format
def test_fp_add_corners(fmt: FloatFormat) -> None:
    check(corner_pairs(fmt), fmt, 4)


@pytest.mark.parametrize("latency", [1, 2, 3, 5])
def test_fp_add_corners_other_latencies(latency: int) -> None:
    check(corner_pairs(BINARY16), BINARY16, latency)


@pytest.mark.full  # every pair of a format as small, and corners of all, are in the golden's tests
def test_fp_add_exhaustive_small_format() -> None:
    check(list(product(range(1 << ODD.width), repeat=2)), ODD, 1)


@pytest.mark.sample(13)
@every_format
@pytest.mark.parametrize("kind", CLASSES)
def test_fp_add_random(kind: str, fmt: FloatFormat) -> None:
    rng = Random(f"add {kind} {fmt}")
    check(CLASSES[kind](fmt, 400, rng), fmt, rng.choice(LATENCIES))


@every_latency
def test_fp_add_latency_and_throughput(latency: int) -> None:
    """Nothing before the declared cycle, one result in each cycle from there on."""
    fmt = BINARY32
    words = [fmt.one + (n << fmt.frac_bits - 3) for n in range(8)]
    run = run_fp("add", [0, *words, 0], [0] * 10, fmt, latency)
    assert run.trace.column("y") == [0] * (1 + latency) + words + [0]


@pytest.mark.parametrize("latency", [0, 6])
def test_fp_add_rejects_latency(latency: int) -> None:
    with pytest.raises(ValueError, match=f"latency must be 1 to 5, not {latency}"):
        run_fp("add", [0], [0], ODD, latency)


@pytest.mark.ghdl
@every_latency
@pytest.mark.parametrize("fmt", [ODD, *in_full(BINARY32)], ids=["e4f3", "binary32"])
def test_fp_add_vhdl(fmt: FloatFormat, latency: int, replays: Replays) -> None:
    rng = Random(latency)
    pairs = corner_pairs(fmt)
    for make in CLASSES.values():
        pairs += make(fmt, 100, rng)
    if fmt == BINARY32:
        pairs += [(a, b) for a, b, _ in DIRECTED]
    assert replays(check(pairs, fmt, latency)) == len(pairs) + latency


@pytest.mark.verilator
@every_latency
def test_fp_add_verilog_is_clean(latency: int, tmp_path: Path) -> None:
    run = run_fp("add", [0], [0], BINARY32, latency)
    lint_verilog(run.trace.block, run.trace.args, tmp_path)
