"""Windows, slots and stalls of the input side against the golden order, under every pressure."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from block_bench import Replays
from marks import in_full, rows_in_full
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.golden.window import windows
from merp.models.machines.cnn_merp.flow import InputFlow, input_flow
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import groups_of
from merp.models.machines.cnn_merp.slots import slots
from merp.testbenches.block.trace import Trace
from merp.testbenches.cnn_merp.input_bench import (
    CAUSES,
    InputRun,
    make_run,
    pattern,
    random_shape,
    run_input_path,
)

TAG = FloatFormat(8, 7)  # 16-bit words, used as tags


def design_for(k: int, **changes: int) -> EngineDesign:
    values = dict(
        fmt=TAG, k=k, n_cu=2, r=1, p=1, d=2, kernel_words=64, groups=8, row_words=64,
        max_size=16, max_maps=8, max_images=4, max_stride=7, fifo_words=32,
    )  # fmt: skip
    return EngineDesign(**(values | changes))  # type: ignore[arg-type]


def check(design: EngineDesign, runs: list[InputRun], trace: Trace) -> None:
    names = [port.name for port in trace.ports]
    at = {name: names.index(name) for name in names}
    expected = []
    for run in runs:
        x = np.array(run.words, np.uint32).reshape(
            run.images, run.shape.rows, run.shape.columns, run.shape.n
        )
        golden = windows(x, run.shape).reshape(-1, run.shape.n, run.shape.k**2)
        groups = groups_of(run.shape, design.n_cu)
        for slot in slots(run.shape, run.images, design):
            window = golden[slot.position, slot.channel]
            packed = sum(int(w) << (16 * j) for j, w in enumerate(window))
            expected.append(
                (
                    slot.channel * groups + slot.group,
                    slot.lane * design.groups + slot.group,
                    slot.group,
                    int(slot.channel == 0),
                    int(slot.channel == run.shape.n - 1),
                    packed,
                )
            )
    fields = ("slot_kernel_addr", "slot_acc_addr", "slot_group", "slot_first", "slot_last")
    got = [
        (*(row[at[f]] for f in fields), after[at["held"]])
        for row, after in zip(trace.rows, trace.rows[1:], strict=False)
        if row[at["slot_valid"]]
    ]
    assert len(got) == len(expected), f"{len(got)} of {len(expected)} slots"
    assert got == expected
    assert trace.rows[-1][at["complete"]] == 1
    assert trace.rows[-1][at["framing_error"]] == 0
    accepted = sum(r[at["sink_valid"]] and r[at["sink_ready"]] for r in trace.rows)
    assert accepted == sum(len(run.words) for run in runs)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("k", "p", "d"),
    [  # every k, p and d
        pytest.param(*each, marks=pytest.mark.full if (sum(each) + each[0]) % 3 else ())
        for each in product([1, 2, 3, 4, 5], [1, 2], [1, 2, 3])
    ],
)
def test_windows_and_slots_match_the_golden_order(k: int, p: int, d: int) -> None:
    rng = np.random.default_rng([k, p, d])
    latency = int(rng.integers(1, 6))
    design = design_for(k, p=p, d=d, add_latency=latency, fifo_words=int(rng.integers(8, 20)))
    runs = [
        make_run(random_shape(rng, k), int(rng.integers(1, 4)), seed, offer=pattern(rng),
                 pop=pattern(rng))
        for seed in range(2)
    ]  # fmt: skip
    budget = sum(
        12 * len(r.words) + 12 * sum(1 for _ in slots(r.shape, r.images, design)) + 200
        for r in runs
    )
    check(design, runs, run_input_path(design, runs, budget))


def verdicts(trace: Trace, name: str) -> int:
    return sum(trace.column(f"verdict_{name}"))


def check_cycles(design: EngineDesign, shape: Shape, images: int) -> InputFlow:
    run = make_run(shape, images, 1)
    model = input_flow(shape, images, design)
    budget = model.fill + model.issue + model.stall_input + model.stall_hazard
    trace = run_input_path(design, [run], budget + len(run.words) + 50)
    check(design, [run], trace)
    first = trace.column("verdict_issue").index(1)
    valid, ready = trace.column("sink_valid"), trace.column("sink_ready")
    fill = first - [v and r for v, r in zip(valid, ready, strict=True)].index(1)
    measured = InputFlow(
        fill,
        verdicts(trace, "issue"),
        sum(trace.column("verdict_stall_input")[first:]),
        verdicts(trace, "stall_hazard"),
    )
    assert measured == model
    assert verdicts(trace, "stall_output") == 0
    return model


def test_one_ring_of_rows_loses_nothing_between_rows_and_images() -> None:
    # Too strict a permission computes the right bits; only the cycles tell.
    flow = check_cycles(design_for(3, d=1), Shape(n=2, m=8, k=3, rows=5, columns=6, pad=1), 2)
    assert flow.stall_input == 0


def test_the_last_row_of_windows_leaves_room_for_the_next_image() -> None:
    # A single row of windows, its top in the border: only the image's end moves the floor, and
    # the next image's first window needs the row behind the kept ones.
    check_cycles(design_for(5, d=1), Shape(n=6, m=4, k=5, rows=3, columns=8, pad=1), 2)


def test_columns_left_of_the_window_are_written_ahead() -> None:
    # Two slots a window hide nothing: without the words written ahead, a new row of windows waits.
    flow = check_cycles(design_for(3, d=1), Shape(n=6, m=4, k=3, rows=5, columns=6, pad=1), 2)
    assert flow.stall_input == 0


@pytest.mark.parametrize("seed", [*range(6), *in_full(*range(6, 12))])
def test_cycles_equal_the_flow_model(seed: int) -> None:
    rng = np.random.default_rng([seed, 77])
    k = int(rng.integers(1, 6))
    design = design_for(
        k, p=int(rng.integers(1, 3)), d=int(rng.integers(1, 4)), add_latency=int(rng.integers(1, 6))
    )
    shape, images = random_shape(rng, k), int(rng.integers(1, 4))
    check_cycles(design, shape, images)


@pytest.mark.parametrize("leave", [True, False])
def test_idle_means_that_every_sum_has_left(leave: bool) -> None:
    run = make_run(Shape(n=1, m=2, k=2, rows=3, columns=3), 1, 1, pop=(int(leave),))
    trace = run_input_path(design_for(2), [run], 60)
    final = trace.column("verdict_final_issue").index(1)
    assert any(trace.column("verdict_idle")[final:]) == leave


def test_after_a_reset_no_word_is_asked_for() -> None:
    design = design_for(2)
    run = make_run(Shape(n=1, m=2, k=2, rows=3, columns=3), 1, 1)
    trace = run_input_path(design, [run], 60, reset_at=9)
    ready, rst = trace.column("sink_ready"), trace.column("rst")
    last_reset = len(rst) - 1 - rst[::-1].index(1)
    assert any(ready[:last_reset])
    assert not any(ready[last_reset + 1 :])


def test_after_a_reset_nothing_is_issued_and_no_cause_is_named() -> None:
    design = design_for(2)
    run = make_run(Shape(n=1, m=2, k=2, rows=4, columns=6), 1, 1)
    begin = run_input_path(design, [run], 60).column("verdict_issue").index(1)
    trace = run_input_path(design, [run], 60, reset_at=begin + 3)
    assert any(trace.column("slot_valid")[: begin + 4])
    for port in ("slot_valid", *(f"verdict_{cause}" for cause in CAUSES)):
        assert not any(trace.column(port)[begin + 5 :]), port


@pytest.mark.parametrize("early", [True, False], ids=["early", "missing"])
def test_framing_error_of_a_misplaced_last(early: bool) -> None:
    design = design_for(2)
    good = make_run(Shape(n=1, m=2, k=2, rows=3, columns=3), 1, 1)
    trace = run_input_path(design, [replace(good, last=4 if early else -1), good], 400)
    errors = trace.column("framing_error")
    second_start = [i for i, start in enumerate(trace.column("start")) if start][1]
    assert errors[second_start] == 1
    assert not any(errors[second_start + 1 :])


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(("k", "p", "d"), [(3, 2, 2), *rows_in_full((1, 1, 1), (4, 1, 3))])
def test_vhdl_equals_myhdl_in_every_cycle(k: int, p: int, d: int, replays: Replays) -> None:
    rng = np.random.default_rng([k, p, d, 5])
    runs = [
        make_run(random_shape(rng, k), 2, seed, offer=pattern(rng), pop=pattern(rng))
        for seed in range(2)
    ]
    assert replays(run_input_path(design_for(k, p=p, d=d), runs, 800), lint=True) == 800


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.parametrize(("k", "stride"), [(3, 2), (5, 4), (6, 5)])
def test_vhdl_turns_columns_by_a_stride_near_k(k: int, stride: int, replays: Replays) -> None:
    """Two places of a ring are added: their sum is wider than either."""
    size = k + 3 * stride
    shape = Shape(n=1, m=1, k=k, rows=k, columns=size, stride=stride, relu=False)
    trace = run_input_path(
        design_for(k, max_size=size, max_stride=stride), [make_run(shape, 1, 0)], 300
    )
    assert replays(trace) == 300
