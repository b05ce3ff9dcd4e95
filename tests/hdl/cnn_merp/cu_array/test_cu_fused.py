"""The fused sum of products in hardware against golden: corners one by one, and at random."""

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays
from marks import few
from merp.hdl.base.signals import bits, count
from merp.hdl.behavioural.integer_fused import sums_of_products
from merp.hdl.cnn_merp.cu_array.fused_operands import fused_operands
from merp.hdl.cnn_merp.ports.kernels import KernelWrite
from merp.models.arithmetic.fused import fused_sum
from merp.models.base.bits import Bits
from merp.models.base.fused import OPERAND_BITS, WIDE, activation_bits
from merp.models.base.summation import Summation
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.arithmetic.fused_bench import (
    CASES,
    activation,
    directed,
    operand,
    random_windows,
)
from merp.testbenches.cnn_merp.fused_sum_bench import run_windows, small_design


def design_for(k: int, dsp: int, window: int, precision: int = 24) -> EngineDesign:
    choice = Summation(kind="fused", dsp=dsp, window=window, precision=precision)
    return small_design(k, choice)


DESIGNS = [
    design_for(1, 1, 32),
    design_for(2, 2, 32),
    design_for(2, 1, 29),
    design_for(1, 2, 32, 25),
    design_for(2, 1, 32, 28),
    design_for(3, 2, 28),
]


def name(design: EngineDesign) -> str:
    return f"k{design.k}-{design.fused_dsp}dsp-p{design.accumulator_precision}"


every_small_design = pytest.mark.parametrize(
    "design", few(DESIGNS[:5], DESIGNS[1], DESIGNS[3]), ids=name
)


def check(design: EngineDesign, windows: Bits, kernels: Bits) -> Recorded:
    """Every sum in the declared cycle."""
    ran = run_windows(design, windows, kernels)
    assert ran.results == fused_sum(windows, kernels, design.summation).tolist() != []
    return ran.trace


@pytest.mark.sample(3)
@pytest.mark.parametrize("design", [*DESIGNS, design_for(5, 1, 32)], ids=name)
def test_cu_fused_matches_golden(design: EngineDesign) -> None:
    rng = np.random.default_rng(design.k)
    count = {1: 30, 2: 20, 3: 8, 5: 1}[design.k]
    pairs = [random_windows(kind, count, design.taps, rng) for kind in CASES]
    check(design, *(np.concatenate(side) for side in zip(*pairs, strict=True)))


@every_small_design
def test_directed_windows(design: EngineDesign) -> None:
    check(design, *directed(design.taps))


@pytest.mark.parametrize("tap", range(9))
def test_each_tap_counts_once(tap: int) -> None:
    """Each tap alone, between windows of zeros: its product, in the declared cycle and no other."""
    design = DESIGNS[-1]
    kernel = np.arange(0x3F800000, 0x3F800009, dtype=np.uint32)
    window = np.where(np.arange(9) == tap, 0x40000000, 0).astype(np.uint32)
    trace = check(design, np.array([window * 0, window, window * 0]), np.array([kernel] * 3))
    assert [word for word in trace.column("y") if word] == [0x40000000 + tap]


@pytest.mark.parametrize("dsp", [1, 2])
def test_operands_are_decoded(dsp: int) -> None:
    """Windows, kernels and addresses come out decoded, in the declared cycles."""
    design = design_for(1, dsp, 32)
    windows, kernels = directed(1)
    words = windows[:, 0].tolist(), kernels[:, 0].tolist()
    late = KernelWrite(design, OPERAND_BITS)
    bench = BlockBench(
        fused_operands, "clk", kernel=KernelWrite(design), read_addr=count(3), window=bits(32),
        written=late, later_addr=count(3), activations=bits(activation_bits(dsp)), design=design,
    )  # fmt: skip

    def drive(cycle: int, _: dict[str, int]) -> dict[str, int]:
        return {
            "kernel_enable": cycle % 3 == 0, "kernel_addr": cycle % 4, "read_addr": cycle // 4 % 4,
            "window": words[0][cycle], "kernel_data": words[1][cycle],
        }  # fmt: skip

    size = len(windows)
    trace = bench.run(drive, size)
    assert trace.column("written_data")[1:] == [operand(word) for word in words[1][:-1]]
    for given, got in (("kernel_enable", "written_enable"), ("kernel_addr", "written_addr")):
        assert trace.column(got)[1:] == trace.column(given)[:-1]
    assert trace.column("later_addr")[1:] == trace.column("read_addr")[:-1]
    parts = [activation(word, dsp) for word in words[0]]
    wanted = [parts[t - 1][0] | parts[t - 2][1] for t in range(2, size)]
    assert trace.column("activations")[2:] == wanted != []


@pytest.mark.sample(3)
@pytest.mark.parametrize("taps", [1, 9, 25, 121])
@pytest.mark.parametrize("dsp", [1, 2])
def test_the_twin_matches_golden(dsp: int, taps: int) -> None:
    rng = np.random.default_rng(taps)
    pairs = [*(random_windows(kind, 200, taps, rng) for kind in CASES), directed(taps)]
    windows, kernels = (np.concatenate(side) for side in zip(*pairs, strict=True))
    for bits_of_window, precision in ((28, 24), (32, 24), (32, 28)):
        design = design_for(1, dsp, bits_of_window, precision)
        got = np.empty((len(windows), 1), np.uint64)
        for window, kernel, sums in zip(windows, kernels, got, strict=True):
            operands = window, kernel.reshape(-1, 1)
            sums_of_products(*operands, sums, dsp, WIDE, bits_of_window, precision)
        np.testing.assert_array_equal(got[:, 0], fused_sum(windows, kernels, design.summation))


@pytest.mark.ghdl
@every_small_design
def test_cu_fused_vhdl(design: EngineDesign, replays: Replays) -> None:
    rng = np.random.default_rng(9)
    pairs = [random_windows(kind, 12, design.taps, rng) for kind in CASES]
    windows, kernels = (np.concatenate(side) for side in zip(*pairs, strict=True))
    corners = directed(design.taps)
    part = slice(None, None, 4)
    trace = check(
        design,
        np.concatenate([windows, corners[0][part]]),
        np.concatenate([kernels, corners[1][part]]),
    )
    replays(trace)
