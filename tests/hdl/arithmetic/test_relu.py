"""ReLU, ReLU6, leaky ReLU, masks, the larger of two: corners, and all of a small format."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from block_bench import BlockBench, Recorded
from marks import few
from merp.cosim.block.replay import lint_verilog, replay
from merp.hdl.arithmetic.fp_max import fp_max
from merp.hdl.arithmetic.leaky_relu import leaky_relu
from merp.hdl.arithmetic.relu import relu
from merp.hdl.arithmetic.relu_mask import relu_mask
from merp.hdl.base.signals import bits, flag
from merp.models.arithmetic.relu import relu as golden_relu
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.shape import Pool
from merp.models.golden.pooling import max_pool

TINY = FloatFormat(3, 2)
CORNERS = [
    0x00000000, 0x80000000, 0x7FC00000, 0x7F800000, 0xFF800000, 0x00800000, 0x80800000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x3F800000, 0xBF800000, 0x3F800001, 0xBF800001, 0x00800001, 0x80800001,
    0x40C00000, 0x40BFFFFF, 0x40C00001, 0xC0C00000, 0x40000000, 0x41000000,
]  # fmt: skip


def elements(fmt: FloatFormat) -> list[int]:
    """Words that the datapath's arithmetic can deliver: no subnormals, one NaN."""
    if fmt == BINARY32:
        return CORNERS
    words = np.arange(1 << fmt.width, dtype=np.uint32)
    nan = np.isnan(to_values(words, fmt))
    subnormal = (words >> fmt.frac_bits & fmt.exp_max == 0) & (words % (1 << fmt.frac_bits) != 0)
    return [int(w) for w in words[~nan & ~subnormal]] + [fmt.nan]


def number(word: int, fmt: FloatFormat) -> float:
    return float(to_values(np.array([word], np.uint32), fmt)[0])


def word(value: float, fmt: FloatFormat) -> int:
    return int(to_bits([value], fmt)[0])


def settle(block: Callable[..., Any], args: dict[str, Any], rows: list[dict[str, int]]) -> Recorded:
    """Apply one row of inputs per cycle to a combinational block."""
    return BlockBench(block, **args).run(rows)


def relu_trace(fmt: FloatFormat) -> Recorded:
    rows = [{"enable": e, "x": x} for e in (0, 1) for x in elements(fmt)]
    return settle(relu, {"enable": flag(), "x": bits(fmt.width), "y": bits(fmt.width)}, rows)


def six_trace(fmt: FloatFormat) -> Recorded:
    rows = [
        {"enable": e, "relu6": six, "x": x} for e in (0, 1) for six in (0, 1) for x in elements(fmt)
    ]
    args = {"enable": flag(), "relu6": flag(), "x": bits(fmt.width), "y": bits(fmt.width)}
    return settle(relu, args | {"fmt": fmt}, rows)


def leaky_trace(fmt: FloatFormat, latency: int) -> Recorded:
    """An element per cycle, behind ReLU or not."""
    slopes = [word(slope, fmt) for slope in (0.25, 0.75)]
    rows = [
        {"leaky": leaky, "slope": slope, "x": x, "rectified": 0 if x >> fmt.width - 1 else x}
        for leaky, slope in product((0, 1), slopes)
        for x in elements(fmt)
    ]
    args = {name: bits(fmt.width) for name in ("slope", "x", "rectified", "y")}
    args |= {"clk": flag(), "leaky": flag(), "fmt": fmt, "latency": latency}
    return BlockBench(leaky_relu, **args).run(rows + rows[:1] * latency)


def mask_trace(fmt: FloatFormat) -> Recorded:
    rows = [{"relu6": six, "x": x} for six in (0, 1) for x in elements(fmt)]
    args = {"relu6": flag(), "x": bits(fmt.width), "y": flag(), "fmt": fmt}
    return settle(relu_mask, args, rows)


def max_trace(fmt: FloatFormat) -> Recorded:
    rows = [
        {"fresh": fresh, "a": a, "b": b}
        for fresh in (0, 1)
        for a in elements(fmt)
        for b in elements(fmt)
    ]
    args = {"fresh": flag()} | {name: bits(fmt.width) for name in ("a", "b", "y")}
    return settle(fp_max, args, rows)


@pytest.mark.parametrize("fmt", [TINY, BINARY32], ids=["tiny", "binary32"])
def test_relu_matches_golden(fmt: FloatFormat) -> None:
    trace = relu_trace(fmt)
    half = len(trace.rows) // 2
    x, y = trace.column("x"), trace.column("y")
    assert y[:half] == x[:half]
    assert y[half:] == golden_relu(np.array(x[half:], np.uint32), fmt).tolist()


WIDTHS = [TINY, BFLOAT16, BINARY16, BINARY32]
WIDTH_NAMES = ["tiny", "bfloat16", "binary16", "binary32"]
FORMATS = pytest.mark.parametrize("fmt", few(WIDTHS, TINY, BINARY32), ids=WIDTH_NAMES)


@FORMATS
def test_relu6_stops_at_six(fmt: FloatFormat) -> None:
    """Against comparisons of numbers: NaN passes, and so does everything without ``enable``."""
    trace = six_trace(fmt)
    names = ("enable", "relu6", "x", "y")
    for enable, relu6, x, y in zip(*(trace.column(name) for name in names), strict=True):
        value = number(x, fmt)
        wanted = x
        if enable and not np.isnan(value):
            stopped = min(value, 6.0 if relu6 else np.inf)
            wanted = word(stopped, fmt) if value > 0 else 0
        assert y == wanted, (enable, relu6, value)


@pytest.mark.parametrize("latency", few([1, 2, 3], 2))
@pytest.mark.parametrize("fmt", few(WIDTHS, TINY, BINARY32), ids=WIDTH_NAMES)
def test_leaky_relu_multiplies_below_zero_alone(fmt: FloatFormat, latency: int) -> None:
    """Against products of numbers, which binary64 has exactly."""
    trace = leaky_trace(fmt, latency)
    inputs = zip(*(trace.column(name) for name in ("leaky", "slope", "x")), strict=True)
    for (leaky, slope, x), y in zip(inputs, trace.column("y")[latency:], strict=False):
        value, wanted = number(x, fmt), x
        if x >> fmt.width - 1:
            wanted = word(value * number(slope, fmt), fmt) if leaky else 0
        assert y == wanted, (leaky, slope, value)


@FORMATS
def test_the_mask_of_relu6_is_between_zero_and_six(fmt: FloatFormat) -> None:
    trace = mask_trace(fmt)
    for relu6, x, y in zip(*(trace.column(name) for name in ("relu6", "x", "y")), strict=True):
        value = number(x, fmt)
        assert y == (0 < value and not np.isnan(value) and (value < 6 or not relu6)), (relu6, value)


@pytest.mark.parametrize("fmt", [TINY, BINARY32], ids=["tiny", "binary32"])
def test_max_matches_golden(fmt: FloatFormat) -> None:
    trace = max_trace(fmt)
    half = len(trace.rows) // 2
    a, b, y = (trace.column(name) for name in "aby")
    assert y[half:] == b[half:]
    # Pairs as the first row of 2x2 windows; the second row can win nothing.
    low = fmt.inf | fmt.sign_bit
    windows = np.array([[[p, q], [low, low]] for p, q in zip(a[:half], b[:half], strict=True)])
    pooled = max_pool(windows.astype(np.uint32)[..., None], Pool(window=2, stride=1), fmt)
    assert y[:half] == pooled.reshape(-1).tolist()


@pytest.mark.ghdl
@pytest.mark.verilator
def test_vhdl_replays(tmp_path: Path) -> None:
    traces = {
        "relu": (relu, relu_trace(TINY)),
        "relu6": (relu, six_trace(BINARY32)),
        "leaky": (leaky_relu, leaky_trace(TINY, 2)),
        "mask": (relu_mask, mask_trace(BINARY32)),
        "max": (fp_max, max_trace(BINARY32)),
    }
    for name, (block, trace) in traces.items():
        workdir = tmp_path / name
        assert replay(trace, workdir / "vhdl") == len(trace.rows)
        lint_verilog(block, trace.args, workdir / "verilog")
