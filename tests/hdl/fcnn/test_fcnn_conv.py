"""The top of the convolution module: counters, words and cycles on its pins, on every engine."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from block_bench import Replays
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.hdl.fcnn.fcnn_conv import fcnn_conv
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.conv_cycles import cycles
from merp.models.machines.fcnn.conv_words import elements, port_words, walked_words
from merp.models.machines.fcnn.params.conv_registers import (
    CONV,
    COUNTERS,
    WORDS,
    StreamRun,
    registers,
)
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.models.machines.fcnn.stream_order import sum_words
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.testbenches.block.trace import run_block
from merp.testbenches.cnn_merp.cu_bench import elements as draw
from merp.testbenches.fcnn.conv_bench import ConvJob, play, random_run, run_of, top
from merp.testbenches.top.run import Outcome

PARTS = [each.name for each in COUNTERS if each.part]


def small(**changed: object) -> StreamDesign:
    design = StreamDesign(
        fmt=BFLOAT16, k=2, lanes=2, maps_at_once=2, max_rows=12, max_columns=12, max_maps=6,
        max_step=2, max_stride=3, mul_latency=1, add_latency=1,
    )  # fmt: skip
    return replace(design, **changed)


def drawn(run: StreamRun, seed: object) -> ConvJob:
    rng = Random(str(seed))
    return ConvJob.drawn(run, lambda count: draw(count, run.design.fmt, rng))


def random_jobs(design: StreamDesign, number: int, most: int = 5, maps: int = 3) -> list[ConvJob]:
    rng = Random(f"{design} {number}")
    return [drawn(random_run(design, rng, most, maps), rng.random()) for _ in range(number)]


def check(job: ConvJob, outcome: Outcome, *, stalled: bool = False) -> None:
    run, status = job.run, outcome.status
    assert outcome.faults == ()
    golden = sum_words(job.sums, run.grid).reshape(-1)
    assert np.array_equal(np.asarray(outcome.words["m_axis_sum"]), golden)
    words = port_words(run)
    assert words == walked_words(run)
    moved = elements(words, run.design)
    assert {name: status[f"status_{name}"] for name in WORDS} == moved
    assert {name: outcome.transfers[stream] for name, stream in WORDS.items()} == moved
    found = {each.name: status[f"status_{each.name}"] for each in COUNTERS}
    assert sum(found[name] for name in PARTS) == found["total"]
    assert found["issue"] == run.grid.beats
    assert found["useful"] == words["sum_out"]
    if not stalled:
        assert found["total"] == cycles(run)
        assert outcome.cycles == cycles(run) + 2
        assert found["stall_input"] == found["stall_output"] == 0
    assert not status["status_framing_error"]
    assert not status["status_busy"]


def run_on(
    engine: str, jobs: Sequence[ConvJob], stalls: bool = False, reset_at: int | None = None
) -> list[Outcome]:
    design = jobs[0].run.design
    block = top(design)
    patterns = {"m_axis_sum": (1, 0, 1, 1), "s_axis_partial": (0, 1, 1), "s_axis_map": (1, 1, 0)}
    runs = [run_of(job, job.words(job.sums)) for job in jobs]
    runs = [run.under(patterns if stalls else None, reset_at) for run in runs]
    return [record.outcome for record in run_job(Job(block, runs, limit=2000), engine)]


def test_counters_words_and_cycles() -> None:
    jobs = random_jobs(small(maps_at_once=1), 4)
    for job, outcome in zip(jobs, run_on("myhdl", jobs), strict=True):
        check(job, outcome)


def test_streams_of_one_element() -> None:
    jobs = random_jobs(small(lanes=1, maps_at_once=1, k=1), 4)
    for job, outcome in zip(jobs, run_on("myhdl", jobs), strict=True):
        check(job, outcome)


def test_stalls_and_a_reset_in_the_middle_of_a_run() -> None:
    jobs = random_jobs(small(), 2)
    for job, outcome in zip(jobs, run_on("myhdl", jobs, True, reset_at=40), strict=True):
        check(job, outcome, stalled=True)


def test_inputs_behind_the_last_window_are_taken() -> None:
    """The last rows of a map that no window needs are read; done waits for them."""
    shape = Shape(n=2, m=1, k=2, rows=6, columns=4, stride=3)
    jobs = [drawn(StreamRun.forward(shape, 4, small()), 1)]
    grid = jobs[0].run.grid
    assert grid.last_input > grid.lead + grid.last_centre
    for job, outcome in zip(jobs, run_on("myhdl", jobs), strict=True):
        check(job, outcome)


def test_done_waits_until_the_last_word_is_taken() -> None:
    """It is low while the last word is offered."""
    (job,) = random_jobs(small(lanes=1, k=1), 1)
    for seed in range(4):
        length = cycles(job.run) + 8 * port_words(job.run)["sum_out"] + 40
        trace = play([job], dict.fromkeys(WORDS, 1.0) | {"sum_out": 0.3}, seed, cycles=length,
                     of_top=True)  # fmt: skip
        start = trace.column("start").index(1)
        taken = [
            t
            for t, row in enumerate(
                zip(*(trace.column(f"m_axis_sum_t{each}") for each in ("valid", "ready", "last")),
                    strict=True)
            )
            if all(row)
        ]  # fmt: skip
        done = trace.column("status_done")
        assert done == [0] * (taken[0] + 2) + [1] * (length - taken[0] - 2)
        assert trace.column("status_total")[-1] == taken[0] - start


def test_nothing_is_done_before_the_first_run() -> None:
    trace = run_block(
        fcnn_conv, top(small()).args, ("rst",), lambda cycle, _: {"rst": int(not cycle)}, 6,
        quick=True,
    )  # fmt: skip
    assert not any(trace.column("status_done"))


def test_every_stall_has_its_counter() -> None:
    """Short passes wait for kernels, long pipelines for partial sums, a slow sink for places."""
    shape = Shape(n=2, m=4, k=2, rows=2, columns=2)
    design = small(lanes=1, maps_at_once=2, k=2)
    (found,) = run_on("myhdl", [drawn(StreamRun.forward(shape, 1, design), 1)])
    grid = StreamRun.forward(shape, 1, design).grid
    assert found.status["status_stall_kernel"] == (8 - grid.lead) + 3 * (8 + 1 - grid.pass_beats)
    slow = small(lanes=1, maps_at_once=1, mul_latency=3, add_latency=4)
    (found,) = run_on("myhdl", [drawn(StreamRun.forward(shape, 1, slow), 1)])
    assert found.status["status_stall_partial"] > 0
    assert found.status["status_total"] == cycles(StreamRun.forward(shape, 1, slow))


def test_registers_stay_in_their_ranges() -> None:
    for design in (small(), small(k=3, lanes=1, maps_at_once=3)):
        settings = CONV.settings(design)
        for job in random_jobs(design, 40):
            for name, value in registers(job.run).items():
                assert settings[name].least <= value <= settings[name].most, name


def test_the_register_map_has_every_register_and_counter() -> None:
    found = {each.name: each for each in axi_registers_of(top(small())).registers}
    for each in CONV.registers:
        register = found[f"config_{each.name}"]
        assert each.meaning in register.meaning
    for each in COUNTERS:
        assert any(name.startswith(f"status_{each.name}") for name in found), each.name


@pytest.mark.ghdl
def test_fcnn_conv_vhdl(replays: Replays) -> None:
    jobs = random_jobs(small(lanes=1), 2, most=3, maps=2)
    length = sum(cycles(job.run) + sum(port_words(job.run).values()) + 20 for job in jobs)
    rates = dict.fromkeys(WORDS, 0.8)
    trace = play(jobs, rates, cycles=length, of_top=True)
    assert trace.column("status_done")[-1]
    replays(trace, lint=True)


@pytest.mark.verilator
def test_fcnn_conv_in_verilator() -> None:
    jobs = random_jobs(small(lanes=1), 12, most=9, maps=6)
    for job, outcome in zip(jobs, run_on("verilator", jobs), strict=True):
        check(job, outcome)


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize(("k", "lanes", "maps"), [(3, 4, 3), (5, 2, 2), (4, 1, 3), (1, 4, 2)])
def test_other_modules_in_verilator(k: int, lanes: int, maps: int) -> None:
    """In binary32 and bfloat16, with the usual latencies; streams stall, and a reset comes."""
    fmt = BINARY32 if k == 3 else BFLOAT16
    design = small(fmt=fmt, k=k, lanes=lanes, maps_at_once=maps, mul_latency=3, add_latency=4)
    jobs = random_jobs(design, 30, most=9, maps=6)
    for job, outcome in zip(jobs, run_on("verilator", jobs), strict=True):
        check(job, outcome)
    for job, outcome in zip(jobs, run_on("verilator", jobs, True, reset_at=90), strict=True):
        check(job, outcome, stalled=True)
