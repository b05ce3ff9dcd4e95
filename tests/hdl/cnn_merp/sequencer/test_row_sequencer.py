"""Windows and slots of sweeps along rows against the golden order, under every pressure."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from block_bench import Replays
from marks import in_full
from merp.models.base.shape import Shape
from merp.models.golden.window import windows
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import row_rest
from merp.models.machines.cnn_merp.params.sizing import groups_of
from merp.models.machines.cnn_merp.slots import row_slots
from merp.testbenches.block.trace import Trace
from merp.testbenches.cnn_merp.input_bench import (
    CAUSES,
    InputRun,
    make_run,
    pattern,
    random_shape,
    run_input_path,
)

WIDTH = 32
FIELDS = ("column", "first", "last", "kernel_addr", "delta_word", "row_last")


def design_for(k: int, **changes: int) -> EngineDesign:
    values: dict[str, Any] = dict(
        k=k, n_cu=2, r=1, d=2, kernel_words=64, groups=8, row_words=64, max_size=16, max_maps=8,
        max_images=4, max_stride=7, fifo_words=32, cu_kind="fused", ku_kind="row",
    )  # fmt: skip
    return EngineDesign(**(values | changes))


def golden(design: EngineDesign, run: InputRun) -> list[tuple[int, ...]]:
    """Fields of every slot, and its window."""
    shape = run.shape
    x = np.array(run.words, np.uint32).reshape(run.images, shape.rows, shape.columns, shape.n)
    packed = windows(x, shape).reshape(-1, shape.out_columns, shape.n, shape.k**2)
    groups, columns = groups_of(shape, design.n_cu), shape.out_columns
    expected = []
    for slot in row_slots(shape, run.images, design):
        last = slot.column == columns - 1
        kernel = slot.channel * groups + slot.group
        window = packed[slot.row, slot.column, slot.channel]
        expected.append(
            (
                slot.column,
                int(slot.column == 0),
                int(last),
                kernel,
                slot.column * groups + slot.group,
                int(last and kernel == shape.n * groups - 1),
                sum(int(w) << (WIDTH * j) for j, w in enumerate(window)),
            )
        )
    return expected


def check(design: EngineDesign, runs: list[InputRun], trace: Trace) -> None:
    """Slots and windows; no gap in a sweep; sweeps and the same kernel far enough apart."""
    columns = [trace.column(f"slot_{name}") for name in FIELDS]
    held = trace.column("held")
    at = [cycle for cycle, valid in enumerate(trace.column("slot_valid")) if valid]
    got = [(*(column[cycle] for column in columns), held[cycle + 1]) for cycle in at]
    expected = [(run, fields) for run in runs for fields in golden(design, run)]
    assert got == [fields for _, fields in expected]
    assert trace.column("complete")[-1] == 1
    assert trace.column("framing_error")[-1] == 0
    causes = [trace.column(f"verdict_{cause}") for cause in CAUSES]
    assert all(sum(cycle) <= 1 for cycle in zip(*causes, strict=True))
    last = trace.column("slot_last")
    for (before, after), (run, _) in zip(pairwise(at), expected, strict=False):
        if last[before]:
            assert after - before > row_rest(run.shape, design)
        else:
            assert after - before == 1


@pytest.mark.sample(2)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("d", [2, *in_full(1, 3)])
def test_windows_and_slots_match_the_golden_order(k: int, d: int) -> None:
    rng = np.random.default_rng([k, d, 11])
    design = design_for(
        k, d=d, add_latency=int(rng.integers(1, 6)), ku_lanes=int(rng.integers(1, k * k + 1))
    )
    runs = [
        make_run(random_shape(rng, k), int(rng.integers(1, 4)), seed, offer=pattern(rng),
                 pop=pattern(rng))
        for seed in range(3)
    ]  # fmt: skip
    slots = sum(len(golden(design, run)) for run in runs)
    words = sum(len(run.words) for run in runs)
    trace = run_input_path(design, runs, 12 * words + 40 * slots + 300)
    check(design, runs, trace)


def test_full_rate_from_row_to_row() -> None:
    """A slot in every cycle from the first to the last, where maps and deltas keep up."""
    shape = Shape(n=3, m=4, k=3, pad=1, rows=5, columns=9)
    trace = run_input_path(design_for(3), [make_run(shape, 2, 1)], 900)
    valid = trace.column("slot_valid")
    first, count = valid.index(1), len(golden(design_for(3), make_run(shape, 2, 1)))
    assert all(valid[first : first + count])
    assert not any(valid[first + count :])


@pytest.mark.parametrize("d", [1, 2])
def test_maps_that_are_early_overwrite_nothing_that_a_row_still_needs(d: int) -> None:
    """Every map word is offered at once, and each row waits long for its deltas."""
    design, late = design_for(3, d=d), (*[0] * 39, 1)
    run = make_run(Shape(n=1, m=2, k=3, pad=1, rows=7, columns=4), 1, 1, pop=late)
    check(design, [run], run_input_path(design, [run], 400))


@pytest.mark.parametrize("given", [True, False])
def test_idle_means_that_no_delta_is_left(given: bool) -> None:
    shape = Shape(n=1, m=2, k=2, rows=3, columns=3)
    trace = run_input_path(design_for(2), [make_run(shape, 1, 1, pop=(int(given),))], 90)
    assert any(trace.column("verdict_final_issue")) == given
    assert trace.column("verdict_idle")[-1] == given
    assert trace.column("verdict_stall_input")[-1] == (not given)


def test_reset_in_mid_sweep() -> None:
    design = design_for(2)
    run = make_run(Shape(n=1, m=2, k=2, rows=4, columns=6), 1, 1)
    begin = run_input_path(design, [run], 90).column("slot_valid").index(1)
    trace = run_input_path(design, [run], 90, reset_at=begin + 2)
    assert trace.column("slot_valid")[begin + 2] == 1
    assert not any(trace.column("slot_valid")[begin + 3 :])
    assert not any(trace.column("verdict_issue")[begin + 3 :])


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(("k", "lanes", "d"), [(1, 1, 1), (3, 2, 2), (2, 1, 2)])
def test_vhdl_equals_myhdl_in_every_cycle(k: int, lanes: int, d: int, replays: Replays) -> None:
    rng = np.random.default_rng([k, d, 5])
    design = design_for(k, d=d, ku_lanes=lanes)
    runs = [
        make_run(random_shape(rng, k), 2, seed, offer=pattern(rng), pop=pattern(rng))
        for seed in range(2)
    ]
    trace = run_input_path(design, runs, 800)
    assert any(trace.column("slot_valid"))
    assert replays(trace, lint=True) == 800
