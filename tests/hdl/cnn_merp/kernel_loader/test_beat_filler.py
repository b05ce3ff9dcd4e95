"""Zeros between packed weights: every word in its place, cycles, lasts, pauses, resets."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import pytest

from block_bench import BlockBench, Replays, Sample, at_random
from merp.hdl.base.signals import Stream, bits
from merp.hdl.cnn_merp.kernel_loader.beat_filler import beat_filler
from merp.hdl.cnn_merp.ports.kernels import LoadConfig
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.kernel_load import forward_load
from merp.models.machines.cnn_merp.params.design import EngineDesign

BYTE = FloatFormat(4, 3)  # elements are only carried, so few bits do


def design_for(port: int, n_cu: int = 3) -> EngineDesign:
    return EngineDesign(
        fmt=BYTE, k=3, n_cu=n_cu, r=1, groups=3, kernel_words=12, max_maps=4, row_words=4,
        max_size=8, fifo_words=3, kernel_port=port,
    )  # fmt: skip


@dataclass(frozen=True)
class Run:
    """Weights of so many outputs; ``lasts``: which beats have last, the right one if None."""

    length: int
    filling: int
    outputs: int
    lasts: tuple[int, ...] | None = None
    reset_at: int | None = None


class Feeder:
    """Runs back to back as ``run_block``'s drive; behind a run's last beat others are offered."""

    def __init__(self, design: EngineDesign, runs: list[Run], density: float) -> None:
        self.design, self.runs, self.density, self.rng = design, runs, density, Random(1)
        self.found: list[list[tuple[int, int, int]]] = []
        self.starts: list[int] = []
        self.words: list[list[int]] = []
        self.taken: list[int] = []
        self._play = self._plan()

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        self.cycle, self.seen = cycle, seen
        return next(self._play)

    def _plan(self) -> Iterator[dict[str, int]]:
        yield {"rst": 1, "source_ready": 0}
        for run in self.runs:
            yield from self._run(run)
        while True:
            yield {"rst": 0, "start": 0, "sink_valid": 0, "source_ready": 0}

    def _run(self, run: Run) -> Iterator[dict[str, int]]:
        lanes, n_cu, rng = self.design.kernel_port, self.design.n_cu, self.rng
        words = [rng.getrandbits(8) for _ in range(run.length * run.outputs)]
        self.words.append(words)
        self.found.append([])
        self.taken.append(0)
        beats = -(-len(words) // lanes)
        lasts = (beats - 1,) if run.lasts is None else run.lasts
        wanted = -(-run.outputs * (run.length + run.filling) // lanes)
        groups = -(-run.outputs // n_cu)
        yield {
            "rst": 0, "start": 1, "sink_valid": 0, "source_ready": 0, "length": run.length,
            "filling": run.filling, "config_groups": groups, "config_inputs": 1,
            "config_last_cus": run.outputs - (groups - 1) * n_cu,
        }  # fmt: skip
        self.starts.append(self.cycle)
        at, valid = 0, 0
        for since in range(10_000):
            if since and self.seen["source_valid"] and self.seen["source_ready"]:
                self.found[-1].append(
                    (self.cycle - 1, self.seen["source_data"], self.seen["source_last"])
                )
            if since and self.seen["sink_valid"] and self.seen["sink_ready"]:
                at, valid, self.taken[-1] = at + 1, 0, self.taken[-1] + 1
            done = len(self.found[-1]) == wanted or since == run.reset_at
            valid = int(not done and (valid or rng.random() < self.density))
            beat = [*words[at * lanes : (at + 1) * lanes], *(rng.getrandbits(8) for _ in range(8))]
            yield {
                "rst": int(since == run.reset_at), "start": 0, "sink_valid": valid,
                "sink_data": sum(word << 8 * i for i, word in enumerate(beat[:lanes])),
                "sink_last": int(at in lasts),
                "source_ready": int(not done and rng.random() < self.density),
            }  # fmt: skip
            if done:
                return


def bench_for(design: EngineDesign) -> BlockBench:
    size = BYTE.width * design.kernel_port
    return BlockBench(
        beat_filler, "clk rst start", config=LoadConfig(design), length=bits(7), filling=bits(4),
        sink=Stream(size), source=Stream(size), design=design,
    )  # fmt: skip


def play(port: int, runs: list[Run], density: float, cycles: int) -> tuple[Run, Feeder]:
    feeder = Feeder(design_for(port), runs, density)
    return bench_for(feeder.design).run(feeder.drive, cycles), feeder


def check(feeder: Feeder) -> None:
    lanes = feeder.design.kernel_port
    for run, words, found, taken in zip(
        feeder.runs, feeder.words, feeder.found, feeder.taken, strict=True
    ):
        if run.reset_at is not None:
            continue
        dense: list[int] = []
        for output in range(run.outputs):
            dense += words[output * run.length : (output + 1) * run.length] + [0] * run.filling
        given = [data >> 8 * i & 255 for _, data, _ in found for i in range(lanes)]
        assert given[: len(dense)] == dense, run
        beats = -(-len(words) // lanes)
        right = run.lasts is None or run.lasts == (beats - 1,)
        lasts = [last for *_, last in found]
        assert lasts == [*[0] * (len(lasts) - 1), int(right)], run
        assert taken == beats


RUNS = [
    Run(9, 0, 4), Run(1, 8, 4), Run(5, 4, 1), Run(11, 7, 3), Run(8, 1, 5), Run(17, 1, 2),
    Run(4, 5, 9), Run(3, 6, 7), Run(16, 2, 3), Run(2, 7, 8), Run(13, 5, 9), Run(7, 2, 1),
]  # fmt: skip
"""Outputs that end anywhere in a beat, several in one; zeros of less and of more than a beat."""


@pytest.mark.parametrize("port", [2, 4, 8])
@pytest.mark.parametrize("density", [1.0, 0.6])
def test_zeros_stand_behind_every_output(port: int, density: float) -> None:
    _, feeder = play(port, RUNS, density, 800 if density == 1 else 1700)
    check(feeder)
    assert len(feeder.found) == len(RUNS)
    if density == 1 and port < 8:
        for run, start, found in zip(RUNS, feeder.starts, feeder.found, strict=True):
            if run.filling:
                shape = Shape(n=run.length, m=run.outputs, k=1, rows=1, columns=1)
                load = forward_load(shape, feeder.design)
                assert found[-1][0] - start + 1 == load.cycles, run


def test_words_that_fill_no_beat_do_not_wait_for_the_source() -> None:
    """It may be ready only where a beat is valid."""
    runs = [Run(9, 2, 3), Run(3, 6, 7), Run(5, 1, 4)]
    feeder = Feeder(design_for(8), runs, 1.0)

    def shy(cycle: int, seen: Sample) -> dict[str, int]:
        values = feeder.drive(cycle, seen)
        waits = cycle and seen["source_valid"] and not seen["source_ready"]
        return values | {"source_ready": int(values["source_ready"] and waits)}

    bench_for(feeder.design).run(shy, 120)
    check(feeder)
    assert len(feeder.found) == 3


def test_a_run_without_zeros_is_over_before_the_next_one_has_any() -> None:
    """Registers are set between runs: nothing is taken before start."""
    runs = [Run(9, 0, 3)]
    feeder = Feeder(design_for(4), runs, 1.0)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        values = feeder.drive(cycle, seen)
        if cycle < 20:
            return values
        return {"filling": 2, "sink_valid": 1, "source_ready": 1}

    trace = bench_for(feeder.design).run(drive, 40)
    check(feeder)
    for name in ("sink_ready", "source_valid"):
        assert not any(trace.column(name)[20:])


@pytest.mark.parametrize("lasts", [(), (0,), (3,), (0, 4), (3, 4)])
def test_a_misplaced_last_stays_away_from_the_end(lasts: tuple[int, ...]) -> None:
    _, feeder = play(4, [Run(9, 3, 2, lasts), Run(9, 3, 2)], 1.0, 60)
    check(feeder)


@pytest.mark.parametrize("reset_at", [0, 2, 3, 5, 8])
def test_a_reset_gives_the_run_up(reset_at: int) -> None:
    _, feeder = play(4, [Run(9, 5, 3, reset_at=reset_at), Run(11, 7, 2)], 1.0, 70)
    check(feeder)
    assert len(feeder.found[1]) == 9


def test_after_a_reset_it_is_as_new() -> None:
    """In the middle of a beat, of zeros, with words waiting and a last that was misplaced."""
    design = design_for(4)
    config = {
        "config_inputs": 1, "config_groups": 2, "config_last_cus": 2, "length": 7, "filling": 6,
    }  # fmt: skip
    flags = {"sink_valid": 0.9, "sink_last": 0.2, "source_ready": 0.9}
    session = at_random(flags, {"sink_data": 32}, config)
    payload = {"source_valid": "source_data source_last"}
    bench_for(design).as_new_after_reset(session, range(1, 34, 3), 40, payload=payload)


@pytest.mark.ghdl
@pytest.mark.parametrize("port", [2, 8])
def test_vhdl_agrees(port: int, replays: Replays) -> None:
    trace, feeder = play(port, RUNS[:6], 0.7, 300)
    assert replays(trace) == 300
    assert len(feeder.found) == 6
