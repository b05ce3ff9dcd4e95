"""Words of one of several engines: that one hands them on in order, and the others wait."""

from random import Random

import pytest
from switch_cases import CASES, CYCLES, NUMBERS, PACES

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import Bundles, Stream, bits
from merp.hdl.memory.write_switch import write_switch


def play(numbers: tuple[int, ...], seed: int) -> Recorded:
    """Engines hold their words; between them the selection changes, also to nobody's number."""
    bench = BlockBench(
        write_switch,
        selected=bits(3),
        engines=Bundles({f"e{number}": Stream(8) for number in numbers}),
        stream=Stream(8),
        numbers=numbers,
    )
    rng = Random(f"{numbers} {seed}")
    given = {f"engines_e{number}": rng.choice(PACES) for number in numbers}
    taken = rng.choice(PACES)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = {"stream_ready": int(rng.random() < taken)}
        for name, pace in given.items():
            if not seen or not seen[f"{name}_valid"] or seen[f"{name}_ready"]:
                values[f"{name}_valid"] = int(rng.random() < pace)
                values[f"{name}_data"] = rng.getrandbits(8)
                values[f"{name}_last"] = rng.getrandbits(1)
        between = not seen or not seen["stream_valid"] or seen["stream_ready"]
        if between and rng.random() < 0.2:
            values["selected"] = rng.choice([*numbers, rng.randrange(8)])
        return values

    return bench.run(drive, CYCLES)


@pytest.mark.parametrize(("numbers", "seed"), CASES)
def test_words_are_those_of_the_selected_engine(numbers: tuple[int, ...], seed: int) -> None:
    trace = play(numbers, seed)
    selected = trace.column("selected")
    words = []
    for number in numbers:
        given = trace.transfers(f"engines_e{number}")
        assert len(given) > 5
        assert {selected[t] for t, *_ in given} == {number}
        words += given
    assert trace.transfers("stream") == sorted(words)


@pytest.mark.parametrize(("numbers", "seed"), CASES)
def test_it_offers_as_the_selected_engine_does(numbers: tuple[int, ...], seed: int) -> None:
    trace = play(numbers, seed)
    offers = {number: trace.column(f"engines_e{number}_valid") for number in numbers}
    selected = trace.column("selected")
    valid = [offers[number][t] if number in numbers else 0 for t, number in enumerate(selected)]
    assert trace.column("stream_valid") == valid
    assert any(
        number not in numbers and any(offered[t] for offered in offers.values())
        for t, number in enumerate(selected)
    ), "words wait while nobody is selected"


@pytest.mark.parametrize(("numbers", "seed"), CASES)
def test_only_the_selected_engine_is_ready(numbers: tuple[int, ...], seed: int) -> None:
    trace = play(numbers, seed)
    taken = trace.columns("selected", "stream_ready")
    assert any(number not in numbers and ready for number, ready in taken)
    for number in numbers:
        ready = [int(chosen == number and free) for chosen, free in taken]
        assert trace.column(f"engines_e{number}_ready") == ready


@pytest.mark.sample(1)
@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("numbers", NUMBERS)
def test_vhdl_replays(numbers: tuple[int, ...], replays: Replays) -> None:
    assert replays(play(numbers, 1), lint=True) == CYCLES
