"""The CU array: hardware, behavioural twin and golden sums agree, in every cycle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from merp.cosim.replay import lint_verilog, replay
from merp.hdl.cu_array import cu_array
from merp.hdl.cu_array_fast import cu_array_fast
from merp.models.fp_add import fp_add
from merp.models.fp_mul import fp_mul
from merp.models.fp_tree import fp_tree
from merp.models.params.design import Design
from merp.models.params.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.testbenches.cu_bench import SlotInput, run_cu_array
from merp.testbenches.trace import Trace

FORMATS = (BINARY32, BFLOAT16, BINARY16, FloatFormat(4, 3))


def values(rng: np.random.Generator, fmt: FloatFormat, count: int, wild: bool) -> list[int]:
    """Numbers of similar size, so that sums round and cancel; wild adds every kind of special."""
    exponent = rng.integers(fmt.bias - 3, fmt.bias + 2, count)
    fraction = rng.integers(0, 1 << fmt.frac_bits, count)
    sign = rng.integers(0, 2, count)
    words = sign << (fmt.width - 1) | exponent << fmt.frac_bits | fraction
    if wild:
        special = rng.choice(
            [0, fmt.sign_bit, 1, fmt.inf, fmt.inf | fmt.sign_bit, fmt.nan, fmt.inf | 1,
             (fmt.exp_max - 1) << fmt.frac_bits, 1 << fmt.frac_bits], count
        )  # fmt: skip
        words = np.where(rng.random(count) < 0.1, special, words)
    return [int(w) for w in words]


def join(words: list[int], fmt: FloatFormat) -> int:
    return sum(w << (j * fmt.width) for j, w in enumerate(words))


def schedule(
    rng: np.random.Generator, design: Design, n: int, groups: int, rounds: int
) -> list[tuple[int, int, int, int, int]]:
    """(round, lane, channel, group, gap) in the sequencer's order, revisits at least L apart."""
    plan = []
    for turn in range(rounds):
        lanes = int(rng.integers(1, design.p + 1))
        for channel in range(n):
            missing = max(0, design.accumulate_latency - lanes * groups)
            for lane in range(lanes):
                for group in range(groups):
                    gap = 0 if rng.random() < 0.7 else int(rng.integers(0, 4))
                    if channel and lane == 0 and group == 0:
                        gap += missing
                    plan.append((turn, lane, channel, group, gap))
    return plan


def play(seed: int, design: Design, wild: bool = False):
    """Stimulus, and the golden sums of every finished slot, CU 0 first."""
    rng = np.random.default_rng(seed)
    fmt, taps = design.fmt, design.taps
    groups = int(rng.integers(1, design.groups + 1))
    n = int(rng.integers(1, design.kernel_words // design.groups + 1))
    weights = [[values(rng, fmt, taps, wild) for _ in range(n * groups)]
               for _ in range(design.n_cu)]  # fmt: skip
    biases = [values(rng, fmt, groups, wild) for _ in range(design.n_cu)]
    slots, sums, windows = [], {}, {}
    for turn, lane, channel, group, gap in schedule(rng, design, n, groups, rounds=3):
        window = windows.setdefault((turn, lane, channel), values(rng, fmt, taps, wild))
        addr = channel * groups + group
        slots.append(
            SlotInput(addr, lane * design.groups + group, group, channel == 0, channel == n - 1,
                      join(window, fmt), gap)
        )  # fmt: skip
        for cu in range(design.n_cu):
            products = fp_mul(np.array(window), np.array(weights[cu][addr]), fmt)
            key = (turn, lane, group, cu)
            start = sums.get(key, biases[cu][group])
            sums[key] = int(fp_add(np.array([start]), np.array([fp_tree(products, fmt)]), fmt)[0])
    golden = [
        join([sums[turn, lane, group, cu] for cu in range(design.n_cu)], fmt)
        for turn, lane, channel, group, _ in schedule_order(slots, n, design)
    ]
    kernels = [[join(words, fmt) for words in memory] for memory in weights]
    return kernels, biases, slots, golden


def schedule_order(slots: list[SlotInput], n: int, design: Design):
    """The finished slots' (round, lane, channel, group, 0), in order."""
    turn, seen = 0, []
    started = False
    for slot in slots:
        if slot.first and slot.acc_addr == 0:
            turn += started
            started = True
        if slot.last:
            seen.append((turn, slot.acc_addr // design.groups, n - 1, slot.group, 0))
    return seen


def finished(trace: Trace) -> list[tuple[int, int]]:
    """(cycle, sums) of every cycle with sums_valid."""
    pairs = zip(trace.column("sums_valid"), trace.column("sums_data"), strict=True)
    return [(cycle, data) for cycle, (valid, data) in enumerate(pairs) if valid]


def design_of(seed: int, **changes: object) -> Design:
    rng = np.random.default_rng([seed, 3])
    groups = int(rng.integers(1, 4))
    chosen = dict(
        fmt=FORMATS[seed % 4], k=int(rng.integers(1, 4)), n_cu=int(rng.integers(1, 4)), r=1,
        p=int(rng.integers(1, 3)), groups=groups, kernel_words=3 * groups, row_words=4, max_size=8,
        max_maps=3, fifo_words=8, mul_latency=int(rng.integers(1, 4)),
        add_latency=int(rng.integers(1, 6)),
    )  # fmt: skip
    return Design(**(chosen | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("wild", [False, True], ids=["tame", "wild"])
@pytest.mark.parametrize("seed", range(16))
def test_twin_sums_equal_the_golden_ones(seed: int, wild: bool) -> None:
    design = design_of(seed, k=1 + seed % 5, n_cu=1 + seed % 4)
    kernels, biases, slots, golden = play(seed, design, wild)
    trace = run_cu_array(cu_array_fast, design, kernels, biases, slots)
    assert [data for _, data in finished(trace)] == golden


@pytest.mark.parametrize("seed", range(8))
def test_hardware_equals_twin_in_every_cycle(seed: int) -> None:
    design = design_of(seed)
    kernels, biases, slots, golden = play(seed, design, wild=seed % 2 == 1)
    hardware = run_cu_array(cu_array, design, kernels, biases, slots)
    twin = run_cu_array(cu_array_fast, design, kernels, biases, slots)
    assert finished(hardware) == finished(twin)
    assert [data for _, data in finished(hardware)] == golden


def test_latency_is_the_declared_one() -> None:
    design = design_of(1, k=2, groups=1, kernel_words=1)
    slot = SlotInput(0, 0, 0, True, True, join([design.fmt.one] * 4, design.fmt))
    for array in (cu_array, cu_array_fast):
        trace = run_cu_array(array, design, [[0]] * design.n_cu, [[0]] * design.n_cu, [slot])
        issued = trace.column("slot_valid").index(1)
        assert [cycle - issued for cycle, _ in finished(trace)] == [design.array_latency]


def too_early(design: Design, distance: int) -> list[SlotInput]:
    """Two slots on one accumulator, ``distance`` cycles apart, and a late third one."""
    one = join([design.fmt.one] * design.taps, design.fmt)
    return [
        SlotInput(0, 0, 0, True, False, one),
        SlotInput(0, 0, 0, False, False, one, distance - 1),
        SlotInput(0, 0, 0, False, True, one, 2 * design.accumulate_latency),
    ]


@pytest.mark.parametrize("early", [0, 1], ids=["at_L", "before_L"])
def test_revisits_see_the_sum_from_L_cycles_on(early: int) -> None:
    design = design_of(2, k=1, n_cu=1, groups=1, kernel_words=1, p=1, add_latency=3)
    slots = too_early(design, design.accumulate_latency - early)
    one = [[design.fmt.one]]
    traces = [run_cu_array(a, design, one, [[0]], slots) for a in (cu_array, cu_array_fast)]
    assert finished(traces[0]) == finished(traces[1])
    three = int(
        fp_add(np.array([design.fmt.one]), fp_add(one[0], one[0], design.fmt), design.fmt)[0]
    )
    assert (finished(traces[0])[0][1] == three) is (early == 0)


def test_reset_forgets_slots_in_flight_and_keeps_the_kernels() -> None:
    design = design_of(3, k=2, groups=1, kernel_words=1, p=1)
    one = join([design.fmt.one] * 4, design.fmt)
    slots = [SlotInput(0, 0, 0, True, True, one), SlotInput(0, 0, 0, True, True, one, 40)]
    memories = [[one]] * design.n_cu, [[0]] * design.n_cu
    traces = [
        run_cu_array(a, design, *memories, slots, reset_at=3) for a in (cu_array, cu_array_fast)
    ]
    assert finished(traces[0]) == finished(traces[1])
    assert len(finished(traces[0])) == 1


@pytest.mark.ghdl
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_vhdl_equals_myhdl_in_every_cycle(seed: int, tmp_path: Path) -> None:
    design = design_of(seed, k=2, n_cu=2)
    kernels, biases, slots, _ = play(seed, design, wild=True)
    trace = run_cu_array(cu_array, design, kernels, biases, slots)
    assert replay(trace, tmp_path) == len(trace.rows)
    lint_verilog(cu_array, trace.args, tmp_path / "verilog")
