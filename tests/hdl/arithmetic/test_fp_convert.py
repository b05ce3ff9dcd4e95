"""The conversion between formats against the golden model: borders first, then every class."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest
from myhdl import Signal

from merp.cosim.block.replay import lint_verilog, replay
from merp.hdl.arithmetic.fp_convert import fp_convert
from merp.hdl.base.signals import bits
from merp.models.arithmetic.fp_convert import fp_convert as golden
from merp.models.params.formats import BFLOAT16, BINARY32, FloatFormat
from merp.testbenches.arithmetic.fp_bench import CLASSES, corner_values
from merp.testbenches.block.trace import Trace, run_block

PAIRS = [
    *((FloatFormat(8, bits), BINARY32) for bits in (24, 25, 27)),
    (BINARY32, BFLOAT16),
    (FloatFormat(4, 6), FloatFormat(4, 3)),
    (FloatFormat(3, 3), FloatFormat(3, 2)),
]
every_pair = pytest.mark.parametrize(
    ("fmt", "target"), PAIRS, ids=[f"e{a.exp_bits}f{a.frac_bits}-f{b.frac_bits}" for a, b in PAIRS]
)


def run(words: list[int], fmt: FloatFormat, target: FloatFormat) -> Trace:
    stream = [*words, 0]
    args = {"clk": Signal(bool(0)), "a": bits(fmt.width), "y": bits(target.width)}
    args |= {"fmt": fmt, "target": target}
    return run_block(fp_convert, args, ("a",), lambda i, _: {"a": stream[i]}, len(stream))


def check(words: list[int], fmt: FloatFormat, target: FloatFormat) -> Trace:
    trace = run(words, fmt, target)
    wanted = golden(words, fmt, target).tolist()
    for word, got, should in zip(words, trace.column("y")[1:], wanted, strict=True):
        assert got == should, f"{word:x}: {got:x}, not {should:x}"
    return trace


def borders(fmt: FloatFormat, target: FloatFormat) -> list[int]:
    """Every remainder, after even and odd and full fractions, at both ends of the exponents."""
    lost = fmt.frac_bits - target.frac_bits
    tails = sorted(
        {0, 1, (1 << lost >> 1) - 1, 1 << lost >> 1, (1 << lost >> 1) + 1, (1 << lost) - 1}
    )
    ones = (1 << target.frac_bits) - 1
    fields = (0, 1, fmt.bias, fmt.exp_max - 1, fmt.exp_max)
    kept = (0, 1, ones - 1, ones)
    return corner_values(fmt) + [
        sign | field << fmt.frac_bits | fraction << lost | tail & (1 << lost) - 1
        for sign, field, fraction, tail in product((0, fmt.sign_bit), fields, kept, tails)
    ]


@every_pair
def test_fp_convert_borders(fmt: FloatFormat, target: FloatFormat) -> None:
    check(borders(fmt, target), fmt, target)


@every_pair
@pytest.mark.parametrize("kind", CLASSES)
def test_fp_convert_random(kind: str, fmt: FloatFormat, target: FloatFormat) -> None:
    pairs = CLASSES[kind](fmt, 200, Random(f"convert {kind} {fmt}"))
    check([word for pair in pairs for word in pair], fmt, target)


def test_fp_convert_exhaustive_small_format() -> None:
    fmt = FloatFormat(4, 6)
    check(list(range(1 << fmt.width)), fmt, FloatFormat(4, 3))


def test_fp_convert_latency_and_throughput() -> None:
    fmt = FloatFormat(8, 27)
    words = [BINARY32.one + (n << 20) for n in range(8)]
    trace = run([0, *(word << 4 for word in words)], fmt, BINARY32)
    assert trace.column("y") == [0, 0, *words]


@pytest.mark.parametrize("target", [FloatFormat(8, 27), FloatFormat(7, 20)])
def test_fp_convert_rejects_what_is_not_narrower(target: FloatFormat) -> None:
    with pytest.raises(ValueError, match=r"target must be .* with a shorter fraction"):
        run([0], FloatFormat(8, 27), target)


@pytest.mark.ghdl
@every_pair
def test_fp_convert_vhdl(fmt: FloatFormat, target: FloatFormat, tmp_path: Path) -> None:
    words = borders(fmt, target)
    for make in CLASSES.values():
        words += [a for a, _ in make(fmt, 100, Random(1))]
    assert replay(check(words, fmt, target), tmp_path) == len(words) + 1


@pytest.mark.verilator
@every_pair
def test_fp_convert_verilog_is_clean(fmt: FloatFormat, target: FloatFormat, tmp_path: Path) -> None:
    trace = run([0], fmt, target)
    lint_verilog(trace.block, trace.args, tmp_path)
