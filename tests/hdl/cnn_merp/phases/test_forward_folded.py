"""Fully connected layers on engines of k x k kernels, between convolutions on one bitstream."""

from dataclasses import replace

import numpy as np
import pytest

from audited_runs import assert_same, many_in_verilog
from forward_cases import run
from marks import few, in_full, rows_in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.forward import forward_run, forward_top
from merp.models.base.folded_shape import FoldedShape, filling, run_shape
from merp.models.base.formats import BINARY32
from merp.models.golden.convolution import convolution
from merp.models.machines.cnn_merp.flow import input_flow
from merp.models.machines.cnn_merp.kernel_load import forward_load
from merp.testbenches.cnn_merp.random_layers import (
    FOLDED,
    FOLDING,
    LayerCase,
    connected_case,
    random_case,
)

EVERY = range(len(FOLDING))
LOADS = [
    (7, 1), (7, 3), (7, 6), (7, 11), (8, 1), (8, 5), (8, 9), (8, 11), (8, 13), (9, 12),
    *rows_in_full((7, 5), (7, 8), (8, 4), (8, 17), (8, 18), (10, 3), (10, 26), (10, 33), (11, 5)),
    (12, 1), (12, 5), (12, 11), *rows_in_full((12, 4), (12, 9), (12, 18), (13, 3), (13, 26)),
]  # fmt: skip
"""Elaborations with several elements to a beat, and elements of a layer."""


def cases(seed: int, elaboration: int, pressure: int | None = 0) -> list[LayerCase]:
    """A fully connected layer, a convolution, and another fully connected one."""
    base, _ = FOLDED[elaboration]
    between = replace(random_case(seed, base, pressure), design=FOLDING[elaboration])
    first, last = (connected_case(seed + i, elaboration, pressure) for i in (0, 500))
    return [first, between, last]


@pytest.mark.sample(2)
@pytest.mark.parametrize("elaboration", few(range(14), 0, 5, 8, 12))
def test_random_layers(elaboration: int) -> None:
    run(cases(0, elaboration))


def test_a_window_waits_for_its_own_elements_alone() -> None:
    for elaboration in (0, 6):
        case = connected_case(7, elaboration, pressure=None)
        [record] = run([case])
        flow = input_flow(case.shape, len(case.x), case.design)
        status = record.outcome.status
        assert (status["status_fill"], status["status_issue"]) == (flow.fill, flow.issue)
        assert status["status_stall_input"] == flow.stall_input
        assert status["status_stall_hazard"] == flow.stall_hazard


@pytest.mark.sample(4)
@pytest.mark.parametrize(("elaboration", "elements"), LOADS)
def test_kernels_load_in_the_cycles_of_the_model(elaboration: int, elements: int) -> None:
    """Outputs that end anywhere in a beat, several of them in one, and those that are a beat."""
    case = connected_case(3, elaboration, pressure=None)
    design, fmt = case.design, case.design.fmt
    some = []
    for m in range(1, 2 * design.n_cu + 1):
        shape = replace(case.shape, n=elements, m=m)
        words = np.random.default_rng([elements, m]).integers(
            fmt.one, fmt.one + 99, (m + 1, elements)
        )
        x = words[:1].reshape(1, 1, 1, elements).astype(np.uint32)
        kernels = words[1:].reshape(m, elements, 1, 1).astype(np.uint32)
        some.append(replace(case, shape=shape, x=x, kernels=kernels, bias=case.bias[:1].repeat(m)))
    for each, record in zip(some, run(some), strict=True):
        load = forward_load(each.shape, design)
        assert record.outcome.status["status_kernel_load"] == load.cycles + 1, each.shape


def test_a_misplaced_last_of_packed_beats_is_told_and_forgotten() -> None:
    """In a beat too early, late by a beat, and both: each is told at the end of the load."""
    case = connected_case(3, 8, pressure=None)
    design = case.design
    shape = replace(case.shape, n=11, m=3)
    kernels = np.full((3, 11, 1, 1), design.fmt.one, np.uint32)
    x = np.full((1, 1, 1, 11), design.fmt.one, np.uint32)
    good = forward_run(shape, design, x, kernels, kernels[:, 0, 0, 0])
    words = good.words["s_axis_kernel"]
    late = replace(good, words={**good.words, "s_axis_kernel": np.append(words, words[:4])})
    records = run_job(Job(forward_top(design, "behavioural"), [late, good], limit=500), "myhdl")
    assert [each.outcome.status["status_framing_error"] for each in records] == [1, 0]
    assert np.array_equal(records[0].words("m_axis_map"), records[1].words("m_axis_map"))


@pytest.mark.parametrize("elaboration", [8, 12])
def test_the_next_outputs_weights_are_not_seen(elaboration: int) -> None:
    """Infinities in the beat in which an output ends: with the zeros of a map they give NaN."""
    case = connected_case(3, elaboration, pressure=None)
    fmt = case.design.fmt
    kernels = np.full((3, 11, 1, 1), fmt.one, np.uint32)
    kernels[1:, :2] = fmt.inf
    shape, x = replace(case.shape, n=11, m=3), np.full((1, 1, 1, 11), fmt.one, np.uint32)
    run([replace(case, shape=shape, x=x, kernels=kernels, bias=np.zeros(3, np.uint32))])


@pytest.mark.sample(2)
@pytest.mark.parametrize("elements", [1, 3, 4, 5, 36])
@pytest.mark.parametrize("port", [1, *in_full(2, 4, 8)])
def test_every_filling_of_the_last_map_is_right(elements: int, port: int) -> None:
    """Not a number lies where zeros must, from the run before: its product would be seen."""
    case = connected_case(11, 0, pressure=None)
    case = replace(case, design=replace(case.design, kernel_port=port))
    design, fmt = case.design, case.design.fmt
    words = np.random.default_rng(elements).integers(fmt.one, fmt.one + 99, (6, elements))
    shape = replace(case.shape, n=elements, m=5)
    dirty = replace(
        case,
        shape=replace(shape, n=36),
        x=np.full((2, 1, 1, 36), fmt.nan, np.uint32),
        kernels=np.full((5, 36, 1, 1), fmt.nan, np.uint32),
        bias=np.zeros(5, np.uint32),
    )
    clean = replace(
        dirty,
        shape=shape,
        x=words[:1].reshape(1, 1, 1, elements).astype(np.uint32),
        kernels=words[1:].reshape(5, elements, 1, 1).astype(np.uint32),
    )
    records = run([dirty, clean])
    assert fmt.nan not in records[1].words("m_axis_map")
    assert design.taps * run_shape(shape, design.k).n - elements == filling(shape, design.k)


def test_the_golden_sums_as_many_products_at_a_time_as_there_are_taps() -> None:
    """2^24 + 1 rounds to 2^24, but not where the ones are summed first."""
    big, one = 0x4B800000, BINARY32.one
    x = np.full((1, 1, 1, 6), one, np.uint32)
    kernels = np.array([big, one, one, one, one, one], np.uint32).reshape(1, 6, 1, 1)
    bias = np.zeros(1, np.uint32)
    tree = FOLDING[0].summation
    alone = convolution(x, kernels, bias, 1, 0, BINARY32)
    together = convolution(x, kernels, bias, 1, 0, BINARY32, tree)
    assert alone.item() == big
    # (2^24 + 1) + (1 + 1) is 2^24 + 2; then (1 + 1) + (0 + 0) is added.
    assert together.item() == big + 2


@pytest.mark.parametrize(("elements", "maps"), [(8, 2), (9, 2), (18, 3), (19, 2)])
def test_maps_that_are_not_those_of_the_elements_are_refused(elements: int, maps: int) -> None:
    with pytest.raises(ValueError, match=f"{elements} elements do not fold onto {maps} maps of 9"):
        FoldedShape(n=maps, m=1, k=3, rows=3, columns=3, elements=elements)


@pytest.mark.full  # delta propagation's has the same input side
@pytest.mark.verilator
def test_verilog_gives_the_same_record() -> None:
    some = cases(40, 6)
    assert_same(run(some, "verilator", "rtl"), run(some))


@pytest.mark.verilator
@pytest.mark.parametrize("elaboration", in_full(*EVERY))
def test_many_random_layers_in_verilog_with_arrays_in_cpp(elaboration: int) -> None:
    some = [cases(1000 + seed, elaboration, seed % 4) for seed in range(30)]
    many_in_verilog(run, [case for each in some for case in each])


@pytest.mark.ghdl
@pytest.mark.parametrize("elaboration", [8, *in_full(0, 5, 12)])
def test_vhdl_gives_the_same_record(elaboration: int) -> None:
    some = cases(60, elaboration)
    assert_same(run(some, "ghdl", "rtl"), run(some))
