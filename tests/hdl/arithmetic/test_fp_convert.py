"""The conversion between formats against the golden model: borders first, then every class."""

from itertools import product
from pathlib import Path
from random import Random

import pytest
from myhdl import Signal

from block_bench import BlockBench, Recorded, Replays
from marks import rows_in_full
from merp.cosim.block.replay import lint_verilog
from merp.hdl.arithmetic.fp_convert import fp_convert
from merp.hdl.base.signals import bits
from merp.models.arithmetic.fp_convert import fp_convert as golden
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.testbenches.arithmetic.fp_bench import CLASSES, corner_values

PAIRS = [
    *((FloatFormat(8, bits), BINARY32) for bits in (24, 25, 27)),
    (BINARY32, BFLOAT16),
    (FloatFormat(4, 6), FloatFormat(4, 3)),
    (FloatFormat(3, 3), FloatFormat(3, 2)),
    (BINARY32, BINARY16),
    (FloatFormat(6, 9), FloatFormat(5, 7)),
    (FloatFormat(4, 6), FloatFormat(3, 3)),
]
every_pair = pytest.mark.parametrize(
    ("fmt", "target"),
    PAIRS,
    ids=[f"e{a.exp_bits}f{a.frac_bits}-e{b.exp_bits}f{b.frac_bits}" for a, b in PAIRS],
)
either = pytest.mark.parametrize("latency", [1, 0], ids=["registered", "combinational"])


def run(words: list[int], fmt: FloatFormat, target: FloatFormat, latency: int = 1) -> Recorded:
    stream = [*words, 0]
    clk = Signal(bool(0)) if latency else None
    args = {"clk": clk, "a": bits(fmt.width), "y": bits(target.width)}
    args |= {"fmt": fmt, "target": target}
    return BlockBench(fp_convert, **args).feed(a=stream)


def check(words: list[int], fmt: FloatFormat, target: FloatFormat, latency: int = 1) -> Recorded:
    trace = run(words, fmt, target, latency)
    wanted = golden(words, fmt, target).tolist()
    found = trace.column("y")[latency:][: len(words)]
    for word, got, should in zip(words, found, wanted, strict=True):
        assert got == should, f"{word:x}: {got:x}, not {should:x}"
    return trace


def borders(fmt: FloatFormat, target: FloatFormat) -> list[int]:
    """Every remainder, after even and odd and full fractions, at both ends of the exponents."""
    lost = fmt.frac_bits - target.frac_bits
    tails = sorted(
        {0, 1, (1 << lost >> 1) - 1, 1 << lost >> 1, (1 << lost >> 1) + 1, (1 << lost) - 1}
    )
    ones = (1 << target.frac_bits) - 1
    lowest = fmt.bias - target.bias  # of a number that underflows
    highest = lowest + target.exp_max
    near = (lowest, lowest - target.frac_bits, highest - 1)
    fields = sorted(
        {0, fmt.bias, fmt.exp_max}
        | {field + step for field in near for step in (-1, 0, 1) if field + step > 0}
        | {1, fmt.exp_max - 1}
    )
    kept = (0, 1, ones - 1, ones)
    return corner_values(fmt) + [
        sign | field << fmt.frac_bits | fraction << lost | tail & (1 << lost) - 1
        for sign, field, fraction, tail in product((0, fmt.sign_bit), fields, kept, tails)
    ]


@every_pair
@either
def test_fp_convert_borders(latency: int, fmt: FloatFormat, target: FloatFormat) -> None:
    check(borders(fmt, target), fmt, target, latency)


@pytest.mark.sample(15)
@every_pair
@pytest.mark.parametrize("kind", CLASSES)
def test_fp_convert_random(kind: str, fmt: FloatFormat, target: FloatFormat) -> None:
    pairs = CLASSES[kind](fmt, 200, Random(f"convert {kind} {fmt}"))
    check([word for pair in pairs for word in pair], fmt, target)


@pytest.mark.parametrize("target", [FloatFormat(4, 3), FloatFormat(3, 3)])
@either
def test_fp_convert_exhaustive_small_format(latency: int, target: FloatFormat) -> None:
    fmt = FloatFormat(4, 6)
    check(list(range(1 << fmt.width)), fmt, target, latency)


@pytest.mark.parametrize(
    ("word", "rounded"),
    [
        (0x387FF000, 0x0400),  # between the largest subnormal and the smallest normal: up, to it
        (0x387FEFFF, 0x0000),  # just below the middle: rounds to less, and is flushed
        (0xB87FEFFF, 0x8000),
        (0x477FEFFF, 0x7BFF),  # just below the middle between the largest and the next power
        (0x477FF000, 0x7C00),  # the middle: to even, which is infinity
        (0xC77FF000, 0xFC00),
        (0x3F801000, 0x3C00),  # ties
        (0x3F803000, 0x3C02),
        (0x3FFFF000, 0x4000),  # a carry into the exponent
        (0x00000001, 0x0000),
        (0x80400000, 0x8000),
        (0xFF800001, 0x7E00),  # NaNs lose sign and payload
    ],
)
def test_fp_convert_to_binary16(word: int, rounded: int) -> None:
    assert run([word], BINARY32, BINARY16, 0).column("y")[0] == rounded


def test_fp_convert_latency_and_throughput() -> None:
    fmt = FloatFormat(8, 27)
    words = [BINARY32.one + (n << 20) for n in range(8)]
    trace = run([0, *(word << 4 for word in words)], fmt, BINARY32)
    assert trace.column("y") == [0, 0, *words]


@pytest.mark.parametrize(
    ("fmt", "target"),
    [
        (FloatFormat(8, 27), FloatFormat(8, 27)),
        (FloatFormat(7, 20), FloatFormat(8, 10)),
        (FloatFormat(8, 10), FloatFormat(7, 10)),
    ],
)
def test_fp_convert_rejects_what_is_not_narrower(fmt: FloatFormat, target: FloatFormat) -> None:
    with pytest.raises(ValueError, match=r"target must be .* with a shorter fraction"):
        run([0], fmt, target)


NARROW = [(BINARY32, BINARY16, 0), (BINARY32, BFLOAT16, 0)]  # at the border of an engine
MORE = [*((*pair, 1) for pair in PAIRS[1:]), *((*pair, 0) for pair in (*PAIRS[:3], *PAIRS[7:]))]
BUILT = [(*PAIRS[0], 1), *NARROW, *rows_in_full(*MORE)]
each_built = pytest.mark.parametrize(("fmt", "target", "latency"), BUILT)


@pytest.mark.sample(1)
@pytest.mark.ghdl
@each_built
def test_fp_convert_vhdl(
    fmt: FloatFormat, target: FloatFormat, latency: int, replays: Replays
) -> None:
    words = borders(fmt, target)
    for make in CLASSES.values():
        words += [a for a, _ in make(fmt, 100, Random(1))]
    assert replays(check(words, fmt, target, latency)) == len(words) + 1


@pytest.mark.verilator
@each_built
def test_fp_convert_verilog_is_clean(
    fmt: FloatFormat, target: FloatFormat, latency: int, tmp_path: Path
) -> None:
    trace = run([0], fmt, target, latency)
    lint_verilog(trace.block, trace.args, tmp_path)
