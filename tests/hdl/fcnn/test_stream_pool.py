"""Pooling and activation of streamed maps against the golden models, in bits and cycles."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from framing_checks import check_told_until_start

from block_bench import BlockBench, Recorded, Replays
from marks import in_full
from merp.hdl.base.signals import BYTE, Stream
from merp.hdl.fcnn.pool_counters import PoolProgress
from merp.hdl.fcnn.pool_walk import PoolConfig
from merp.hdl.fcnn.stream_pool import stream_pool
from merp.models.base.formats import BFLOAT16
from merp.models.machines.fcnn.params.pool_design import PoolDesign
from merp.models.machines.fcnn.pool_cycles import last_window_beat, pool_cycles
from merp.testbenches.fcnn.pool_bench import PoolJob, Session, player
from merp.testbenches.fcnn.stream_player import StreamPlayer
from pool_cases import random_design, random_job, random_rates, small

NAMES = {"s_axis_map": "sink", "m_axis_map": "source", "m_axis_state": "state"}


def bench(design: PoolDesign) -> BlockBench:
    args: dict[str, Any] = {
        "config": PoolConfig(design), "sink": Stream(design.map_width),
        "source": Stream(design.map_width), "progress": PoolProgress(), "design": design,
    }  # fmt: skip
    if design.keeps_state:
        args["state"] = Stream(design.lanes * BYTE)
    return BlockBench(stream_pool, "clk rst start", **args)


def session(job: PoolJob) -> Session:
    return Session.of(job.run.design, job.forward(), NAMES)


def play(
    design: PoolDesign, jobs: list[PoolJob], rates: dict[str, float], seed: int = 0
) -> Recorded:
    sessions = [session(job) for job in jobs]
    beats = sum(len(each.words["sink"]) + len(each.leaves["source"]) for each in sessions)
    slowest = min([*rates.values(), 1.0])
    cycles = int(beats * 2 / slowest) + 60 * len(jobs)
    trace = bench(design).run(player(sessions, rates, seed), cycles)
    assert trace.column("progress_done")[-1], f"not done after {cycles} cycles"
    return trace


def check(jobs: list[PoolJob], trace: Recorded) -> None:
    """Every word of every run, and last with the final one of each."""
    sessions, done = [session(job) for job in jobs], trace.column("progress_done")
    for name in sessions[0].leaves:
        wanted = [
            (beat, int(at == len(each.leaves[name]) - 1))
            for each in sessions
            for at, beat in enumerate(each.leaves[name])
        ]
        assert trace.words(name) == wanted, name
        assert not any(done[cycle] for cycle, *_ in trace.transfers(name)), name
    assert not any(trace.column("progress_framing_error"))


@pytest.mark.sample(8)
@pytest.mark.parametrize("seed", range(40))
def test_random_maps(seed: int) -> None:
    rng = Random(f"pool {seed}")
    design = random_design(rng)
    jobs = [random_job(design, rng) for _ in range(2)]
    check(jobs, play(design, jobs, random_rates(["sink", "source", "state"], rng), seed))


@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_beat_per_cycle_and_the_latency(window: int, activation: str) -> None:
    design = small(window=window, stride=window, activation=activation, max_rows=7, max_columns=7)
    job = random_job(design, Random(window), maps=2, rows=7, columns=6, images=4)
    trace = play(design, [job], {})
    check([job], trace)
    took = [cycle for cycle, *_ in trace.transfers("sink")]
    assert took == list(range(2, 2 + len(took)))  # start is in cycle 1
    ends = trace.transfers("source")[-1][0]
    assert ends == 1 + last_window_beat(job.run) + design.forward_latency + 2
    assert trace.column("progress_done").index(1) == 2 + pool_cycles(job.run)
    assert max(ends, took[-1]) == 1 + pool_cycles(job.run)


def test_a_waiting_output_stops_the_input() -> None:
    design = small()
    job = random_job(design, Random(1), maps=3, rows=6, columns=6, images=6)
    for name in ("source", "state"):
        each = session(job)
        trace = bench(design).run(player([each], {name: 0.0}, 0), 250)
        assert len(trace.words("sink")) < len(each.words["sink"])
        assert not trace.words(name)


@pytest.mark.parametrize("slow", ["source", "state"])
def test_only_beats_that_end_a_window_wait_for_a_slow_output(slow: str) -> None:
    design = small(lanes=1, max_rows=4)
    job = random_job(design, Random(6), maps=3, rows=4, columns=6, images=2)
    trace = play(design, [job], {slow: 0.08})
    check([job], trace)
    assert any(trace.column("progress_blocked"))
    assert trace.transfers(slow)[-1][0] > trace.transfers("sink")[-1][0]
    assert [word for word, _ in trace.words("sink")] == session(job).words["sink"]


def test_rows_and_columns_behind_the_windows_are_dropped() -> None:
    design = small(window=2, stride=3, lanes=1)
    job = random_job(design, Random(4), maps=2, rows=4, columns=6, images=2)
    trace = play(design, [job], {})
    check([job], trace)
    assert len(trace.words("sink")) == 2 * 4 * 6 * 2
    assert len(trace.words("source")) == 2 * 1 * 2 * 2


@pytest.mark.parametrize("changes", [{}, {"window": 1, "stride": 1}])
def test_a_wrong_last_is_reported_until_the_next_start(changes: dict[str, int]) -> None:
    design = small(**changes)
    rng = Random(2)
    sessions = [session(random_job(design, rng)).with_early_last("sink") for _ in range(2)]
    trace = bench(design).run(player(sessions, {}, 0), 300)
    check_told_until_start(trace, "progress_framing_error")
    assert trace.column("progress_framing_error")[-1]
    assert trace.column("progress_done")[-1]


def stimulus(design: PoolDesign) -> Callable[[int], StreamPlayer]:
    def begin(number: int) -> StreamPlayer:
        rng = Random(number)
        rates = {"sink": 0.9, "source": 0.6, "state": 0.7}
        jobs = [random_job(design, rng, rows=4 + number, columns=5) for _ in range(1 + number)]
        return player([session(job) for job in jobs], rates, number)

    return begin


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_reset_leaves_nothing_behind(activation: str) -> None:
    design = small(activation=activation)
    bench(design).as_new_after_reset(
        stimulus(design),
        range(5, 100, 24),
        60,
        payload={
            "source_valid": "source_data source_last", "state_valid": "state_data state_last",
            "progress_issue": "progress_useful",
        },
        late={"progress_blocked": 60, "progress_useful": 2},
    )  # fmt: skip


def test_state_must_be_there_as_the_design_says() -> None:
    args = dict(bench(small()).args)
    del args["state"]
    with pytest.raises(ValueError, match="presence of state must equal True"):
        BlockBench(stream_pool, **args).run([{}])


@pytest.mark.ghdl
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"window": 3, "stride": 4, "activation": "tanh", "lanes": 1},
        *in_full(
            {"window": 1, "stride": 1, "fmt": BFLOAT16, "lanes": 3},
            {"window": 1, "stride": 1, "activation": "none", "lanes": 1, "max_step": 1},
        ),
    ],
)
def test_stream_pool_vhdl(changes: dict[str, Any], replays: Replays) -> None:
    design, rng = small(**changes), Random(3)
    jobs = [random_job(design, rng) for _ in range(2)]
    trace = play(design, jobs, {"sink": 0.8, "source": 0.7, "state": 0.8})
    check(jobs, trace)
    replays(trace, lint=not changes)
