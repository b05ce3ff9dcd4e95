"""Elements of folded images on their way into the banks, between the maps of convolutions."""

from dataclasses import replace

import numpy as np
import pytest

from block_bench import Replays
from marks import rows_in_full
from merp.models.base.folded_shape import FoldedShape, run_shape
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.golden.window import windows
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.slots import slots
from merp.testbenches.block.trace import Trace
from merp.testbenches.cnn_merp.input_bench import (
    InputRun,
    make_run,
    pattern,
    random_shape,
    run_input_path,
)

TAG = FloatFormat(8, 7)  # 16-bit words, used as tags


def design_for(k: int, p: int = 1, d: int = 1) -> EngineDesign:
    return EngineDesign(
        fmt=TAG, k=k, n_cu=2, r=1, p=p, d=d, kernel_words=64, groups=8, row_words=64,
        max_size=16, max_maps=8, max_images=4, max_stride=7, fifo_words=32, folded=True,
    )  # fmt: skip


def connected(n: int, m: int, k: int) -> Shape:
    return run_shape(Shape(n=n, m=m, k=1, rows=1, columns=1), k)


def windows_of(run: InputRun) -> list[int]:
    """Every slot's window, packed, in the order of slots."""
    shape, words = run.shape, np.array(run.words, np.uint32)
    if isinstance(shape, FoldedShape):  # the elements of a map come one after the other
        golden = words.reshape(run.images, shape.n, shape.k**2)
    else:
        x = words.reshape(run.images, shape.rows, shape.columns, shape.n)
        golden = windows(x, shape).reshape(-1, shape.n, shape.k**2)
    return [
        sum(int(w) << (16 * j) for j, w in enumerate(golden[at]))
        for at in np.ndindex(golden.shape[:2])
    ]


def check(design: EngineDesign, runs: list[InputRun], trace: Trace) -> None:
    fields = ("slot_valid", "slot_first", "slot_group", "held")
    columns = [trace.column(name) for name in fields]
    found = [
        (columns[1][at], columns[3][at + 1]) for at in range(len(columns[0]) - 1) if columns[0][at]
    ]
    expected = []
    for run in runs:
        golden = windows_of(run)
        expected += [
            (int(slot.channel == 0), golden[slot.position * run.shape.n + slot.channel])
            for slot in slots(run.shape, run.images, design)
        ]
    assert found == expected
    assert trace.column("complete")[-1] == 1
    ends = {0, *np.cumsum([len(run.words) for run in runs]).tolist()}
    accepted = 0
    names = ("sink_valid", "sink_ready", "complete")
    for valid, ready, complete in zip(*(trace.column(name) for name in names), strict=True):
        assert not complete or accepted in ends
        accepted += valid and ready
    assert trace.column("framing_error")[-1] == 0


def mixed_runs(design: EngineDesign, seed: int) -> list[InputRun]:
    """Folded runs and convolutions in turns, under any pressure."""
    rng = np.random.default_rng([design.k, design.p, design.d, seed])
    runs = []
    for index in range(4):
        shape = random_shape(rng, design.k)
        if index != 1:
            elements = int(rng.integers(1, 3 * design.taps + 1))
            shape = connected(elements, int(rng.integers(1, 17)), design.k)
        pressure = {"offer": pattern(rng), "pop": pattern(rng)}
        runs.append(make_run(shape, int(rng.integers(1, 5)), seed + index, **pressure))
    return runs


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("k", "p", "d"), [(2, 1, 1), (3, 2, 2), *rows_in_full((2, 2, 3), (4, 1, 2))]
)
def test_windows_are_those_of_the_folded_maps(k: int, p: int, d: int, seed: int) -> None:
    design = design_for(k, p, d)
    runs = mixed_runs(design, seed)
    check(design, runs, run_input_path(design, runs, 8000))


def test_an_image_waits_until_the_place_that_it_takes_has_been_read() -> None:
    """Eight slots for each window, and a window's elements come in four cycles."""
    design = design_for(2)
    runs = [make_run(connected(12, 16, 2), 4, 3)]
    check(design, runs, run_input_path(design, runs, 400))


@pytest.mark.parametrize("early", [True, False], ids=["early", "missing"])
def test_framing_error_of_a_misplaced_last(early: bool) -> None:
    design = design_for(2)
    good = make_run(connected(9, 2, 2), 1, 1)
    trace = run_input_path(design, [replace(good, last=4 if early else -1), good], 400)
    errors = trace.column("framing_error")
    second_start = [i for i, start in enumerate(trace.column("start")) if start][1]
    assert errors[second_start] == 1
    assert not any(errors[second_start + 1 :])


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(("k", "p", "d"), [(3, 2, 2), *rows_in_full((2, 1, 1))])
def test_vhdl_equals_myhdl_in_every_cycle(k: int, p: int, d: int, replays: Replays) -> None:
    design = design_for(k, p, d)
    replays(run_input_path(design, mixed_runs(design, 9), 3000), lint=True)
