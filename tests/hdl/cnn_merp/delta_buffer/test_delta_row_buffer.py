"""Deltas of two rows: words in place, credits and capacity."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, at_random, columns
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.delta_buffer.delta_ports import Arriving, SlotDeltas
from merp.hdl.cnn_merp.delta_buffer.delta_row_buffer import delta_row_buffer
from merp.hdl.cnn_merp.ports.gradients import DeltaElement
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.cnn_merp.ports.slots import RowSlot
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.cnn_merp.delta_bench import DeltaRun, Driver, Use, check, play

BYTE = FloatFormat(4, 3)  # elements are only carried, so few bits do


def design_for(n_cu: int, groups: int) -> EngineDesign:
    return EngineDesign(
        fmt=BYTE, k=1, n_cu=n_cu, r=1, groups=groups, kernel_words=2 * groups, row_words=4,
        max_size=4, max_maps=4, max_images=2, fifo_words=groups,
    )  # fmt: skip


def uses(run: DeltaRun) -> list[Use]:
    """Each row n times over for each group, and then freed."""
    images, rows, columns = run.size
    return [
        Use(
            row * columns + column,
            group,
            row == 0,
            {
                "slot_delta_word": column * run.groups + group,
                "slot_row_last": int(
                    (i, group, column) == (run.n - 1, run.groups - 1, columns - 1)
                ),
            },
            row + 1 if i == group == column == 0 else 0,
            column == 0,
        )
        for row in range(images * rows)
        for i in range(run.n)
        for group in range(run.groups)
        for column in range(columns)
    ]


def played(
    design: EngineDesign, runs: Sequence[DeltaRun], cycles: int = 600
) -> tuple[Driver, Recorded]:
    return play(delta_row_buffer, RowSlot(design), design, runs, uses, ["slot_row_last"], cycles)


@pytest.mark.parametrize(("n_cu", "groups"), [(1, 1), (1, 4), (3, 2), (4, 4)])
def test_words_in_place_under_pressure(n_cu: int, groups: int) -> None:
    design = design_for(n_cu, groups)
    rng = Random(f"{n_cu} {groups}")
    runs = [
        DeltaRun(design, m, (rng.randrange(1, 3), 3, rng.randrange(1, 5)), rng.randrange(1, 3), m,
            rng.choice((0.4, 1.0)), rng.choice((0.4, 1.0)), rng.randrange(3))
        for m in sorted({1, n_cu, n_cu * groups, rng.randrange(1, n_cu * groups + 1)})
    ]  # fmt: skip
    driver, trace = played(design, runs, 3000)
    check(driver, trace)
    assert not any(trace.column("arriving_framing_error"))


def test_rows_come_as_fast_as_they_go() -> None:
    """A row may be completed in the very cycle in which another one is read for the last time."""
    design = design_for(1, 4)
    runs = [DeltaRun(design, 4, (2, 4, 2), 1, seed, use=0.6) for seed in range(8)]
    driver, trace = played(design, runs, 2000)
    check(driver, trace)
    names = ("start", "sink_valid", "sink_ready", "arriving_filled", "slot_valid", "slot_row_last")
    there = left = together = read = 0
    words = iter(runs)
    for start, valid, ready, filled, slot, row_last in columns(trace, *names):
        there = 0 if start else there + filled - read
        assert not left or ready or there == 2
        together |= filled and read
        read = slot and row_last
        left = len(next(words).words) if start else left - (valid and ready)
    assert together


def test_no_more_than_two_rows() -> None:
    """Without a reader it takes two rows and all but one element of the next word."""
    design = design_for(3, 2)
    driver, trace = played(design, [DeltaRun(design, 5, (1, 4, 4), 1, 0, use=0.0)], 80)
    cycles = [cycle for cycle, *_ in driver.transfers]
    assert cycles == list(range(cycles[0], cycles[0] + 2 * 4 * 5 + 2))
    assert trace.column("sink_ready")[-1] == 0


def test_the_first_row_opens() -> None:
    design = design_for(2, 2)
    runs = [DeltaRun(design, 4, (2, 2, 3), 2, seed) for seed in (0, 1)]
    driver, trace = played(design, runs, 400)
    check(driver, trace)
    assert {first for _, _, first in driver.expected} == {0, 1}


@pytest.mark.parametrize("reset_at", range(3, 40, 4))
def test_reset_in_mid_stream(reset_at: int) -> None:
    design = design_for(2, 2)
    run = DeltaRun(design, 3, (1, 3, 2), 2, 1)
    driver, trace = played(design, [replace(run, reset_at=reset_at), run], 200)
    begin = [cycle for cycle, start in enumerate(trace.column("start")) if start][1]
    check(driver, trace, begin)


def test_a_reset_wins_over_a_row_that_is_complete() -> None:
    """Rows of one word, without a reader: a row is taken in some of the resets' cycles."""
    design = design_for(1, 1)
    run = DeltaRun(design, 1, (2, 4, 1), 1, 0)
    bench = BlockBench(
        delta_row_buffer, "clk rst start", config=GradientMapConfig(design),
        sink=Stream(BYTE.width), slot=RowSlot(design), operand=SlotDeltas(bits(BYTE.width), flag()),
        arriving=Arriving(flag(), DeltaElement(design), flag()), design=design,
    )  # fmt: skip
    flags = {"sink_valid": 0.7, "sink_last": 0.1}
    session = at_random(flags, {"sink_data": BYTE.width}, run.config())
    element = "arriving_element"
    payload = {
        f"{element}_valid": f"{element}_data {element}_index {element}_opening",
        "slot_valid": "operand_deltas operand_opening",  # of a slot; there is none
    }
    bench.as_new_after_reset(session, range(2, 8), 10, payload=payload)


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(("n_cu", "groups"), [(1, 4), (3, 2)])
def test_delta_rows_vhdl(n_cu: int, groups: int, replays: Replays) -> None:
    design = design_for(n_cu, groups)
    runs = [
        DeltaRun(design, n_cu * groups - i, (1, 3, 3), 2, i, offer=0.7, use=0.5) for i in range(2)
    ]
    driver, trace = played(design, runs, 500)
    check(driver, trace)
    assert replays(trace, lint=True) == 500
