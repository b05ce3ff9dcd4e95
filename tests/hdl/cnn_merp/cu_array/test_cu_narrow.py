"""The fused sum of narrow products in hardware against golden, units that share multipliers."""

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from marks import few
from merp.hdl.base.signals import bits
from merp.hdl.behavioural.integer_fused import sums_of_products
from merp.models.arithmetic.fused import fused_sum
from merp.models.base.bits import Bits
from merp.models.base.summation import Summation
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.arithmetic.fused_bench import CASES, random_windows
from merp.testbenches.arithmetic.narrow_bench import directed
from merp.testbenches.cnn_merp.cu_bench import joined
from merp.testbenches.cnn_merp.fused_sum_bench import small_design
from merp.testbenches.cnn_merp.narrow_units import narrow_units


def design_for(
    k: int, operand: int, window: int, precision: int = 24, units: int = 2
) -> EngineDesign:
    choice = Summation(kind="fused", operand=operand, window=window, precision=precision)
    return small_design(k, choice, operand_precision=operand, n_cu=units)


DESIGNS = [
    design_for(1, 8, 20),
    design_for(2, 8, 16, units=5),
    design_for(2, 11, 20),
    design_for(1, 8, 32, 28, units=1),
    design_for(2, 11, 32, 28, units=1),
    design_for(3, 8, 18),
]


def name(design: EngineDesign) -> str:
    return f"k{design.k}-{design.operand_precision}-{design.fused_window}-{design.n_cu}units"


every_small_design = pytest.mark.parametrize(
    "design", few(DESIGNS[:5], DESIGNS[1], DESIGNS[3]), ids=name
)


def check(design: EngineDesign, windows: Bits, kernels: Bits) -> Recorded:
    """Every sum of every unit in the declared cycle; unit j has the kernels from the j-th on."""
    taps, units, fmt = design.taps, design.n_cu, design.accumulator_format
    of_units = np.stack([np.roll(kernels, -j, axis=0) for j in range(units)], axis=1)
    bench = BlockBench(
        narrow_units, "clk", window=bits(taps * 32), kernels=bits(units * taps * 32),
        sums=bits(units * fmt.width), design=design,
    )  # fmt: skip

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        at = min(cycle, len(windows) - 1)
        return {
            "window": joined(windows[at].tolist(), 32),
            "kernels": joined(of_units[at].reshape(-1).tolist(), 32),
        }

    latency = design.cu_latency
    trace = bench.run(drive, len(windows) + latency)
    wanted = fused_sum(windows[:, None], of_units, design.summation)
    words = [joined(row, fmt.width) for row in wanted.tolist()]
    assert trace.column("sums")[latency:] == words != []
    return trace


def samples(taps: int, count: int, seed: int) -> tuple[Bits, Bits]:
    rng = np.random.default_rng(seed)
    pairs = [random_windows(kind, count, taps, rng) for kind in CASES]
    windows, kernels = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return windows, kernels


@pytest.mark.sample(2)
@pytest.mark.parametrize("design", [*DESIGNS, design_for(5, 8, 20)], ids=name)
def test_cu_narrow_matches_golden(design: EngineDesign) -> None:
    check(design, *samples(design.taps, {1: 30, 2: 20, 3: 8, 5: 2}[design.k], design.k))


@pytest.mark.full
@pytest.mark.parametrize("design", few(DESIGNS[:5], DESIGNS[1]), ids=name)
def test_directed_windows(design: EngineDesign) -> None:
    check(design, *directed(design.taps))


@pytest.mark.sample(3)
@pytest.mark.parametrize("tap", range(9))
def test_each_tap_counts_once(tap: int) -> None:
    """Each tap alone, between windows of zeros: its product, in the declared cycle and no other."""
    design = DESIGNS[-1]
    kernel = (0x3F80 + np.arange(9, dtype=np.uint32)) << 16
    window = np.where(np.arange(9) == tap, 0x40000000, 0).astype(np.uint32)
    trace = check(design, np.array([window * 0, window, window * 0]), np.array([kernel] * 3))
    wanted = int(0x4000 + tap) << 16
    assert [word for word in trace.column("sums") if word] == [wanted << 32 | wanted]


@pytest.mark.parametrize("taps", [1, 9, 25, 121])
@pytest.mark.parametrize("operand", [8, 11])
def test_the_twin_matches_golden(operand: int, taps: int) -> None:
    pairs = samples(taps, 200, taps), directed(taps)
    windows, kernels = (np.concatenate(side) for side in zip(*pairs, strict=True))
    for window, precision in ((16, 24), (20, 24), (32, 24), (20, 28)):
        choice = Summation(kind="fused", operand=operand, window=window, precision=precision)
        got = np.empty((len(windows), 1), np.uint64)
        for row, kernel, sums in zip(windows, kernels, got, strict=True):
            sums_of_products(row, kernel.reshape(-1, 1), sums, 1, operand, window, precision)
        np.testing.assert_array_equal(got[:, 0], fused_sum(windows, kernels, choice))


@pytest.mark.sample(1)
@pytest.mark.ghdl
@every_small_design
def test_cu_narrow_vhdl(design: EngineDesign, replays: Replays) -> None:
    windows, kernels = samples(design.taps, 12, 9)
    corners = directed(design.taps)
    trace = check(
        design,
        np.concatenate([windows, corners[0][::4]]),
        np.concatenate([kernels, corners[1][::4]]),
    )
    replays(trace)
