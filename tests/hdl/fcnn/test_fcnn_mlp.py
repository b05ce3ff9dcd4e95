"""The top of the fully connected module: words, counters and cycles by formula, in Verilator."""

from random import Random

import numpy as np
import pytest
from product_cases import Case, case, random_case, small

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.hdl.fcnn.fcnn_mlp import ProductPorts
from merp.models.base.formats import BINARY32
from merp.models.machines.fcnn.params.product_registers import (
    COUNTERS,
    PRODUCT,
    ProductRun,
)
from merp.models.machines.fcnn.product_cycles import product_cycles
from merp.models.machines.fcnn.product_order import product_of
from merp.models.machines.fcnn.product_words import product_words, walked_words
from merp.testbenches.fcnn.product_bench import product_run, top
from merp.testbenches.top.run import Outcome


def play(
    cases: list[Case], engine: str = "myhdl", stalls: dict[str, tuple[int, ...]] | None = None,
    reset_at: int | None = None,
) -> list[Outcome]:  # fmt: skip
    runs = [
        product_run(each.run, each.a, each.b, each.bias, each.filler).under(stalls, reset_at)
        for each in cases
    ]
    records = run_job(Job(top(cases[0].run.design), runs), engine)
    return [record.outcome for record in records]


def check(each: Case, outcome: Outcome) -> None:
    """Bits, words, and counters that add up."""
    run, status = each.run, outcome.status
    found = product_of(run, np.asarray(outcome.words["m_axis_sum"], np.uint32))
    assert np.array_equal(found, each.wanted)
    size = (run.rows, run.inner, run.columns)
    words = product_words(size, run.biased, run.design)
    assert walked_words(size, run.biased, run.design) == words
    moved = {
        name: count * (1 if name == "bias" else run.design.size) for name, count in words.items()
    }
    assert {name: status[f"status_{name}"] for name in words} == moved
    assert words == {
        "map_in": run.map_words, "kernel": run.kernel_words, "bias": run.bias_words,
        "sum_out": run.sum_words,
    }  # fmt: skip
    parts = [status[f"status_{counter.name}"] for counter in COUNTERS if counter.part]
    assert sum(parts) == status["status_total"]
    assert status["status_framing_error"] == 0
    assert not outcome.faults


def check_cycles(each: Case, outcome: Outcome) -> None:
    for name, value in product_cycles(each.run)._asdict().items():
        assert outcome.status[f"status_{name}"] == value, name
    assert outcome.cycles == product_cycles(each.run).total + 2


def test_counters_and_words() -> None:
    rng, design = Random(11), small(2, 2, 3)
    cases = [random_case(design, rng) for _ in range(4)]
    for each, outcome in zip(cases, play(cases), strict=True):
        check(each, outcome)
        check_cycles(each, outcome)


def test_a_module_of_single_elements() -> None:
    """Streams of R = 1 have no tkeep."""
    cases = [case(small(1, 2, 2), (3, 2, 3), True, Random(12))]
    (outcome,) = play(cases)
    check(cases[0], outcome)
    check_cycles(cases[0], outcome)


def test_stalls_and_a_reset_change_no_bit() -> None:
    cases = [case(small(2, 1, 4), (8, 2, 3), True, Random(12))]
    stalls = {
        "s_axis_map": (1, 0, 1), "s_axis_kernel": (0, 1, 1, 1), "s_axis_bias": (0, 1),
        "m_axis_sum": (0, 0, 1),
    }  # fmt: skip
    (outcome,) = play(cases, stalls=stalls, reset_at=50)
    check(cases[0], outcome)
    assert outcome.resets == 1
    assert outcome.status["status_stall_map"] > 0 < outcome.status["status_stall_output"]


@pytest.mark.verilator
def test_in_verilator() -> None:
    rng = Random(13)
    design = small(4, 2, 5, fmt=BINARY32, mul_latency=3, add_latency=4)
    cases = [random_case(design, rng) for _ in range(6)]
    for each, outcome in zip(cases, play(cases, "verilator"), strict=True):
        check(each, outcome)
        check_cycles(each, outcome)


@pytest.mark.ghdl
@pytest.mark.full
def test_in_ghdl() -> None:
    rng, design = Random(14), small(2, 2, 3)
    cases = [random_case(design, rng) for _ in range(3)]
    for each, outcome in zip(cases, play(cases, "ghdl"), strict=True):
        check(each, outcome)
        check_cycles(each, outcome)


def test_registers_have_ranges() -> None:
    design = small(2, 2, 2)
    settings = PRODUCT.settings(design)
    assert {f"config_{name}" for name in vars(ProductPorts(design).config)} == set(settings)
    large = {"max_rows": 1 << 20, "max_inner": 1 << 20, "max_columns": 1 << 20}
    with pytest.raises(ValueError, match="map_words must be at most 2147483647"):
        ProductRun(1 << 20, 1 << 20, 1, False, small(1, 1, 2, **large))
