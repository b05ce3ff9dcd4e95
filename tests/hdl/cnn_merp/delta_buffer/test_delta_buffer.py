"""The delta buffer: words in place, credits, capacity, and what the bias gradients see."""

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.cnn_merp.delta_buffer.delta_buffer import delta_buffer
from merp.hdl.cnn_merp.ports.slots import Slot
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.cnn_merp.delta_bench import (
    DeltaRun,
    Driver,
    Use,
    arguments,
    check,
    play,
)

BYTE = FloatFormat(4, 3)  # elements are only carried, so few bits do


def design_for(n_cu: int, groups: int) -> EngineDesign:
    return EngineDesign(
        fmt=BYTE, k=1, n_cu=n_cu, r=1, groups=groups, kernel_words=2 * groups, row_words=4,
        max_size=4, max_maps=4, max_images=2, fifo_words=groups,
    )  # fmt: skip


def uses(run: DeltaRun) -> list[Use]:
    """Each position's words, n times over; the last time they are freed."""
    return [
        Use(
            position,
            group,
            position == 0,
            {"slot_group": group, "slot_last": int(i == run.n - 1)},
            (position + 1) * run.groups if i == group == 0 else 0,
            group == 0,
        )
        for position in range(run.positions)
        for i in range(run.n)
        for group in range(run.groups)
    ]


def played(
    design: EngineDesign, runs: Sequence[DeltaRun], cycles: int = 600
) -> tuple[Driver, Recorded]:
    return play(delta_buffer, Slot(design), design, runs, uses, ["slot_last"], cycles)


@pytest.mark.parametrize(("n_cu", "groups"), [(1, 1), (1, 4), (3, 2), (4, 4)])
def test_words_in_place_under_pressure(n_cu: int, groups: int) -> None:
    design = design_for(n_cu, groups)
    rng = Random(f"{n_cu} {groups}")
    runs = [
        DeltaRun(design, m, (rng.randrange(1, 3), 2, rng.randrange(1, 4)), rng.randrange(1, 3), m,
            rng.choice((0.4, 1.0)), rng.choice((0.4, 1.0)), rng.randrange(3))
        for m in sorted({1, n_cu, n_cu * groups, rng.randrange(1, n_cu * groups + 1)})
    ]  # fmt: skip
    driver, trace = played(design, runs, 1500)
    check(driver, trace)
    assert not any(trace.column("arriving_framing_error"))


def test_a_word_per_cycle_and_no_more_than_two_positions() -> None:
    """Without a reader the buffer takes 2*G words and all but one element of the next."""
    design = design_for(3, 2)
    driver, trace = played(design, [DeltaRun(design, 5, (1, 2, 2), 1, 0, use=0.0)], 60)
    cycles = [cycle for cycle, *_ in driver.transfers]
    assert cycles == list(range(cycles[0], cycles[0] + 2 * 5 + 2))
    assert trace.column("sink_ready")[-1] == 0


def test_rest_between_positions() -> None:
    design = design_for(2, 2)
    driver, _ = played(design, [DeltaRun(design, 2, (1, 2, 2), 1, 0, delta_rest=3)], 100)
    cycles = [cycle for cycle, *_ in driver.transfers]
    gaps = [after - before for before, after in pairwise(cycles)]
    assert gaps == [1, 4, 1, 4, 1, 4, 1]


@pytest.mark.parametrize(("last", "error"), [(-1, 0), (-2, 1), (99, 1)])
def test_framing_error_of_a_misplaced_last(last: int, error: int) -> None:
    design = design_for(2, 2)
    runs = [
        DeltaRun(design, 3, (1, 2, 2), 1, seed, last=last if seed == 0 else -1) for seed in (0, 1)
    ]
    driver, trace = played(design, runs, 120)
    check(driver, trace)
    errors = trace.column("arriving_framing_error")
    assert (errors[driver.ends[0] - 1], errors[-1]) == (error, 0)


def test_reset_in_mid_stream() -> None:
    design = design_for(2, 2)
    for reset_at in range(2, 16, 2):
        runs = [
            DeltaRun(design, 3, (1, 2, 2), 2, reset_at, reset_at=reset_at),
            DeltaRun(design, 4, (1, 2, 1), 1, 1),
        ]
        driver, trace = played(design, runs, 120)
        begin = trace.column("start").index(1, trace.column("start").index(1) + 1)
        check(driver, trace, begin)


def test_a_word_that_is_complete_in_the_cycle_of_a_reset_is_not_there() -> None:
    """The reset comes with the word's last element; nor is an error, before the next start."""
    design = design_for(2, 1)

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        config = DeltaRun(design, 2, (1, 2, 2), 1, 0).config()
        return config | {
            "rst": int(cycle in (0, 5)), "start": int(cycle == 1),
            "sink_valid": int(2 <= cycle < 6), "sink_data": cycle, "sink_last": int(cycle == 2),
        }  # fmt: skip

    args = arguments(Slot(design), design)
    trace = BlockBench(delta_buffer, **args).run(drive, 9)
    assert trace.column("arriving_filled") == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert trace.column("arriving_framing_error") == [0, 0, 0, 1, 1, 1, 0, 0, 0]


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(("n_cu", "groups"), [(1, 4), (3, 2), (2, 4)])
def test_delta_buffer_vhdl(n_cu: int, groups: int, replays: Replays) -> None:
    design = design_for(n_cu, groups)
    settings: list[dict[str, Any]] = [{"offer": 0.7}, {"use": 0.5}]
    runs = [
        DeltaRun(design, n_cu * groups - i, (1, 2, 2), 2, i, **setting)
        for i, setting in enumerate(settings)
    ]
    driver, trace = played(design, runs, 300)
    check(driver, trace)
    assert replays(trace, lint=True) == 300
