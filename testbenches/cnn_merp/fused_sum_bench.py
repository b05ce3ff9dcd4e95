"""Run sums of products through the fused blocks: windows of a CU, and rows of an array."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.cu_array.cu_fused import cu_fused
from merp.hdl.cnn_merp.gradient_array.row_array import row_array
from merp.models.base.bits import Bits
from merp.models.base.fused import OPERAND_BITS, activation_bits
from merp.models.base.summation import Summation
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.arithmetic.fp_bench import FpRun
from merp.testbenches.arithmetic.fused_bench import activation, operand
from merp.testbenches.block.trace import Sample, run_block
from merp.testbenches.cnn_merp.cu_bench import joined
from merp.testbenches.cnn_merp.gradient_bench import read_out
from merp.testbenches.cnn_merp.row_bench import RowScript


def small_design(k: int, summation: Summation, **changes: Any) -> EngineDesign:
    """Return the smallest engine with one CU of k*k taps and this summation."""
    values: dict[str, Any] = dict(
        k=k, n_cu=1, r=1, kernel_words=4, groups=1, row_words=1, max_size=4, max_maps=4,
        fifo_words=1, cu_kind="fused", fused_dsp=summation.dsp, fused_window=summation.window,
        accumulator_precision=summation.precision,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


def run_windows(design: EngineDesign, windows: Bits, kernels: Bits) -> FpRun:
    """Pass a window and a kernel, (count, k*k) words, to ``cu_fused`` in every cycle.

    The mantissas of a window follow its exponents one cycle later, as from ``fused_operands``.
    """
    taps, dsp = design.taps, design.fused_dsp
    width, latency = activation_bits(dsp), design.cu_latency - 1
    args = {
        "clk": flag(), "window": bits(taps * width), "kernel": bits(taps * OPERAND_BITS),
        "y": bits(design.accumulator_format.width), "design": design,
    }  # fmt: skip
    late = 0

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal late
        at = min(cycle, len(windows) - 1)
        parts = [activation(word, dsp) for word in windows[at].tolist()]
        early, ready = joined([part[0] for part in parts], width), late
        late = joined([part[1] for part in parts], width)
        kernel = joined([operand(word) for word in kernels[at].tolist()], OPERAND_BITS)
        return {"window": early | ready, "kernel": kernel}

    trace = run_block(
        cu_fused, args, ("window", "kernel"), drive, len(windows) + latency, quick=True
    )
    return FpRun(trace.column("y")[latency:], trace)


def run_rows(x: Bits, delta: Bits, summation: Summation) -> FpRun:
    """Sweep ``row_array`` along rows of (count, columns) words; each row has its own gradient.

    The result of a row is +0 plus the sum of the row, as an element.
    """
    count, columns = x.shape
    design = small_design(
        1, summation, ku_kind="row", kernel_words=count, max_size=max(2, columns), add_latency=1
    )
    script = RowScript(design, 0)
    script.reset()
    for addr in range(count):
        script.wait(addr, columns)
        script.sweep(addr, True, x[addr].reshape(-1, 1), delta[addr].reshape(-1, 1))
    script.settle()
    script.read_all()
    trace = script.play(row_array)
    return FpRun(read_out(trace), trace)
