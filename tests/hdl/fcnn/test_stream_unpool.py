"""Un-pooling of streamed deltas against the golden models, in bits and cycles."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from framing_checks import check_told_until_start

from block_bench import BlockBench, Recorded, Replays
from marks import in_full
from merp.hdl.base.signals import BYTE, Stream
from merp.hdl.fcnn.pool_counters import PoolProgress
from merp.hdl.fcnn.pool_walk import FcnnUnpoolConfig
from merp.hdl.fcnn.stream_unpool import stream_unpool
from merp.models.base.formats import BFLOAT16
from merp.models.machines.fcnn.params.pool_design import PoolDesign
from merp.models.machines.fcnn.pool_cycles import unpool_cycles
from merp.testbenches.fcnn.pool_bench import PoolJob, Session, player
from merp.testbenches.fcnn.stream_player import StreamPlayer
from pool_cases import random_design, random_job, random_rates, small

NAMES = {
    "s_axis_delta": "sink", "s_axis_state": "state", "s_axis_map": "maps", "m_axis_delta": "source",
}  # fmt: skip


def bench(design: PoolDesign) -> BlockBench:
    args: dict[str, Any] = {
        "config": FcnnUnpoolConfig(design), "sink": Stream(design.map_width),
        "source": Stream(design.map_width), "progress": PoolProgress(), "design": design,
    }  # fmt: skip
    if design.keeps_state:
        args["state"] = Stream(design.lanes * BYTE)
    if design.keeps_map:
        args["maps"] = Stream(design.map_width)
    return BlockBench(stream_unpool, "clk rst start", **args)


def session(job: PoolJob) -> Session:
    return Session.of(job.run.design, job.backward(), NAMES)


def play(
    design: PoolDesign, jobs: list[PoolJob], rates: dict[str, float], seed: int = 0
) -> Recorded:
    sessions = [session(job) for job in jobs]
    # Three streams in step wait for the slowest of them, several times in a row.
    beats = sum(len(each.leaves["source"]) + 3 * len(each.words["sink"]) for each in sessions)
    cycles = int(beats * 2 / min([*rates.values(), 1.0])) + 90 * len(jobs)
    trace = bench(design).run(player(sessions, rates, seed), cycles)
    assert trace.column("progress_done")[-1], f"not done after {cycles} cycles"
    return trace


def check(jobs: list[PoolJob], trace: Recorded) -> None:
    """Every word of every run, and last with the final one of each."""
    beats = [session(job).leaves["source"] for job in jobs]
    wanted = [(beat, int(at == len(each) - 1)) for each in beats for at, beat in enumerate(each)]
    assert trace.words("source") == wanted
    done = trace.column("progress_done")
    assert not any(done[cycle] for cycle, *_ in trace.transfers("source"))
    assert not any(trace.column("progress_framing_error"))


@pytest.mark.sample(8)
@pytest.mark.parametrize("seed", range(40))
def test_random_deltas(seed: int) -> None:
    rng = Random(f"unpool {seed}")
    design = random_design(rng)
    jobs = [random_job(design, rng) for _ in range(2)]
    check(jobs, play(design, jobs, random_rates(["sink", "state", "maps", "source"], rng), seed))


@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_beat_per_cycle_and_the_latency(window: int, activation: str) -> None:
    design = small(window=window, stride=window, activation=activation, max_rows=7, max_columns=7)
    job = random_job(design, Random(window), maps=2, rows=7, columns=6, images=4)
    trace = play(design, [job], {})
    check([job], trace)
    took = trace.transfers("sink")[0][0]
    gave = [cycle for cycle, *_ in trace.transfers("source")]
    assert took == 2  # start is in cycle 1
    assert gave == list(range(gave[0], gave[0] + len(gave)))
    assert gave[0] == took + design.slope_latency + 5
    assert gave[-1] == 1 + unpool_cycles(job.run)
    assert trace.column("progress_done").index(1) == 2 + unpool_cycles(job.run)


@pytest.mark.parametrize("slow", ["sink", "state", "maps"])
def test_inputs_are_taken_in_step(slow: str) -> None:
    design = small(activation="tanh", lanes=1)
    job = random_job(design, Random(5), maps=2, rows=6, columns=6, images=2)
    trace = play(design, [job], {slow: 0.3})
    check([job], trace)
    cycles = [[cycle for cycle, *_ in trace.transfers(each)] for each in ("sink", "state", "maps")]
    assert cycles[0] == cycles[1] == cycles[2]


def test_a_waiting_output_stops_the_inputs() -> None:
    design = small()
    job = random_job(design, Random(1), maps=3, rows=6, columns=6, images=6)
    each = session(job)
    trace = bench(design).run(player([each], {"source": 0.0}, 0), 120)
    assert len(trace.words("sink")) < len(each.words["sink"])
    assert not trace.words("source")


@pytest.mark.parametrize("early", ["sink", "state", "maps"])
def test_a_wrong_last_is_reported_until_the_next_start(early: str) -> None:
    design = small(activation="tanh")
    rng = Random(2)
    sessions = [session(random_job(design, rng, rows=4)).with_early_last(early) for _ in range(2)]
    trace = bench(design).run(player(sessions, {}, 0), 400)
    check_told_until_start(trace, "progress_framing_error")
    assert trace.column("progress_framing_error")[-1]
    assert trace.column("progress_done")[-1]


def stimulus(design: PoolDesign) -> Callable[[int], StreamPlayer]:
    def begin(number: int) -> StreamPlayer:
        rng = Random(number)
        rates = {"sink": 0.9, "state": 0.8, "source": 0.7}
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
            "source_valid": "source_data source_last", "progress_issue": "progress_useful",
        },
    )  # fmt: skip


@pytest.mark.parametrize("absent", ["state", "maps"])
def test_streams_must_be_there_as_the_design_says(absent: str) -> None:
    args = dict(bench(small(activation="tanh")).args)
    del args[absent]
    with pytest.raises(ValueError, match=f"presence of {absent} must equal True"):
        BlockBench(stream_unpool, **args).run([{}])


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
def test_stream_unpool_vhdl(changes: dict[str, Any], replays: Replays) -> None:
    design, rng = small(**changes), Random(3)
    jobs = [random_job(design, rng) for _ in range(2)]
    trace = play(design, jobs, {"sink": 0.8, "source": 0.7, "state": 0.8})
    check(jobs, trace)
    replays(trace, lint=not changes)
