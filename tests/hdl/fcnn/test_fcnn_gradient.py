"""The top of the gradient module: words, counters and cycles by formula, in both languages."""

from random import Random

import numpy as np
import pytest
from gradient_cases import Case, case, random_case, small

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.hdl.fcnn.fcnn_gradient import GradientPorts
from merp.models.base.formats import BINARY32
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.gradient_cycles import gradient_cycles
from merp.models.machines.fcnn.gradient_words import gradient_words, walked_words
from merp.models.machines.fcnn.params.gradient_registers import (
    COUNTERS,
    GRADIENT,
    GradientRun,
)
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.testbenches.fcnn.gradient_bench import gradient_run, top
from merp.testbenches.top.run import Outcome


def play(
    cases: list[Case], engine: str = "myhdl", stalls: dict[str, tuple[int, ...]] | None = None,
    reset_at: int | None = None,
) -> list[Outcome]:  # fmt: skip
    runs = [
        gradient_run(each.run, each.x, each.delta, each.filler).under(stalls, reset_at)
        for each in cases
    ]
    records = run_job(Job(top(cases[0].run.grid.design), runs), engine)
    return [record.outcome for record in records]


def check(each: Case, outcome: Outcome) -> None:
    """Bits, words, and counters that add up."""
    grid, status = each.run.grid, outcome.status
    assert np.asarray(outcome.words["m_axis_gradient"]).tolist() == each.wanted
    words = gradient_words(grid.shape, grid.images, grid.design)
    assert walked_words(grid.shape, grid.images, grid.design) == words
    elements = {"map_in": grid.design.lanes, "delta_in": grid.design.kernels, "gradient_out": 1}
    moved = {name: count * elements[name] for name, count in words.items()}
    assert {name: status[f"status_{name}"] for name in words} == moved
    parts = [status[f"status_{counter.name}"] for counter in COUNTERS if counter.part]
    assert sum(parts) == status["status_total"]
    assert status["status_framing_error"] == 0
    assert not outcome.faults
    run = each.run
    assert words == {
        "map_in": run.map_words, "delta_in": run.delta_words, "gradient_out": run.gradient_words,
    }  # fmt: skip


def check_cycles(each: Case, outcome: Outcome) -> None:
    for name, value in gradient_cycles(each.run)._asdict().items():
        assert outcome.status[f"status_{name}"] == value, name
    assert outcome.cycles == gradient_cycles(each.run).total + 2


def test_counters_and_words() -> None:
    rng, design = Random(11), small(2, 2, 2)
    cases = [random_case(design, rng) for _ in range(3)]
    for each, outcome in zip(cases, play(cases), strict=True):
        check(each, outcome)
        check_cycles(each, outcome)


def test_stalls_and_a_reset_change_no_bit() -> None:
    design = small(2, 1, 2)
    cases = [case(design, Shape(n=2, m=3, k=2, rows=4, columns=3, pad=1), 2, Random(12))]
    stalls = {
        "s_axis_map": (1, 0, 1), "s_axis_delta": (0, 1, 1, 1), "m_axis_gradient": (0, 0, 1),
    }  # fmt: skip
    (outcome,) = play(cases, stalls=stalls, reset_at=70)
    check(cases[0], outcome)
    assert outcome.resets == 1
    assert outcome.status["status_stall_map"] > 0 < outcome.status["status_stall_delta"]


@pytest.mark.verilator
def test_in_verilator() -> None:
    rng = Random(13)
    design = small(3, 2, 2, fmt=BINARY32, mul_latency=3, add_latency=4)
    cases = [random_case(design, rng) for _ in range(6)]
    for each, outcome in zip(cases, play(cases, "verilator"), strict=True):
        check(each, outcome)
        check_cycles(each, outcome)


@pytest.mark.ghdl
@pytest.mark.full
def test_in_ghdl() -> None:
    rng, design = Random(14), small(2, 2, 1)
    cases = [random_case(design, rng) for _ in range(3)]
    for each, outcome in zip(cases, play(cases, "ghdl"), strict=True):
        check(each, outcome)
        check_cycles(each, outcome)


def test_registers_have_ranges() -> None:
    design = small(2, 2, 2)
    run = case(design, Shape(n=2, m=3, k=2, rows=4, columns=3), 2, Random(15)).run
    settings = GRADIENT.settings(design)
    assert {f"config_{name}" for name in vars(GradientPorts(design).config)} == set(settings)
    with pytest.raises(ValueError, match="dilation must be 1 in a gradient run, not 2"):
        GradientRun(Grid(run.grid.shape, 2, design, dilation=2))
    huge = StreamDesign(
        k=1, lanes=1, maps_at_once=1, max_rows=4096, max_columns=4096, max_maps=65536, max_step=1
    )
    with pytest.raises(ValueError, match="map_words must be at most 2147483647"):
        GradientRun(Grid(Shape(n=256, m=2, k=1, rows=4096, columns=4096), 1, huge))
