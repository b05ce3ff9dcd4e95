"""Lists of commands: every effect against the golden player; failures, aborts, resets, the VHDL."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest
from processor_lists import LIST, drawn
from processor_play import DESIGN, WIDE, Play, bench, check, placed, without_waits

from block_bench import Recorded, Replays, Sample
from marks import few
from merp.models.memory import commands as make
from merp.models.memory.commands import Command, encoded
from merp.models.memory.params.commands import ENGINE, Failure, Operation


@pytest.mark.parametrize("pace", [1.0, 0.4])
def test_every_operation(pace: float) -> None:
    words = encoded(LIST)
    play = Play(placed(words), 64, len(words), pace=pace)
    check(play)
    assert play.golden().failure == Failure.NONE
    assert play.golden().commands == len(LIST)


def test_a_request_in_front_of_a_stop_is_waited_for() -> None:
    """All is idle in the cycle before the stop, and a request of that cycle is owed behind it."""
    words = encoded([make.END])

    def traced(busy: range) -> Recorded:
        play = Play(placed(words), 64, len(words))

        def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
            free = int(cycle not in busy)
            return {**play.drive(cycle, seen), "streams_idle": free, "fetch_idle": free}

        return bench(DESIGN).run(drive, 40)

    stop = traced(range(0)).column("streams_stop").index(1)
    clears = traced(range(stop, stop + 9)).column("streams_clear")
    assert clears.index(1) == stop + 9 + 2


def test_a_jump_goes_on_elsewhere() -> None:
    first = encoded([*make.write(8, [1]), make.jump(4000, 3), *make.write(8, [9])])
    second = encoded([*make.write(10, [2]), make.END])
    words = {**placed(first), **placed(second, 1000)}
    play = Play(words, 64, len(first))
    check(play)
    assert [each[1:] for each in play.effects if each[0] == "write"] == [(8, 1), (10, 2)]


def test_the_widest_processor() -> None:
    far = (1 << 39) + 4096
    first = encoded([make.start(range(32)), make.jump(far, 4)])
    second = encoded([make.wait(range(32), [0], 100), make.END])
    check(Play({**placed(first), **placed(second, far // 4)}, 64, len(first), design=WIDE))


ILLEGAL = [
    Command(0),
    Command(10),
    Command(Operation.WRITE),
    Command(Operation.WALK, (0,) * 15),
    Command(Operation.WALK, (0,) * 16, place=5),
    Command(Operation.START, (1 << 5 | 1,)),
    Command(Operation.START, (1, 2)),
    Command(Operation.WAIT, (1 << 31, 100)),
    Command(Operation.WAIT, (1,)),
    Command(Operation.WAIT, (1, 100), place=1 << 2),
    Command(Operation.RECORD),
    Command(Operation.EXPECT),
    Command(Operation.JUMP, (0, 0)),
    Command(Operation.INTERRUPT, (1,)),
    Command(Operation.END, (1,)),
    make.load(5),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize("illegal", ILLEGAL)
def test_an_illegal_command_touches_nothing(illegal: Command) -> None:
    words = encoded([*make.write(8, [5]), illegal, *make.write(9, [6]), make.END])
    play = Play(placed(words), 64, len(words))
    check(play)
    assert play.golden().failure == Failure.ILLEGAL
    assert play.golden().commands == 2
    assert play.effects == [("write", 8, 5), ("interrupt",)]


@pytest.mark.parametrize(
    ("bad", "failure"),
    [
        (make.write(7, [1])[0], Failure.REFUSED),
        (make.write(60, [1])[0], Failure.REFUSED),
        (make.write(2 * ENGINE + 8, [1])[0], Failure.REFUSED),
        (make.record(58, 3)[0], Failure.REFUSED),
        (make.expect(8, 5), Failure.UNEXPECTED),
        (make.jump(4000, 0), Failure.SHORT),
    ],
)
def test_a_failure_ends_the_list(bad: Command, failure: Failure) -> None:
    words = encoded([make.INTERRUPT, bad, *make.write(9, [6]), make.END])
    play = Play(placed(words), 64, len(words))
    check(play)
    assert play.golden().failure == failure


@pytest.mark.parametrize("size", range(8))
def test_a_list_without_its_end_is_short(size: int) -> None:
    words = encoded([*make.write(8, [5, 6]), make.expect(8, 5), make.INTERRUPT, make.END])
    play = Play(placed(words), 64, size)
    check(play)
    wanted = Failure.SHORT if size < 7 else Failure.NONE
    assert play.golden().failure == wanted


@pytest.mark.parametrize("limit", [1, 5, 20, 80])
def test_a_wait_has_a_limit(limit: int) -> None:
    words = encoded([make.start([2]), make.wait([2, 3], [], limit), make.END])
    play = Play(placed(words), 64, len(words), slowest=1)
    play.ends[3] = 60
    trace = play.run(200)
    failure = Failure.NONE if limit > 60 else Failure.TIME
    assert trace.column("status_failure")[-1] == failure
    if failure:
        assert trace.column("status_waiting")[-1] == 1 << 3
        begun = trace.column("status_waiting").index(1 << 3)
        assert trace.column("streams_stop").index(1) - begun == limit


@pytest.mark.parametrize("full_from", [0, 2])
def test_a_record_without_a_place_has_a_limit(full_from: int) -> None:
    """Its walk has ended, or was never started."""
    design = replace(DESIGN, record_cycles=40)
    words = encoded([*make.record(8, 4), make.END])
    play = Play(placed(words), 64, len(words), design=design, full_from=full_from)
    trace = play.run(300)
    assert trace.columns("status_busy", "status_done", "status_failure")[-1] == (0, 1, Failure.TIME)
    assert trace.column("status_waiting")[-1] == 1 << design.streams - 1
    assert play.recorded == full_from
    assert play.aborted == [0, 1]
    valid = trace.column("records_valid")
    assert sum(valid) == full_from + design.record_cycles + 1
    assert trace.column("streams_stop").index(1) == len(valid) - valid[::-1].index(1)


def test_a_record_may_find_its_place_in_the_last_cycle() -> None:
    words = encoded([*make.record(8, 1), make.END])
    for late, failure in ((40, Failure.NONE), (41, Failure.TIME)):
        play = Play(placed(words), 64, len(words), design=replace(DESIGN, record_cycles=40))
        begun: list[int] = []

        def drive(
            cycle: int, seen: Sample, play: Play = play, late: int = late, begun: list[int] = begun
        ) -> Mapping[str, int]:
            inputs = play.drive(cycle, seen)
            if cycle and seen["records_valid"]:
                begun.append(cycle)
            return {**inputs, "records_ready": int(len(begun) >= late)}

        trace = bench(play.design).run(drive, 200)
        assert trace.column("status_failure")[-1] == failure


def test_a_wait_for_an_interrupt_of_an_engine() -> None:
    words = encoded([make.wait([], [1], 50), make.END])
    play = Play(placed(words), 64, len(words))
    play.interrupts = 1
    assert play.run(200).column("status_failure")[-1] == Failure.TIME


@pytest.mark.parametrize("abort_at", range(2, 120, 7))
def test_the_host_ends_a_list_at_any_time(abort_at: int) -> None:
    words = encoded(LIST)
    play = Play(placed(words), 64, len(words), pace=0.6, abort_at=abort_at)
    trace = play.run(600)
    assert trace.columns("status_busy", "status_done")[-1] == (0, 1)
    assert trace.column("status_failure")[-1] == Failure.ABORTED
    effects = without_waits(play.golden())[:-1]
    assert play.effects == [*effects[: len(play.effects) - 1], ("interrupt",)]
    assert play.aborted == [0, 1]
    stopped = trace.column("streams_stop").index(1)
    assert not any(trace.column("streams_start")[stopped:])


@pytest.mark.parametrize("fail_at", [10, 40, 70, 100])
def test_an_error_of_memory_ends_the_list(fail_at: int) -> None:
    words = encoded(LIST)
    trace = Play(placed(words), 64, len(words), fail_at=fail_at).run(400)
    assert trace.column("status_failure")[-1] == Failure.MEMORY


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", few(range(40), *range(0, 40, 4)))
def test_random_lists(seed: int) -> None:
    rng = Random(seed)
    words = encoded(drawn(rng, DESIGN))
    check(Play(placed(words), 64, len(words), seed, pace=rng.choice([1.0, 0.5])), 3000)


def test_a_list_starts_after_a_failure_as_after_a_reset() -> None:
    bad = encoded([make.start([0]), Command(0)])
    good = encoded(LIST)
    first = Play(placed(bad), 64, len(bad))
    last = Play(placed(good), 64, len(good))

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        if cycle < 120:
            return first.drive(cycle, seen)
        if cycle == 120:
            assert not seen["status_busy"]
            return {**last.drive(0, {}), "rst": 0}
        return last.drive(cycle - 120, seen)

    trace = bench(DESIGN).run(drive, 700)
    assert last.effects == without_waits(last.golden())
    assert trace.columns("status_busy", "status_failure")[-1] == (0, 0)


@pytest.mark.ghdl
def test_command_processor_vhdl(replays: Replays) -> None:
    words = encoded(LIST)
    replays(Play(placed(words), 64, len(words), pace=0.6).run(300), lint=True)
    words = encoded([make.start([0]), make.jump(4000, 4)])
    replays(Play(placed(words), 64, len(words), design=WIDE).run(120))
