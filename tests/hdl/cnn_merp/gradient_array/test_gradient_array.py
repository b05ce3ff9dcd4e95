"""The array of the kernel update against the golden arithmetic, and its behavioural twin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from block_bench import Replays
from cpp_twins import either, in_cpp
from marks import in_full
from merp.hdl.cnn_merp.behavioural.gradient_array import gradient_array_fast
from merp.hdl.cnn_merp.gradient_array.gradient_array import gradient_array
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import (
    gradient_latency,
    revisit_cycles,
)
from merp.testbenches.cnn_merp.cu_bench import elements
from merp.testbenches.cnn_merp.gradient_bench import GradientScript, read_out

every_array = pytest.mark.parametrize("array", either(gradient_array))


def design_for(k: int, n_cu: int, **changes: Any) -> EngineDesign:
    values: dict[str, Any] = dict(
        k=k, n_cu=n_cu, r=1, kernel_words=4, groups=2, row_words=4, max_size=4, max_maps=4,
        fifo_words=2, mul_latency=1, add_latency=1,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


CONFIGURATIONS = [
    design_for(1, 1, fmt=FloatFormat(4, 3), kernel_words=1),
    design_for(1, 3, fmt=BFLOAT16, mul_latency=2, add_latency=3),
    design_for(2, 2, mul_latency=3, add_latency=2, fmt=BFLOAT16),
    design_for(3, 2, mul_latency=3, add_latency=4, fmt=BINARY32),
]
every_design = pytest.mark.parametrize(
    "design", CONFIGURATIONS, ids=lambda d: f"k{d.k}-{d.n_cu}cu-{d.mul_latency}{d.add_latency}"
)


class Script(GradientScript):
    """Slots by positions."""

    def slot_noise(self) -> dict[str, int]:
        return dict.fromkeys(("slot_acc_addr", "slot_group", "slot_first", "slot_last"), 0)

    def visit(self, addr: int, opening: bool, window: list[int], deltas: list[int], **values: int):
        self.slot(window, deltas, slot_kernel_addr=addr, opening=int(opening), **values)


def settle(script: Script) -> None:
    """Wait just long enough for the last slot's gradients: a cycle less and they would be old."""
    script.idle(gradient_latency(script.design))


@pytest.mark.sample(5)
@every_array
@every_design
def test_gradients_match_golden(array: Callable[..., Any], design: EngineDesign) -> None:
    """Addresses visited as early as they may be, with gaps now and then."""
    script = Script(design, "golden")
    fmt, rng = design.fmt, script.rng
    size = (design.kernel_words, design.taps, design.n_cu)
    sums = np.zeros(size, np.uint32)
    script.reset()
    visited: dict[int, int] = {}
    for position in range(4):
        for addr in range(design.kernel_words):
            wait = visited.get(addr, -99) + revisit_cycles(design) - len(script.cycles)
            script.idle(max(0, wait) + (rng.random() < 0.2))
            visited[addr] = len(script.cycles)
            window, deltas = elements(design.taps, fmt, rng), elements(design.n_cu, fmt, rng)
            script.visit(addr, position == 0, window, deltas)
            factors = np.array(window, np.uint32)[:, None], np.array(deltas, np.uint32)[None, :]
            sums[addr] = fp_add(sums[addr], fp_mul(*factors, fmt), fmt)
    settle(script)
    script.read_all()
    assert read_out(script.play(array)) == sums.reshape(-1).tolist()


def anything(design: EngineDesign, seed: str, cycles: int) -> Script:
    """Slots too early for their addresses, reads amid slots, resets."""
    script = Script(design, seed)
    fmt, rng = design.fmt, script.rng
    script.reset()
    for addr in range(design.kernel_words):
        script.visit(addr, True, [fmt.one] * design.taps, elements(design.n_cu, fmt, rng))
    settle(script)
    for _ in range(cycles):
        kind = rng.random()
        if kind < 0.6:
            script.visit(
                rng.randrange(design.kernel_words),
                rng.random() < 0.2,
                elements(design.taps, fmt, rng),
                elements(design.n_cu, fmt, rng),
                rst=int(rng.random() < 0.05),
            )
        elif kind < 0.8:
            taps, cus = rng.randrange(design.taps), rng.randrange(design.n_cu)
            script.read(rng.randrange(design.kernel_words), taps, cus)
        else:
            script.cycle(rst=int(rng.random() < 0.1))
    settle(script)
    script.read_all()
    return script


@pytest.mark.sample(2)
@every_design
def test_arrays_agree_on_anything(design: EngineDesign) -> None:
    script = anything(design, "anything", 120)
    rtl, fast = script.play(gradient_array), script.play(gradient_array_fast)
    assert read_out(rtl) == read_out(fast) != []


@pytest.mark.verilator
@pytest.mark.parametrize("place", [2, *in_full(0, 1, 3)])
def test_both_twins_have_the_same_bits_in_every_cycle(place: int) -> None:
    script = anything(CONFIGURATIONS[place], "twins", 300)
    fast, cpp = (script.play(array) for array in (gradient_array_fast, in_cpp(gradient_array)))
    assert cpp.rows[: len(fast.rows)] == fast.rows  # each play ends with cycles of its own


@every_array
def test_a_sum_is_lost_one_cycle_too_early(array: Callable[..., Any]) -> None:
    """The revisit rule is as sharp as it says."""
    design = design_for(1, 1, mul_latency=2, add_latency=3, kernel_words=1)
    one, fmt = design.fmt.one, design.fmt
    two = one + (1 << fmt.frac_bits)
    for early in (0, 1):
        script = Script(design, "early")
        script.reset()
        script.visit(0, True, [one], [one])
        script.idle(revisit_cycles(design) - 1 - early)
        script.visit(0, False, [one], [one])
        settle(script)
        script.read_all()
        assert read_out(script.play(array)) == [one if early else two]


@every_array
def test_the_last_gradients_are_readable_no_earlier_than_told(array: Callable[..., Any]) -> None:
    design = design_for(1, 1, mul_latency=2, add_latency=3, kernel_words=1)
    one = design.fmt.one
    for early in (0, 1):
        script = Script(design, "settle")
        script.reset()
        script.visit(0, True, [0], [one])
        settle(script)
        script.visit(0, True, [one], [one])
        script.idle(gradient_latency(design) - early)
        script.read_all()
        assert read_out(script.play(array)) == [0 if early else one]


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("design", CONFIGURATIONS[:3], ids=lambda d: f"k{d.k}-{d.n_cu}cu")
def test_gradient_array_vhdl(design: EngineDesign, replays: Replays) -> None:
    replays(anything(design, "vhdl", 60).play(gradient_array), lint=True)
