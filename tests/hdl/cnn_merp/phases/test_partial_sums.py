"""Sums that start from a stream and leave as one: every cycle, every count, and bad streams."""

from dataclasses import replace

import numpy as np
import pytest

from marks import in_full, rows_in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.forward import expect_forward, forward_run, forward_top
from merp.cosim.phases.audit.run_and_audit import run_and_audit
from merp.cosim.phases.expectation import GroupPass
from merp.hdl.cnn_merp.ports.kernels import LoadConfig
from merp.models.base.bits import Bits
from merp.models.base.input_part import WHOLE, InputPart, part_of
from merp.models.base.shape import Pool, Shape
from merp.models.golden.convolution import convolution, finished, from_biases, partial_sums
from merp.models.machines.cnn_merp.cycles import forward_cycles
from merp.models.machines.cnn_merp.flow import input_flow
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.registers import registers
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.testbenches.cnn_merp.random_layers import (
    ELABORATIONS,
    WIDE,
    LayerCase,
    connected_case,
    random_case,
)
from merp.testbenches.top.run import Run

MIDDLE = InputPart(first=False, last=False)


def roomy(design: EngineDesign) -> EngineDesign:
    """With room for all sums, so that nothing waits for the output."""
    return replace(design, partial=True, fifo_words=400)


SEVERAL = (
    replace(WIDE[1], n_cu=7, r=4, max_maps=18),
    replace(WIDE[6], n_cu=6, accumulator_precision=28),
    *WIDE,
)
"""Partial sums that come several to a beat: words of the units that are no whole number of beats,
wide accumulators, fewer units than a beat has places."""


def start_of(case: LayerCase, on: EngineDesign) -> Bits:
    """What the sums of a middle part start at: biases in turn, one of them a NaN."""
    biases = from_biases(case.bias, on.fmt, on.summation).copy()
    biases[0] = on.accumulator_format.nan
    size = len(case.x), case.shape.out_rows, case.shape.out_columns, case.shape.m
    positions = np.arange(size[0] * size[1] * size[2])[:, np.newaxis]
    return biases[(positions + np.arange(size[3])) % size[3]].reshape(size)


def middle(case: LayerCase, on: EngineDesign) -> GroupPass:
    """A pass that starts at partial sums and leaves some."""
    start, shape = start_of(case, on), case.shape
    golden = partial_sums(
        case.x, case.kernels, start, shape.stride, shape.pad, on.fmt, on.summation
    )
    run = forward_run(shape, on, case.x, case.kernels, start, part=MIDDLE)
    return GroupPass(run, expect_forward(shape, len(case.x), on, golden, part=MIDDLE))


@pytest.mark.parametrize("elaboration", [0, 10, *in_full(*range(1, 10), 11)])
def test_every_cycle_is_that_of_the_flow_model(elaboration: int) -> None:
    on = roomy(ELABORATIONS[elaboration])
    cases = [random_case(elaboration + 1000 * seed, elaboration, None) for seed in range(3)]
    cycles_are_modelled(cases, on)


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", [0, 1, *in_full(*range(2, len(SEVERAL)))])
def test_so_are_those_of_several_to_a_beat(index: int) -> None:
    on = roomy(SEVERAL[index])
    kinds = (random_case, connected_case) if on.folded else (random_case,)
    cases = [kind(60 + seed, on, None) for seed in range(3) for kind in kinds]
    cycles_are_modelled(cases, on)


@pytest.mark.parametrize(("port", "cycles"), [(1, 13), (4, 4), *rows_in_full((2, 7), (8, 2))])
def test_so_many_come_and_leave_in_a_cycle(port: int, cycles: int) -> None:
    """Two words of the units, of 8 and of 5 maps: each begins with a cycle of its own."""
    on = EngineDesign(
        k=1, n_cu=8, r=8, p=2, d=2, kernel_words=2, groups=2, row_words=8, max_size=8, max_maps=1,
        fifo_words=12, add_latency=1, mul_latency=1, map_port=port, partial=True,
    )  # fmt: skip
    shape = Shape(n=1, m=13, k=1, rows=8, columns=8)
    ones = {"x": (2, 8, 8, 1), "kernels": (13, 1, 1, 1), "bias": (13,)}
    values = {name: np.full(size, on.fmt.bias << on.fmt.frac_bits, np.uint32)
              for name, size in ones.items()}  # fmt: skip
    case = LayerCase(on, shape, **values, stalls={}, reset_at=None)
    [found] = run_and_audit(forward_top(on, "behavioural"), [middle(case, on)], "myhdl")
    assert found.audit.failures == ()
    total = found.audit.cycles["total"]
    assert 128 * cycles < total < 128 * cycles + 32
    assert abs(total - forward_cycles(shape, 2, on, MIDDLE).total) < 8


def cycles_are_modelled(cases: list[LayerCase], on: EngineDesign) -> None:
    found = run_and_audit(
        forward_top(on, "behavioural"), [middle(each, on) for each in cases], "myhdl"
    )
    for case, each in zip(cases, found, strict=True):
        assert each.audit.failures == ()
        flow = input_flow(case.shape, len(case.x), on, partial_in=True)
        cycles = each.audit.cycles
        assert cycles["stall_output"] == 0
        assert (cycles["fill"], cycles["issue"]) == (flow.fill, flow.issue)
        assert cycles["stall_input"] == flow.stall_input
        assert cycles["stall_hazard"] == flow.stall_hazard


@pytest.mark.sample(1)
@pytest.mark.parametrize(("port", "words"), [(1, -1), (1, 1), (4, -4), (4, 4)])
def test_a_misplaced_last_is_told_and_forgotten(port: int, words: int) -> None:
    """A beat too many at the source, whose last does not come in time; one too few, reset."""
    on = replace(ELABORATIONS[1], partial=True, map_port=port)
    case = random_case(1, 1, None)
    each = middle(case, on)
    partial = each.run.words["s_axis_partial"]
    wrong = partial[:words] if words < 0 else np.append(partial, partial[:words])
    spoilt = Run(each.run.config, dict(each.run.words) | {"s_axis_partial": wrong})
    if words > 0:
        records = run_job(Job(forward_top(on, "behavioural"), [spoilt, each.run]), "myhdl")
        told = [record.outcome.status["status_framing_error"] for record in records]
        assert told == [1, 0]
        golden = each.expected.ports["partial_out"].golden
        assert golden is not None
        for record in records:
            assert np.array_equal(record.words("m_axis_partial"), golden.reshape(-1))
    else:
        with pytest.raises(Exception, match=rf"s_axis_partial {len(wrong)} words"):
            run_job(Job(forward_top(on, "behavioural"), [spoilt], limit=200), "myhdl")


@pytest.mark.parametrize("port", [1, 2, *in_full(8)])
def test_runs_with_and_without_biases_need_registers_only(port: int) -> None:
    on = replace(ELABORATIONS[10], partial=True, state=True, kernel_port=port)
    case = random_case(5, 10, None)
    shape, fmt, summation = case.shape, on.fmt, on.summation
    plain = replace(shape, relu=False, pool=None)
    whole = convolution(case.x, case.kernels, case.bias, shape.stride, shape.pad, fmt, summation)
    raw = partial_sums(
        case.x, case.kernels, from_biases(case.bias, fmt, summation), shape.stride, shape.pad,
        fmt, summation,
    )  # fmt: skip
    assert np.array_equal(finished(raw, fmt, summation), whole)
    first = part_of(0, 2)
    passes = [
        GroupPass(
            forward_run(plain, on, case.x, case.kernels, case.bias, part=WHOLE),
            expect_forward(plain, len(case.x), on, whole, b""),
        ),
        GroupPass(
            forward_run(shape, on, case.x, case.kernels, case.bias, part=first),
            expect_forward(shape, len(case.x), on, raw, b"", first),
        ),
    ]
    middles = middle(case, on)
    expected = expect_forward(
        shape, len(case.x), on, middles.expected.ports["partial_out"].golden, b"", MIDDLE
    )
    passes = [
        passes[0],
        GroupPass(middles.run, expected),
        passes[1],
        GroupPass(middles.run, expected),
    ]
    found = run_and_audit(forward_top(on, "behavioural"), [*passes, passes[0]], "myhdl")
    assert [each.audit.failures for each in found] == [()] * 5


def test_a_pass_whose_sums_leave_raw_has_neither_relu_nor_pooling_in_its_registers() -> None:
    shape = Shape(n=2, m=3, k=2, rows=6, columns=6, pool=Pool(window=2, stride=2))
    on = replace(ELABORATIONS[2], partial=True)
    values = registers(shape, 1, on, part_of(0, 2))
    assert values["output_config_relu"] == 0
    assert values["output_config_window"] == 1
    assert (values["pass_config_partial_in"], values["pass_config_partial_out"]) == (0, 1)
    last = registers(shape, 1, on, part_of(1, 2))
    assert (last["pass_config_partial_in"], last["pass_config_partial_out"]) == (1, 0)
    assert last["output_config_window"] == 2


def test_a_design_without_partial_sums_is_as_ever() -> None:
    on = ELABORATIONS[2]
    assert "partial" not in repr(on)
    assert repr(replace(on, partial=True)) == repr(on)[:-1] + ", partial=True)"
    assert not any("pass_config" in name for name in registers(Shape(
        n=1, m=1, k=2, rows=2, columns=2), 1, on))  # fmt: skip
    names = [each.name for each in axi_registers_of(forward_top(on)).registers]
    assert not any("partial" in name for name in names)
    assert vars(LoadConfig(on)).keys() == vars(LoadConfig(replace(on, partial=True))).keys()


def test_the_streams_of_wide_sums_have_whole_bytes() -> None:
    assert [
        replace(ELABORATIONS[10], partial=True, accumulator_precision=bits).partial_width
        for bits in (24, 25, 28)
    ] == [32, 40, 40]
