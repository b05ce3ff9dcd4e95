"""Words for one of several engines: that one has them in order, and no other sees any."""

from random import Random

import pytest
from switch_cases import CASES, CYCLES, NUMBERS, PACES

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import Bundles, Stream, bits
from merp.hdl.memory.read_switch import read_switch


def play(numbers: tuple[int, ...], seed: int) -> Recorded:
    """The source holds its words; between them the selection changes, also to nobody's number."""
    bench = BlockBench(
        read_switch,
        selected=bits(3),
        stream=Stream(8),
        engines=Bundles({f"e{number}": Stream(8) for number in numbers}),
        numbers=numbers,
    )
    rng = Random(f"{numbers} {seed}")
    given = rng.choice(PACES)
    taken = {number: rng.choice(PACES) for number in numbers}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = {f"engines_e{each}_ready": int(rng.random() < taken[each]) for each in numbers}
        between = not seen or not seen["stream_valid"] or seen["stream_ready"]
        if between:
            values["stream_valid"] = int(rng.random() < given)
            values["stream_data"] = rng.getrandbits(8)
            values["stream_last"] = rng.getrandbits(1)
        # Nobody takes the word of an unknown number, thus the selection changes while it waits.
        if (between or seen["selected"] not in numbers) and rng.random() < 0.2:
            values["selected"] = rng.choice([*numbers, rng.randrange(8)])
        return values

    return bench.run(drive, CYCLES)


@pytest.mark.parametrize(("numbers", "seed"), CASES)
def test_each_word_is_the_selected_engines(numbers: tuple[int, ...], seed: int) -> None:
    trace = play(numbers, seed)
    selected = trace.column("selected")
    words = trace.transfers("stream")
    for number in numbers:
        taken = trace.transfers(f"engines_e{number}")
        assert len(taken) > 5
        assert taken == [word for word in words if selected[word[0]] == number]
    assert {selected[t] for t, *_ in words} == set(numbers)


@pytest.mark.parametrize(("numbers", "seed"), CASES)
def test_only_the_selected_engine_sees_words(numbers: tuple[int, ...], seed: int) -> None:
    trace = play(numbers, seed)
    given = trace.columns("selected", "stream_valid")
    assert any(valid and chosen not in numbers for chosen, valid in given)
    for number in numbers:
        offered = [int(valid and chosen == number) for chosen, valid in given]
        assert trace.column(f"engines_e{number}_valid") == offered


@pytest.mark.parametrize(("numbers", "seed"), CASES)
def test_it_takes_as_the_selected_engine_does(numbers: tuple[int, ...], seed: int) -> None:
    trace = play(numbers, seed)
    readies = {number: trace.column(f"engines_e{number}_ready") for number in numbers}
    chosen = enumerate(trace.column("selected"))
    ready = [readies[number][t] if number in numbers else 0 for t, number in chosen]
    assert trace.column("stream_ready") == ready


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("numbers", NUMBERS)
def test_vhdl_replays(numbers: tuple[int, ...], replays: Replays) -> None:
    assert replays(play(numbers, 1), lint=True) == CYCLES
