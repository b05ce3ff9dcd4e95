"""ReLU and the larger of two elements: corners against corners, all of a small format."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from block_bench import BlockBench, Recorded
from merp.cosim.block.replay import lint_verilog, replay
from merp.hdl.arithmetic.fp_max import fp_max
from merp.hdl.arithmetic.relu import relu
from merp.hdl.base.signals import bits, flag
from merp.models.arithmetic.relu import relu as golden_relu
from merp.models.arithmetic.words import to_values
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.shape import Pool
from merp.models.golden.pooling import max_pool

TINY = FloatFormat(3, 2)
CORNERS = [
    0x00000000, 0x80000000, 0x7FC00000, 0x7F800000, 0xFF800000, 0x00800000, 0x80800000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x3F800000, 0xBF800000, 0x3F800001, 0xBF800001, 0x00800001, 0x80800001,
]  # fmt: skip


def elements(fmt: FloatFormat) -> list[int]:
    """Words that the datapath's arithmetic can deliver: no subnormals, one NaN."""
    if fmt == BINARY32:
        return CORNERS
    words = np.arange(1 << fmt.width, dtype=np.uint32)
    nan = np.isnan(to_values(words, fmt))
    subnormal = (words >> fmt.frac_bits & fmt.exp_max == 0) & (words % (1 << fmt.frac_bits) != 0)
    return [int(w) for w in words[~nan & ~subnormal]] + [fmt.nan]


def settle(block: Callable[..., Any], args: dict[str, Any], rows: list[dict[str, int]]) -> Recorded:
    """Apply one row of inputs per cycle to a combinational block."""
    return BlockBench(block, **args).run(rows)


def relu_trace(fmt: FloatFormat) -> Recorded:
    rows = [{"enable": e, "x": x} for e in (0, 1) for x in elements(fmt)]
    return settle(relu, {"enable": flag(), "x": bits(fmt.width), "y": bits(fmt.width)}, rows)


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
    for block, trace in ((relu, relu_trace(TINY)), (fp_max, max_trace(BINARY32))):
        workdir = tmp_path / block.__name__
        assert replay(trace, workdir / "vhdl") == len(trace.rows)
        lint_verilog(block, trace.args, workdir / "verilog")
