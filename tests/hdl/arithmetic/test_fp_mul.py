"""The multiplier against the golden model: borders first, then every class of pairs."""

from itertools import product
from pathlib import Path
from random import Random

import pytest

from block_bench import Replays
from marks import in_full
from merp.cosim.block.replay import lint_verilog
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.testbenches.arithmetic.fp_bench import CLASSES, Pair, corner_pairs, run_fp
from merp.testbenches.block.trace import Trace

LATENCIES = (1, 2, 3)
BESIDE = 8  # bits that leave binary32 a single DSP block
ODD = FloatFormat(4, 3)
FORMATS = {
    "binary32": BINARY32,
    "bfloat16": BFLOAT16,
    "binary16": BINARY16,
    "e4f3": ODD,
    "e3f2": FloatFormat(3, 2),
    "e3f23": FloatFormat(3, 23),
    "e3f17": FloatFormat(3, 17),  # a significand with a bit more than a DSP block takes
    "e8f2": FloatFormat(8, 2),
}
every_format = pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
every_latency = pytest.mark.parametrize("latency", LATENCIES)

DIRECTED = [
    (0x3F800001, 0x3F800001, 0x3F800002),  # the sticky bit alone, below the guard bit
    (0x3F800003, 0x3FC00000, 0x3FC00004),  # a tie, down and up to even
    (0x3F800001, 0x3FC00000, 0x3FC00002),
    (0x3F800001, 0x3FC00001, 0x3FC00003),  # just above that tie
    (0x3FC0000B, 0x3FEE8BA3, 0x4032E8C5),  # above a tie by the lowest bit of the product
    (0xBF800000, 0xBF800000, 0x3F800000),
    (0x3FFFFFFF, 0x3FFFFFFF, 0x407FFFFE),  # product above 2
    (0x3FFFFFFF, 0x3F800001, 0x40000000),  # rounding carries into the exponent
    (0x3FC00000, 0x3FAAAAAB, 0x40000000),
    (0x00800001, 0x3F7FFFFE, 0x00800000),  # rounding carries up to the smallest normal
    (0x00800000, 0x3F7FFFFF, 0x00000000),  # exact, and below it
    (0x80800000, 0x3F000000, 0x80000000),
    (0x00800000, 0x00800000, 0x00000000),  # the smallest exponent of all
    (0x7F7FFFFF, 0x3F800000, 0x7F7FFFFF),
    (0x7F7FFFFE, 0x3F800001, 0x7F800000),  # rounding carries up to infinity
    (0x7F7FFFFF, 0x3FC00000, 0x7F800000),  # the exponent of infinities, a fraction to clear
    (0x7F7FFFFF, 0xFF7FFFFF, 0xFF800000),  # the largest exponent of all
    (0x007FFFFF, 0x7F7FFFFF, 0x00000000),  # a subnormal is a zero
    (0x807FFFFF, 0x3F800000, 0x80000000),
    (0x7F800000, 0x80000001, 0x7FC00000),  # even where infinity meets it
    (0x00000000, 0xFF800000, 0x7FC00000),
    (0x7F800000, 0x80800000, 0xFF800000),
    (0xFF800001, 0x3F800000, 0x7FC00000),  # every NaN is the canonical one
    (0x3F800000, 0xFFFFFFFF, 0x7FC00000),
    (0x00000000, 0xFFC00000, 0x7FC00000),
]


def check(pairs: list[Pair], fmt: FloatFormat, latency: int, **built: int) -> Trace:
    assert pairs
    a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    run = run_fp("mul", a, b, fmt, latency, **built)
    wanted = fp_mul(a, b, fmt).tolist()
    assert len(run.results) == len(wanted)
    for x, y, got, word in zip(a, b, run.results, wanted, strict=True):
        assert got == word, f"{x:x} * {y:x}: {got:x}, not {word:x}"
    return run.trace


@every_latency
@pytest.mark.parametrize("built", [{}, {"beside": BESIDE}, {"late": True}], ids=str)
def test_fp_mul_directed(built: dict[str, int], latency: int) -> None:
    a, b, wanted = (list(column) for column in zip(*DIRECTED, strict=True))
    assert run_fp("mul", a + b, b + a, BINARY32, latency, **built).results == wanted * 2


@every_format
def test_fp_mul_corners(fmt: FloatFormat) -> None:
    check(corner_pairs(fmt), fmt, 3)


@pytest.mark.parametrize("latency", LATENCIES[:2])
def test_fp_mul_corners_other_latencies(latency: int) -> None:
    check(corner_pairs(BINARY16), BINARY16, latency)


@pytest.mark.full  # every pair of a format as small, and corners of all, are in the golden's tests
def test_fp_mul_exhaustive_small_format() -> None:
    check(list(product(range(1 << ODD.width), repeat=2)), ODD, 1)


@pytest.mark.sample(14)
@every_format
@pytest.mark.parametrize("kind", CLASSES)
def test_fp_mul_random(kind: str, fmt: FloatFormat) -> None:
    rng = Random(f"mul {kind} {fmt}")
    latency, late = rng.choice(LATENCIES), rng.choice([False, True])
    check(CLASSES[kind](fmt, 400, rng), fmt, latency, late=late)


@pytest.mark.parametrize("fmt", [BINARY32, FORMATS["e3f17"], ODD], ids=str)
def test_fp_mul_of_late_factors(fmt: FloatFormat) -> None:
    """In two DSP blocks side by side; of the second one in e3f17 a bit is used, in e4f3 none."""
    rng = Random(f"late {fmt}")
    some = [pair for make in CLASSES.values() for pair in make(fmt, 200, rng)]
    check(corner_pairs(fmt) + some, fmt, 3, late=True)


@pytest.mark.parametrize("beside", [2, BESIDE])
def test_fp_mul_bits_beside_the_dsp_blocks(beside: int) -> None:
    """Every value of the digits, with every class of pairs."""
    rng = Random(beside)
    low = (1 << beside) - 1
    every = [(rng.getrandbits(32), rng.getrandbits(32) & ~low | n & low) for n in range(512)]
    check(corner_pairs(BINARY32) + every, BINARY32, 3, beside=beside)


@every_latency
def test_fp_mul_latency_and_throughput(latency: int) -> None:
    """Nothing before the declared cycle, one result in each cycle from there on."""
    fmt = BINARY32
    words = [fmt.one + (n << fmt.frac_bits - 3) for n in range(8)]
    run = run_fp("mul", [0, *words, 0], [fmt.one] * 10, fmt, latency)
    assert run.trace.column("y") == [0] * (1 + latency) + words + [0]


@pytest.mark.parametrize("latency", [0, 4])
def test_fp_mul_rejects_latency(latency: int) -> None:
    with pytest.raises(ValueError, match=f"latency must be 1 to 3, not {latency}"):
        run_fp("mul", [0], [0], ODD, latency)


@pytest.mark.parametrize("beside", [1, 3, 6])
def test_fp_mul_rejects_bits_beside(beside: int) -> None:
    with pytest.raises(ValueError, match=f"takes 2, 4, 8 ... bits, not {beside}"):
        run_fp("mul", [0], [0], BINARY32, 3, beside=beside)


@pytest.mark.sample(1)
@pytest.mark.ghdl
@every_latency
@pytest.mark.parametrize("fmt", [ODD, *in_full(BINARY32)], ids=["e4f3", "binary32"])
def test_fp_mul_vhdl(fmt: FloatFormat, latency: int, replays: Replays) -> None:
    rng = Random(latency)
    pairs = corner_pairs(fmt)
    for make in CLASSES.values():
        pairs += make(fmt, 100, rng)
    if fmt == BINARY32:
        pairs += [(a, b) for a, b, _ in DIRECTED]
    assert replays(check(pairs, fmt, latency)) == len(pairs) + latency


@pytest.mark.ghdl
@pytest.mark.parametrize("latency", [*in_full(1, 2), 3])
def test_fp_mul_vhdl_bits_beside_the_dsp_blocks(latency: int, replays: Replays) -> None:
    rng = Random(latency)
    pairs = [(a, b) for a, b, _ in DIRECTED]
    for make in CLASSES.values():
        pairs += make(BINARY32, 100, rng)
    assert replays(check(pairs, BINARY32, latency, beside=BESIDE)) == len(pairs) + latency


@pytest.mark.ghdl
@pytest.mark.parametrize("fmt", [BINARY32, FORMATS["e3f17"]], ids=["binary32", "e3f17"])
def test_fp_mul_vhdl_of_late_factors(fmt: FloatFormat, replays: Replays) -> None:
    rng = Random(f"late {fmt}")
    pairs = [pair for make in CLASSES.values() for pair in make(fmt, 100, rng)]
    if fmt == BINARY32:
        pairs += [(a, b) for a, b, _ in DIRECTED]
    assert replays(check(pairs, fmt, 3, late=True)) == len(pairs) + 3


@pytest.mark.verilator
@every_latency
def test_fp_mul_verilog_is_clean(latency: int, tmp_path: Path) -> None:
    run = run_fp("mul", [0], [0], BINARY32, latency, late=True)
    lint_verilog(run.trace.block, run.trace.args, tmp_path)
