"""A writer: memory holds the words of its walks. Pauses, errors, stops, resets and the VHDL."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
from movers import burst_inputs, mover_commands, mover_state

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import Stream
from merp.hdl.memory.mover_ports import WriteChannels
from merp.hdl.memory.requests import Bursts
from merp.hdl.memory.writer import writer
from merp.models.memory.bursts import bursts_of
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.walk import Run
from merp.testbenches.memory.read_memory import DECERR, SLVERR
from merp.testbenches.memory.write_memory import WriteMemory

PORT = MemoryPort(data_bits=64, burst_beats=8)
MOVER = Mover(port=PORT, word_bits=16, places=16, bursts=3)
WHOLE = Mover(port=PORT, word_bits=64, places=8, bursts=2)
MOVERS = [MOVER, WHOLE]


def bench(mover: Mover) -> BlockBench:
    return BlockBench(
        writer,
        "clk rst",
        commands=mover_commands(),
        bursts=Bursts(mover),
        sink=Stream(mover.word_bits),
        channels=WriteChannels(PORT),
        state=mover_state(PORT),
        mover=mover,
    )


class Play:
    """Bursts, words, requests and beats, each at a rate of its own, and a memory."""

    def __init__(
        self, runs: Sequence[Run], mover: Mover, seed: int = 1, *, bursts: float = 1.0,
        offered: float = 1.0, granted: float = 1.0, taken: float = 1.0, stop_at: int = 1 << 30,
        **memory: Any,
    ) -> None:  # fmt: skip
        self.rng = Random(seed)
        self.mover = mover
        self.left = list(bursts_of(runs, mover))
        addresses = [at for run in runs for at in range(run.address, run.address + run.words)]
        self.stream = [(at, self.rng.getrandbits(mover.word_bits)) for at in addresses]
        self.taken = 0
        self.rates = bursts, offered, granted, taken
        self.stop_at = stop_at
        self.memory = WriteMemory(mover.lanes, mover.word_bits, Random(seed), **memory)
        self.inputs: dict[str, int] = {"bursts_valid": 0, "sink_valid": 0, "sink_data": 0}

    def drive(self, cycle: int, seen: Sample) -> Mapping[str, int]:
        bursts, offered, granted, taken = self.rates
        if cycle:
            self.listen(cycle, seen)
        if cycle and self.left and not self.inputs["bursts_valid"] and self.rng.random() < bursts:
            self.inputs.update(burst_inputs(self.left.pop(0)))
        more = cycle and self.taken < len(self.stream)
        if more and not self.inputs["sink_valid"] and self.rng.random() < offered:
            self.inputs.update(sink_valid=1, sink_data=self.stream[self.taken][1])
        response = self.memory.response(cycle)
        return {
            **self.inputs,
            **{f"responses_{name}": value for name, value in response.items()},
            "rst": int(not cycle),
            "start": 0,
            "stop": int(cycle >= self.stop_at),
            "requests_ready": int(self.rng.random() < granted),
            "beats_ready": int(self.memory.beats_expected and self.rng.random() < taken),
        }

    def listen(self, cycle: int, seen: Sample) -> None:
        if seen["beats_valid"] and seen["beats_ready"]:
            beat = seen["beats_data"], seen["beats_strobe"], seen["beats_last"]
            self.memory.write(cycle, *beat)
        if seen["requests_valid"] and seen["requests_ready"]:
            self.memory.request(seen["requests_address"], seen["requests_length"])
        if seen["bursts_valid"] and seen["bursts_ready"]:
            self.inputs["bursts_valid"] = 0
        if seen["sink_valid"] and seen["sink_ready"]:
            self.inputs["sink_valid"] = 0
            self.taken += 1

    def run(self, cycles: int) -> Recorded:
        return bench(self.mover).run(self.drive, cycles)


RUNS = [Run(1, 1), Run(4, 4), Run(9, 50), Run(63, 1), Run(66, 4), Run(100, 3), Run(203, 40)]


@pytest.mark.parametrize("mover", MOVERS)
def test_words_of_runs_at_full_rate(mover: Mover) -> None:
    play = Play(RUNS, mover)
    trace = play.run(400)
    assert play.memory.words == dict(play.stream)
    assert play.memory.asked == [(each.address, each.beats - 1) for each in bursts_of(RUNS, mover)]
    assert trace.columns("finished", "idle", "error_found")[-1] == (1, 1, 0)


@pytest.mark.parametrize("mover", MOVERS)
@pytest.mark.parametrize("seed", range(6))
def test_random_runs_with_latency_and_pauses(mover: Mover, seed: int) -> None:
    rng = Random(seed)
    runs, place = [], 0
    for _ in range(12):
        words = rng.choice([1, 2, 3, 9, 40])
        runs.append(Run(place + rng.randrange(20), words))
        place = runs[-1].address + words
    rng.shuffle(runs)
    rates = {
        name: rng.choice([0.4, 0.8, 1.0]) for name in ("bursts", "offered", "granted", "taken")
    }
    play = Play(runs, mover, seed, latency=rng.choice([1, 9, 30]), **rates)
    trace = play.run(2000)
    assert play.memory.words == dict(play.stream)
    assert trace.columns("finished", "idle")[-1] == (1, 1)
    assert (1, 1) not in trace.columns("requests_valid", "idle")


def test_a_word_in_every_cycle_of_a_long_run() -> None:
    """Two bursts of eight beats have places, more than the latency needs."""
    trace = Play([Run(0, 400)], MOVER, latency=3).run(450)
    cycles = [cycle for cycle, *_ in trace.transfers("sink")]
    assert cycles[-1] - cycles[0] == 399


def test_latencies() -> None:
    trace = Play([Run(0, 3)], MOVER).run(30)
    words = [cycle for cycle, *_ in trace.transfers("sink")]
    assert trace.column("requests_valid").index(1) == words[-1] + 2
    assert trace.column("beats_valid").index(1) == words[-1] + 3


def test_a_start_takes_finished_back() -> None:
    play = Play([Run(0, 9)], MOVER)

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        return {**play.drive(cycle, seen), "start": int(cycle == 60)}

    finished = bench(MOVER).run(drive, 64).column("finished")
    assert finished[55:] == [1, 1, 1, 1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("mover", MOVERS)
def test_a_burst_is_requested_once_all_its_words_are_there(mover: Mover) -> None:
    """The stream ends within the second burst: memory never hears of it."""
    play = Play([Run(0, 16 * mover.lanes)], mover)
    del play.stream[8 * mover.lanes + 3 :]
    trace = play.run(120)
    assert play.memory.asked == [(0, 7)]
    assert play.memory.words == dict(play.stream[: 8 * mover.lanes])
    assert trace.columns("finished", "idle")[-1] == (0, 1)


@pytest.mark.parametrize("stop_at", range(5, 60, 5))
def test_a_stopped_writer_becomes_idle_and_drops_a_part_of_a_burst(stop_at: int) -> None:
    play = Play([Run(2, 100)], MOVER, stop_at=stop_at, latency=9)
    trace = play.run(120)
    assert trace.column("idle")[-1] == 1
    assert play.memory.bursts == len(play.memory.asked)
    bursts = list(bursts_of([Run(2, 100)], MOVER))[: play.memory.bursts]
    written = sum(each.words(MOVER.lanes) for each in bursts)
    assert play.memory.words == dict(play.stream[:written])
    assert all(cycle < stop_at for cycle, *_ in trace.transfers("sink"))


@pytest.mark.parametrize("resp", [SLVERR, DECERR])
@pytest.mark.parametrize("bad", [0, 8, 25])
def test_an_error_ends_the_words(bad: int, resp: int) -> None:
    runs = [Run(2, 58), Run(100, 60)]
    play = Play(runs, MOVER, latency=4, errors={bad: resp, 32: SLVERR})
    trace = play.run(200)
    assert trace.columns("error_found", "error_resp", "error_address")[-1] == (1, resp, bad)
    found = trace.column("error_found").index(1)
    assert all(cycle < found for cycle, *_ in trace.transfers("sink"))
    assert trace.column("idle")[-1] == 1


def test_the_first_of_two_errors_is_told() -> None:
    play = Play([Run(0, 64)], WHOLE, granted=0.05, errors={0: DECERR, 8: SLVERR})
    trace = play.run(200)
    assert len(play.memory.asked) == 2
    assert trace.columns("error_found", "error_resp", "error_address")[-1] == (1, DECERR, 0)


@pytest.mark.parametrize("errors", [None, {0: SLVERR}])
def test_a_reset_leaves_nothing_behind(errors: Mapping[int, int] | None) -> None:
    """Once a stopped writer is idle, as its commander waits for."""
    begin = 80
    first = Play(RUNS, MOVER, 3, offered=0.3, stop_at=40, errors=errors)
    last = Play(RUNS, MOVER, 4, offered=0.7, latency=4)

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        if cycle < begin:
            return first.drive(cycle, seen)
        if cycle == begin:
            assert seen["idle"]
            return {**last.drive(0, seen), "bursts_valid": 0, "sink_valid": 0}
        return last.drive(cycle - begin, seen)

    trace = bench(MOVER).run(drive, 500)
    assert last.memory.words == dict(last.stream)
    assert trace.columns("finished", "idle", "error_found")[-1] == (1, 1, 0)


@pytest.mark.ghdl
@pytest.mark.parametrize("mover", MOVERS)
def test_writer_vhdl(mover: Mover, replays: Replays) -> None:
    replays(Play(RUNS, mover, 5, latency=6, taken=0.8, offered=0.8).run(300), lint=True)
    replays(Play(RUNS, mover, 5, errors={8: SLVERR}).run(90))
