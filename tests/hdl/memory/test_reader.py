"""A reader: words of walks from a memory with latency and gaps, errors, stops, resets, the VHDL."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
from movers import burst_inputs, mover_commands, mover_state

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import Stream
from merp.hdl.memory.mover_ports import ReadChannels
from merp.hdl.memory.reader import reader
from merp.hdl.memory.requests import Bursts
from merp.models.memory.bursts import bursts_of
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.walk import Run
from merp.testbenches.memory.read_memory import DECERR, SLVERR, ReadMemory

PORT = MemoryPort(data_bits=64, burst_beats=8)
MOVER = Mover(port=PORT, word_bits=16, places=16, bursts=3)
WHOLE = Mover(port=PORT, word_bits=64, places=8, bursts=2)
MOVERS = [MOVER, WHOLE]


def bench(mover: Mover) -> BlockBench:
    return BlockBench(
        reader,
        "clk rst",
        commands=mover_commands(),
        bursts=Bursts(mover),
        channels=ReadChannels(PORT),
        source=Stream(mover.word_bits),
        state=mover_state(PORT),
        mover=mover,
    )


def content(address: int) -> int:
    """The beat at an address."""
    return Random(address).getrandbits(PORT.data_bits)


class Play:
    """Bursts at one rate, requests taken at one, beats from memory, words taken at another."""

    def __init__(
        self, runs: Sequence[Run], mover: Mover, seed: int = 1, *, offered: float = 1.0,
        granted: float = 1.0, taken: float = 1.0, stop_at: int = 1 << 30, **memory: Any,
    ) -> None:  # fmt: skip
        self.rng = Random(seed)
        self.mover = mover
        self.left = list(bursts_of(runs, mover))
        self.rates = offered, granted, taken
        self.stop_at = stop_at
        self.memory = ReadMemory(content, Random(seed), **memory)
        self.inputs: dict[str, int] = {"bursts_valid": 0}

    def drive(self, cycle: int, seen: Sample) -> Mapping[str, int]:
        offered, granted, taken = self.rates
        if cycle and seen["requests_valid"] and seen["requests_ready"]:
            self.memory.request(cycle, seen["requests_address"], seen["requests_length"])
        if cycle and seen["bursts_valid"] and seen["bursts_ready"]:
            self.inputs["bursts_valid"] = 0
        if cycle and self.left and not self.inputs["bursts_valid"] and self.rng.random() < offered:
            self.inputs.update(burst_inputs(self.left.pop(0)))
        return {
            **self.inputs,
            **{f"beats_{name}": value for name, value in self.memory.beat(cycle).items()},
            "rst": int(not cycle),
            "start": 0,
            "stop": int(cycle >= self.stop_at),
            "requests_ready": int(self.rng.random() < granted),
            "source_ready": int(cycle > 0 and self.rng.random() < taken),
        }

    def run(self, cycles: int) -> Recorded:
        return bench(self.mover).run(self.drive, cycles)


def wanted(runs: Sequence[Run], mover: Mover) -> list[tuple[int, int]]:
    addresses = [at for run in runs for at in range(run.address, run.address + run.words)]
    mask = (1 << mover.word_bits) - 1
    words = [
        content(at // mover.lanes) >> at % mover.lanes * mover.word_bits & mask for at in addresses
    ]
    return [(word, int(at == len(words) - 1)) for at, word in enumerate(words)]


RUNS = [Run(1, 1), Run(0, 4), Run(7, 50), Run(31, 1), Run(62, 4), Run(100, 3), Run(3, 40)]


@pytest.mark.parametrize("mover", MOVERS)
def test_words_of_runs_at_full_rate(mover: Mover) -> None:
    play = Play(RUNS, mover)
    trace = play.run(400)
    assert trace.words("source") == wanted(RUNS, mover)
    assert play.memory.asked == [(each.address, each.beats - 1) for each in bursts_of(RUNS, mover)]
    assert trace.column("idle")[-1] == 1


@pytest.mark.sample(4)
@pytest.mark.parametrize("mover", MOVERS)
@pytest.mark.parametrize("seed", range(6))
def test_random_runs_with_latency_gaps_and_pauses(mover: Mover, seed: int) -> None:
    rng = Random(seed)
    runs = [Run(rng.randrange(4000), rng.choice([1, 2, 3, 9, 40])) for _ in range(12)]
    rates = {name: rng.choice([0.4, 0.8, 1.0]) for name in ("offered", "granted", "taken", "rate")}
    play = Play(runs, mover, seed, latency=rng.choice([1, 9, 30]), **rates)
    assert play.run(4000).words("source") == wanted(runs, mover)


def test_a_word_in_every_cycle_of_a_long_run() -> None:
    """Two bursts of eight beats have places, more than the latency needs."""
    trace = Play([Run(0, 400)], MOVER, latency=3).run(450)
    cycles = [cycle for cycle, *_ in trace.transfers("source")]
    assert cycles[-1] - cycles[0] == 399


def test_latencies() -> None:
    trace = Play([Run(0, 4)], MOVER).run(20)
    assert trace.column("requests_valid").index(1) == trace.column("bursts_valid").index(1)
    assert trace.column("source_valid").index(1) == trace.column("beats_valid").index(1) + 3


@pytest.mark.parametrize("mover", MOVERS)
def test_no_beat_is_requested_without_a_place(mover: Mover) -> None:
    """The stream stands still: memory still returns every beat that was requested."""
    play = Play([Run(0, 40 * mover.lanes)], mover, taken=0.0)
    trace = play.run(120)
    beats = sum(length + 1 for _, length in play.memory.asked)
    assert beats == sum(trace.column("beats_valid"))
    assert mover.places - PORT.burst_beats < beats <= mover.places + 2  # two are in registers
    assert trace.column("idle")[-1] == 1


@pytest.mark.parametrize("stop_at", range(3, 40, 4))
def test_a_stopped_reader_becomes_idle_though_its_stream_stands_still(stop_at: int) -> None:
    play = Play([Run(0, 400)], MOVER, taken=0.0, stop_at=stop_at, latency=5)
    trace = play.run(100)
    assert not any(trace.column("requests_valid")[stop_at:])
    assert trace.column("idle")[stop_at + 30 :] == [1] * (70 - stop_at)
    busy = sum(length + 1 for _, length in play.memory.asked) > sum(
        trace.column("beats_valid")[:stop_at]
    )
    assert trace.column("idle")[stop_at] == int(not busy)


def test_a_stopped_reader_requests_nothing_more() -> None:
    play = Play([Run(0, 400)], WHOLE, stop_at=30)
    trace = play.run(100)
    asked = trace.column("requests_valid")
    assert any(asked[20:30])
    assert not any(asked[30:])
    assert len(trace.words("source")) == sum(length + 1 for _, length in play.memory.asked)


def test_finished_says_that_the_last_word_was_sent() -> None:
    play = Play([Run(0, 9)], MOVER, taken=0.4)
    trace = play.run(80)
    last = trace.transfers("source")[-1][0]
    assert trace.column("finished") == [0] * (last + 1) + [1] * (79 - last)
    bench_ = bench(MOVER)
    rows = [{"rst": int(not at), "start": int(at == 70)} for at in range(74)]
    again = Play([Run(0, 9)], MOVER, taken=0.4)
    found = bench_.run(lambda cycle, seen: {**again.drive(cycle, seen), **rows[cycle]}, 74)
    assert found.column("finished")[69:] == [1, 1, 0, 0, 0]


@pytest.mark.parametrize("resp", [SLVERR, DECERR])
@pytest.mark.parametrize("bad", [0, 3, 7, 10, 21])
def test_an_error_holds_its_words_and_all_behind_it(bad: int, resp: int) -> None:
    runs = [Run(2, 30), Run(40, 60)]
    play = Play(runs, MOVER, latency=4, errors={bad: resp, bad + 1: SLVERR, 24: DECERR})
    trace = play.run(200)
    addresses = [at for run in runs for at in range(run.address, run.address + run.words)]
    before = next(i for i, at in enumerate(addresses) if at // MOVER.lanes == bad)
    assert trace.words("source") == wanted(runs, MOVER)[:before]
    burst = next(each for each in bursts_of(runs, MOVER) if each.address + each.beats > bad)
    assert trace.columns("error_found", "error_resp", "error_address")[-1] == (
        1, resp, burst.address,
    )  # fmt: skip
    assert trace.column("idle")[-1] == 1


def test_a_reset_leaves_nothing_behind() -> None:
    """Once a stopped reader is idle, as its commander waits for."""

    class Twice:
        def __init__(self, errors: Mapping[int, int] | None) -> None:
            self.first = Play(RUNS, MOVER, 3, taken=0.3, stop_at=40, errors=errors)
            self.last = Play(RUNS, MOVER, 4, taken=0.7, latency=4)

        def drive(self, cycle: int, seen: Sample) -> Mapping[str, int]:
            begin = 80
            if cycle < begin:
                return self.first.drive(cycle, seen)
            if cycle == begin:
                assert seen["idle"]
                return {**self.last.drive(0, seen), "beats_valid": 0}
            return self.last.drive(cycle - begin, seen)

    for errors in (None, {2: SLVERR}):
        trace = bench(MOVER).run(Twice(errors).drive, 500)
        late = [row[1:] for row in trace.transfers("source") if row[0] > 80]
        assert late == wanted(RUNS, MOVER)
        assert not any(trace.column("error_found")[81:])


@pytest.mark.ghdl
@pytest.mark.parametrize("mover", MOVERS)
def test_reader_vhdl(mover: Mover, replays: Replays) -> None:
    replays(Play(RUNS, mover, 5, latency=6, taken=0.8, rate=0.8).run(300), lint=True)
    replays(Play(RUNS, mover, 5, errors={5: SLVERR}).run(60))
