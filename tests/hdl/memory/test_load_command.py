"""The load of a bitstream at the end of a list: aborts, errors and resets at every moment."""

from collections.abc import Mapping
from random import Random

import pytest
from processor_lists import LIST, drawn
from processor_play import LOADING, Play, bench, check, placed

from block_bench import Recorded, Replays, Sample
from marks import few, in_full
from merp.models.memory import commands as make
from merp.models.memory.commands import Command, encoded
from merp.models.memory.params.commands import Failure, Operation

ADDRESS = 0x00420000
SHORT = [make.start([2]), make.load(ADDRESS), *make.write(9, [6]), make.END]
"""A list whose stream still runs as the load comes. Commands behind the load have no effect."""

CYCLES = 80
STATE = ("status_busy", "status_load", "status_failure")


def play_of(commands: list[Command], **kinds: int) -> Play:
    words = encoded(commands)
    return Play(placed(words), 64, len(words), design=LOADING, **kinds)


@pytest.mark.parametrize("behind", [[], [make.END], [make.load(1)]])
def test_a_load_ends_the_list(behind: list[Command]) -> None:
    play = play_of([*LIST[:-1], make.load(ADDRESS), *behind])
    trace = check(play)
    assert play.effects[-2:] == [("load", ADDRESS), ("interrupt",)]
    assert trace.columns(*STATE, "status_bitstream")[-1] == (0, 1, 0, ADDRESS)


@pytest.mark.parametrize("count", [0, 2, 3])
def test_another_number_of_words_is_illegal(count: int) -> None:
    play = play_of([Command(Operation.LOAD, (5,) * count), make.END])
    assert check(play).columns(*STATE)[-1] == (0, 0, Failure.ILLEGAL)


def test_a_load_without_its_word_is_short() -> None:
    words = encoded([make.load(5)])[:1]
    play = Play(placed(words), 64, 1, design=LOADING)
    assert check(play).columns(*STATE)[-1] == (0, 0, Failure.SHORT)


def test_the_next_list_forgets_the_load() -> None:
    first, second = play_of([make.load(5)]), play_of(LIST)

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        if cycle < CYCLES:
            return first.drive(cycle, seen)
        rst = {"rst": 0}
        return second.drive(cycle - CYCLES, seen if cycle > CYCLES else {}) | rst

    trace = bench(LOADING).run(drive, 600)
    assert trace.columns(*STATE)[CYCLES] == (0, 1, 0)
    assert trace.columns(*STATE)[-1] == (0, 0, 0)
    assert first.effects[0] == ("load", 5)
    assert ("load", 5) not in second.effects


def loads(trace: Recorded) -> list[int]:
    """The cycles in which a load begins."""
    return [cycle for cycle, begins in enumerate(trace.column("status_load_begins")) if begins]


MOMENTS = range(2, 40)


@pytest.mark.parametrize("cause", ["abort_at", "fail_at"])
def test_until_it_begins_an_abort_or_an_error_prevents_a_load(cause: str) -> None:
    """At every moment: the list fails and nothing is loaded, or it is loaded and all is well."""
    (begun,) = loads(play_of(SHORT).run(CYCLES))
    failure = Failure.ABORTED if cause == "abort_at" else Failure.MEMORY
    prevented = set()
    for moment in MOMENTS:
        trace = play_of(SHORT, **{cause: moment}).run(CYCLES)
        found = loads(trace)
        state = trace.columns(*STATE)[-1]
        assert state == ((0, 1, 0) if found else (0, 0, failure))
        if not found:
            prevented.add(moment)
    last = begun - 2 if cause == "abort_at" else begun - 1
    assert prevented == set(range(2, last + 1))


def test_a_reset_prevents_a_load() -> None:
    """The next list, which has no load, ends without one."""
    for moment in MOMENTS:
        first, second = play_of(SHORT), play_of([make.END])

        def drive(
            cycle: int, seen: Sample, plays: tuple[Play, Play] = (first, second), at: int = moment
        ) -> Mapping[str, int]:
            if cycle <= at:
                return {**plays[0].drive(cycle, seen), "rst": int(cycle in (0, at))}
            return plays[1].drive(cycle - at - 1, seen if cycle > at + 1 else {})

        trace = bench(LOADING).run(drive, moment + 40)
        assert all(cycle <= moment for cycle in loads(trace))
        assert not any(trace.column("status_load")[moment + 1 :])
        assert trace.columns(*STATE)[-1] == (0, 0, 0)
        assert second.effects == [("interrupt",)]


@pytest.mark.parametrize("seed", few(range(40), *range(0, 40, 8)))
def test_random_lists_with_loads(seed: int) -> None:
    rng = Random(seed)
    commands = drawn(rng, LOADING)
    place = rng.randrange(len(commands) + 1)
    commands.insert(place, make.load(rng.getrandbits(32)))
    words = encoded(commands)
    check(Play(placed(words), 64, len(words), seed, LOADING, rng.choice([1.0, 0.5])), 3000)


@pytest.mark.ghdl
@pytest.mark.parametrize("failing", [0, *in_full(1)])
def test_load_command_vhdl(failing: int, replays: Replays) -> None:
    replays(play_of(SHORT, **({"fail_at": 9} if failing else {})).run(CYCLES), lint=True)
