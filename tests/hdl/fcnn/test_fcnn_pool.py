"""The tops of activation and pooling: words, counters and cycles, in MyHDL, Verilator and GHDL."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from block_bench import BlockBench, Replays
from marks import engines, in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.models.base.counters import Counter
from merp.models.machines.fcnn.params.pool_design import PoolDesign
from merp.models.machines.fcnn.params.pool_registers import (
    POOL_COUNTERS,
    POOL_WORDS,
    UNPOOL_WORDS,
)
from merp.models.machines.fcnn.pool_cycles import pool_cycles, unpool_cycles
from merp.models.machines.fcnn.pool_words import pool_words, unpool_words, useful_beats
from merp.testbenches.fcnn.pool_bench import (
    PoolJob,
    Session,
    player,
    pool_top,
    unpool_top,
)
from merp.testbenches.top.run import Outcome, Run
from merp.testbenches.top.top import Top
from merp.testbenches.top.top_bench import run_top
from pool_cases import random_design, random_job, small

SIDES = ("forward", "backward")
TOPS = {"forward": pool_top, "backward": unpool_top}
CYCLES = {"forward": pool_cycles, "backward": unpool_cycles}
WORDS = {"forward": pool_words, "backward": unpool_words}
STREAMS = {"forward": POOL_WORDS, "backward": UNPOOL_WORDS}
STALLS = ([1], [1, 0], [0, 1, 1], [1, 0, 0, 1, 1], [0, 0, 0, 1])


def played(side: str, job: PoolJob, **settings: Any) -> tuple[Run, dict[str, Any]]:
    return (job.forward if side == "forward" else job.backward)(**settings)


def outcomes(top: Top, runs: list[Run]) -> list[Outcome]:
    found: list[Outcome] = []
    run_top(top, runs, found.append, 2000)
    return found


def check(side: str, job: PoolJob, wanted: dict[str, Any], outcome: Outcome) -> None:
    """Words, the protocol, the counters and the parts of ``total``."""
    for stream, words in wanted.items():
        assert np.array_equal(np.asarray(outcome.words[stream], np.uint64), words), stream
    status = {name.removeprefix("status_"): value for name, value in outcome.status.items()}
    assert not outcome.faults
    assert not status["framing_error"]
    assert not status["busy"]
    for name, beats in WORDS[side](job.run).items():
        elements = beats * job.run.design.lanes
        assert status.get(name, 0) == elements, name
        assert outcome.transfers.get(STREAMS[side][name], 0) == elements
    assert status["total"] == outcome.cycles - 2
    parts = [each.name for each in POOL_COUNTERS if each.part]
    assert sum(status[part] for part in parts) == status["total"]
    assert status["issue"] == max(WORDS[side](job.run).values())
    assert status["useful"] == useful_beats(job.run)


@pytest.mark.sample(6)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("seed", range(20))
def test_random_runs(seed: int, side: str) -> None:
    """The second run has stalls on every stream; the third is reset in the middle."""
    rng = Random(f"{side} {seed}")
    design = random_design(rng)
    jobs = [random_job(design, rng) for _ in range(3)]
    both = [played(side, job) for job in jobs]
    top = TOPS[side](design)
    stalls = {pin.name: rng.choice(STALLS) for pin in top.ports.streams}
    runs = [run for run, _ in both]
    runs[1] = replace(runs[1], stalls=stalls)
    runs[2] = replace(runs[2], stalls=stalls, reset_at=rng.randint(1, 20))
    found = outcomes(top, runs)
    for job, (_, wanted), outcome in zip(jobs, both, found, strict=True):
        check(side, job, wanted, outcome)
    assert found[0].status["status_total"] == CYCLES[side](jobs[0].run)
    assert found[0].status["status_stall_input"] == 0
    assert found[0].status["status_stall_output"] == 0


@pytest.mark.parametrize("side", SIDES)
def test_waits_are_counted_by_cause(side: str) -> None:
    design = small(activation="tanh")
    job = random_job(design, Random(7), maps=2, rows=6, columns=6, images=4)
    top = TOPS[side](design)
    source = top.ports.inputs[0].name
    sink = top.ports.outputs[0].name
    run, wanted = played(side, job)
    rare = [1, *[0] * 11]
    starved, blocked = outcomes(top, [run.under({source: rare}), run.under({sink: rare})])
    for outcome in (starved, blocked):
        check(side, job, wanted, outcome)
    assert starved.status["status_stall_input"] > 0
    assert starved.status["status_stall_output"] == 0
    assert blocked.status["status_stall_output"] > 0
    assert blocked.status["status_stall_input"] == 0


@pytest.mark.parametrize("side", SIDES)
def test_ports_are_those_that_the_design_needs(side: str) -> None:
    def names(**changes: Any) -> list[str]:
        return [pin.name for pin in TOPS[side](small(**changes)).ports.streams]

    alone = {"window": 1, "stride": 1}
    state = "m_axis_state" if side == "forward" else "s_axis_state"
    assert state in names()
    assert state in names(activation="none")
    assert state in names(**alone)
    assert state not in names(activation="tanh", **alone)
    assert state not in names(activation="none", **alone)
    if side == "backward":
        assert "s_axis_map" in names(activation="tanh")
        assert "s_axis_map" not in names()


def design_of(name: str) -> PoolDesign:
    if name == "relu":
        return small(lanes=4)
    return small(activation="tanh", window=3, stride=3, lanes=2)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("engine", engines("verilator"))
@pytest.mark.parametrize("name", ["relu", *in_full("tanh")])
def test_engines_agree(name: str, engine: str, side: str) -> None:
    """Beats of more than 64 bits pass, too."""
    design, rng = design_of(name), Random(11)
    jobs = [random_job(design, rng) for _ in range(3)]
    both = [played(side, job) for job in jobs]
    top = TOPS[side](design)
    stalls = {pin.name: STALLS[3] for pin in top.ports.streams}
    runs = [run for run, _ in both]
    runs[1] = runs[1].under(stalls)
    records = run_job(Job(top, runs), engine)
    for job, (_, wanted), record, quick in zip(
        jobs, both, records, outcomes(top, runs), strict=True
    ):
        check(side, job, wanted, record.outcome)
        assert record.outcome.cycles == quick.cycles
        assert record.outcome.status == quick.status


@pytest.mark.ghdl
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("changes", [{}, *in_full({"activation": "tanh", "lanes": 1})])
def test_tops_vhdl(changes: dict[str, Any], side: str, replays: Replays) -> None:
    design, rng = small(**changes), Random(3)
    jobs = [random_job(design, rng) for _ in range(2)]
    sessions = [Session.of(design, played(side, job), {}) for job in jobs]
    top = TOPS[side](design)
    paces = {"m_axis_map": 0.7, "s_axis_delta": 0.8}
    stimuli = player(sessions, paces, 5, of_top=True)
    trace = BlockBench(top.function, **top.args).run(stimuli, 700)
    assert trace.column("status_done")[-1]
    replays(trace, lint=not changes)


def test_every_counter_has_a_meaning() -> None:
    assert all(isinstance(each, Counter) and each.meaning for each in POOL_COUNTERS)
