"""The forward engine against golden, counts and itself, over random layers and all engines."""

from dataclasses import replace

import numpy as np
import pytest
from layer_kinds import KINDS, POOL_KINDS, many, pooled

from audited_runs import assert_same, many_in_verilog
from forward_cases import run
from marks import few, in_full, rows_in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.forward import forward_run, forward_top
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.flow import input_flow
from merp.models.machines.cnn_merp.kernel_load import forward_load
from merp.testbenches.cnn_merp.random_layers import (
    ELABORATIONS,
    SHAPED,
    LayerCase,
    random_case,
    shaped_case,
)


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", [*range(0, 12, 2), *in_full(*range(1, 12, 2), *range(12, 24))])
def test_random_layers(seed: int) -> None:
    run([random_case(seed, seed % len(ELABORATIONS))], "myhdl")


@pytest.mark.sample(1)
@pytest.mark.parametrize("place", few(range(len(SHAPED)), 0, 4, 7, 11, 13, 15, 17, 18, 19))
def test_random_layers_padded_apart_and_with_smaller_kernels(place: int) -> None:
    run([shaped_case(seed, place, seed or None) for seed in range(3)], "myhdl")


@pytest.mark.full
@pytest.mark.ghdl
@pytest.mark.parametrize("place", [3, *in_full(0, 1, 2, *range(4, 23))])
def test_vhdl_of_shaped_layers_gives_the_same_record(place: int) -> None:
    cases = [shaped_case(seed, place) for seed in (60, 61)]
    assert_same(run(cases, "ghdl", "rtl"), run(cases, "myhdl"))


@pytest.mark.verilator
@pytest.mark.parametrize("place", in_full(1, 4, 11, 13, 15, 18))
def test_verilog_of_shaped_layers_gives_the_same_record(place: int) -> None:
    cases = [shaped_case(seed, place) for seed in range(40, 44)]
    assert_same(run(cases, "verilator", "rtl"), run(cases, "myhdl"))


@pytest.mark.full
@pytest.mark.parametrize("place", [8, *in_full(9, 10, 11)])
def test_smaller_kernels_of_several_elements_a_beat_load_in_the_cycles_of_the_model(
    place: int,
) -> None:
    cases = [shaped_case(seed, place, None) for seed in range(70, 78)]
    for case, record in zip(cases, run(cases, "myhdl"), strict=True):
        load = forward_load(case.shape, case.design)
        assert record.outcome.status["status_kernel_load"] == load.cycles + 1, case.shape


def of_port(seed: int, elaboration: int, port: int, pressure: int | None = 0) -> LayerCase:
    """A random layer whose kernels and biases come several in a beat."""
    case = random_case(seed, elaboration, pressure)
    return replace(case, design=replace(case.design, kernel_port=port))


# Kernels that fill beats, end within one, and are smaller than one; reduced formats; fused units.
PORTS = [(3, 8), (5, 2), (5, 4), (9, 8)]
MORE_PORTS = [(1, 2), (0, 4), (2, 4), (8, 2), (8, 4), (10, 8), (11, 4), (7, 8)]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("elaboration", "port"), [*PORTS, *rows_in_full(*MORE_PORTS)])
def test_random_layers_of_several_kernel_elements_a_beat(elaboration: int, port: int) -> None:
    cases = [of_port(port + seed, elaboration, port, seed or None) for seed in range(3)]
    record = run(cases, "myhdl")[0]  # without pressure
    beats = -(-cases[0].kernels.size // cases[0].design.kernel_beat)
    assert record.outcome.status["status_kernel_load"] == beats + 1


def test_a_last_in_another_beat_than_the_last_one_is_told_and_forgotten() -> None:
    """An element too many: in the last beat nobody sees it, beyond it there is another."""
    case = of_port(4, 5, 4, None)
    run_of = forward_run(case.shape, case.design, case.x, case.kernels, case.bias)
    size = case.kernels.size
    spoilt, told = [], []
    for more in (-(size % 4) % 4, -(size % 4) % 4 + 1):
        kernels = np.append(run_of.words["s_axis_kernel"], np.ones(more, np.uint32))
        spoilt.append(replace(run_of, words={**run_of.words, "s_axis_kernel": kernels}))
    records = run_job(Job(forward_top(case.design, "behavioural"), [*spoilt, run_of]), "myhdl")
    told = [record.outcome.status["status_framing_error"] for record in records]
    assert told == [0, 1, 0]
    counted = [record.outcome.status["status_kernel"] for record in records]
    assert counted == [-(-size // 4) * 4, -(-size // 4) * 4, size], "filling that crosses the pins"


def test_runs_back_to_back_need_registers_only() -> None:
    cases = [random_case(seed, 5, (0, None)[seed % 2]) for seed in range(100, 104)]
    records = run(cases, "myhdl")
    assert len({record.elaboration_sha for record in records}) == 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", [1, 10, *in_full(3)])
def test_register_transfer_array_gives_the_same_record(seed: int) -> None:
    cases = [random_case(seed, seed)]
    assert_same(run(cases, "myhdl"), run(cases, "myhdl", "rtl"))


@pytest.mark.parametrize("elaboration", [2, 9, *in_full(6)])
def test_cycles_without_pressure_equal_the_flow_model(elaboration: int) -> None:
    case = random_case(elaboration, elaboration, pressure=None)
    [record] = run([case], "myhdl")
    flow = input_flow(case.shape, len(case.x), case.design)
    status = record.outcome.status
    assert (status["status_fill"], status["status_issue"]) == (flow.fill, flow.issue)
    if status["status_stall_output"] == 0:
        assert status["status_stall_input"] == flow.stall_input
        assert status["status_stall_hazard"] == flow.stall_hazard


@pytest.mark.sample(1)
@pytest.mark.parametrize("sides", [(2, 0, 0, 2), (0, 2, 1, 0), (1, 2, 2, 1)])
def test_cycles_of_sides_padded_apart_equal_the_flow_model(sides: tuple[int, ...]) -> None:
    """A slot per window, so that each waits for its last column: none too long, none too short."""
    top, left, bottom, right = sides
    shape = Shape(n=1, m=1, k=3, rows=6, columns=7, pad=(top, left, bottom, right))
    rng = np.random.default_rng(3)
    case = shaped_case(0, 7, None)
    case = replace(
        case,
        design=replace(case.design, fifo_words=64),
        shape=shape,
        x=rng.integers(0x3F000000, 0x40000000, (2, 6, 7, 1)).astype(np.uint32),
        kernels=rng.integers(0x3F000000, 0x40000000, (1, 1, 3, 3)).astype(np.uint32),
        bias=np.zeros(1, np.uint32),
    )
    starved = replace(case, stalls={"s_axis_map": (0, 1, 0, 0, 1)})
    status = run([case, starved], "myhdl")[0].outcome.status
    flow = input_flow(shape, 2, case.design)
    found = [
        status[f"status_{cause}"] for cause in ("fill", "issue", "stall_input", "stall_output")
    ]
    assert found == [flow.fill, flow.issue, flow.stall_input, 0]


def test_waits_for_an_accumulator_are_counted_as_such() -> None:
    # One group, no interleaving: every further input map waits for the adder, and only for it.
    case = random_case(4, 4, pressure=None)
    shape = Shape(n=3, m=1, k=3, rows=4, columns=4, pad=1)
    rng = np.random.default_rng(1)
    words = {
        "x": rng.integers(0x3F000000, 0x40000000, (1, 4, 4, 3)).astype(np.uint32),
        "kernels": rng.integers(0x3F000000, 0x40000000, (1, 3, 3, 3)).astype(np.uint32),
        "bias": np.zeros(1, np.uint32),
    }
    case = replace(case, shape=shape, **words)
    [record] = run([case], "myhdl")
    flow = input_flow(shape, 1, case.design)
    assert flow.stall_hazard > 0
    assert record.outcome.status["status_stall_hazard"] == flow.stall_hazard
    assert record.outcome.status["status_stall_output"] == 0


@pytest.mark.verilator
@pytest.mark.parametrize("elaboration", [10, *in_full(1, 6, 9)])
def test_verilog_gives_the_same_record(elaboration: int) -> None:
    cases = [random_case(seed, elaboration) for seed in range(40, 44)]
    assert_same(run(cases, "verilator", "rtl"), run(cases, "myhdl"))


@pytest.mark.ghdl
@pytest.mark.parametrize("elaboration", [0, *in_full(*range(1, 12))])
def test_vhdl_gives_the_same_record(elaboration: int) -> None:
    cases = [random_case(seed, elaboration) for seed in range(60, 62)]
    assert_same(run(cases, "ghdl", "rtl"), run(cases, "myhdl"))


EVERY = (*ELABORATIONS, *SHAPED)


def of_every(seed: int, place: int) -> LayerCase:
    return random_case(seed, EVERY[place], seed % 4)


@pytest.mark.verilator
@pytest.mark.parametrize("place", [10, *in_full(*range(10), *range(11, 35))])
def test_many_random_layers_in_verilog_with_arrays_in_cpp(place: int) -> None:
    many_in_verilog(run, [of_every(seed, place) for seed in range(20, 100)])


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("name", KINDS)
def test_many_layers_of_each_kind(name: str) -> None:
    of, built = KINDS[name]
    places = [place for place, design in enumerate(EVERY) if built(design)]
    for place, seeds in many(lambda *case: of(of_every(*case).shape, EVERY[case[1]].k), places):
        run([of_every(seed, place) for seed in seeds], "verilator")


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("name", POOL_KINDS)
def test_many_layers_of_each_kind_of_pooling(name: str) -> None:
    kind = POOL_KINDS[name]
    places = [
        place for place, design in enumerate(EVERY) if design.pool_window > 1 and kind.built(design)
    ]
    for place, seeds in many(lambda *case: pooled(kind, of_every(*case).shape), places):
        run([of_every(seed, place) for seed in seeds], "verilator")
