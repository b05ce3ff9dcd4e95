"""Two layers fused in forward propagation: the bits of both runs, and no word between them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fused_cases import ELABORATIONS, arrays_for, case, plain, play

from audited_runs import assert_same, many_in_verilog
from marks import few, in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.fused_forward import fused_forward_top
from merp.cosim.phases.audit.audit import audit
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32
from merp.models.base.fused_shape import FusedShape
from merp.models.base.shape import Pool, Shape
from merp.models.base.state_field import state_field_bits
from merp.models.base.storage import Storage
from merp.models.golden.in_memory import in_memory
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.testbenches.top.run import Stuck


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", few(range(len(ELABORATIONS)), 1, 4))
def test_random_layers_back_to_back(index: int) -> None:
    play([case(i, index) for i in range(4)])


@pytest.mark.parametrize("index", in_full(0, 3))
def test_register_transfer_arrays_give_the_same_record(index: int) -> None:
    cases = [case(70, index)]
    assert_same(play(cases), play(cases, array="rtl"))


LATE: dict[str, tuple[int, ...]] = {"m_axis_between": (*[0] * 40, 1)}
STATES: dict[str, tuple[int, ...]] = {
    "m_axis_state": (*[0] * 9, 1), "m_axis_between_state": (*[0] * 7, 1, 1),
}  # fmt: skip
SHUT: dict[str, tuple[int, ...]] = {"m_axis_map": (*[0] * 30, 1)}
SPARSE: dict[str, tuple[int, ...]] = {"s_axis_map": (*[0] * 5, 1)}


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "stalls",
    few([LATE, STATES, SHUT, SPARSE], LATE, SHUT),
    ids=["between", "states", "maps out", "maps in"],
)
def test_any_stream_may_be_the_slow_one(stalls: dict[str, tuple[int, ...]]) -> None:
    record, _ = play([plain(2, 1, stalls=stalls), plain(2, 3)])
    first, last = record.outcome.first, record.outcome.last
    assert (last["m_axis_between"] > last["m_axis_map"]) == (stalls is LATE)
    loaded = max(last[f"s_axis_{name}"] for name in ("kernel", "second_kernel", "second_bias"))
    assert first["s_axis_map"] > loaded


def test_the_first_layer_ends_with_its_own_last_slot() -> None:
    """Behind its last word, and long before the second layer ends; so it has nothing to drain."""
    [record] = play([plain(2, 1)])
    outcome, begin = record.outcome, record.outcome.first["s_axis_map"]
    first, whole = (outcome.status[f"status_{name}total"] for name in ("first_", ""))
    assert outcome.last["m_axis_between"] - begin + 1 < first < whole
    assert outcome.status["status_first_drain"] == 0


def test_a_pass_lasts_as_long_as_sums_that_pooling_leaves_out() -> None:
    """Behind the last word of the first layer there are two rows of its sums."""
    design = ELABORATIONS[3]
    one = Shape(n=3, m=3, k=4, rows=12, columns=12, pool=Pool(window=1, stride=3))
    other = Shape(n=3, m=1, k=1, rows=one.pooled_rows, columns=one.pooled_columns)
    shape = FusedShape(one, other, 1)
    cases = [arrays_for(np.random.default_rng(s), design, shape, 1, False) for s in (1, 2)]
    record, _ = play(cases)
    assert record.outcome.cycles > record.outcome.last["m_axis_map"] + 100


INPUTS = (
    "s_axis_map", "s_axis_kernel", "s_axis_bias", "s_axis_second_kernel", "s_axis_second_bias",
)  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize("spoilt", few([None, *INPUTS], None, INPUTS[1]))
def test_a_misplaced_last_is_told_and_forgotten(spoilt: str | None) -> None:
    """A word too many at the source of a stream: its last does not come with the run's."""
    first, second = plain(0, 4), plain(0, 5)
    run = first.run()
    if spoilt is not None:
        more = np.zeros(1, np.uint32)
        run = replace(run, words={**run.words, spoilt: np.append(run.words[spoilt], more)})
    top = fused_forward_top(first.design, "behavioural")
    records = run_job(Job(top, [run, second.run()]), "myhdl")
    told = [record.outcome.status["status_framing_error"] for record in records]
    assert told == [int(spoilt is not None), 0]
    for record, each in zip(records, (first, second), strict=True):
        assert audit(record, each.expected()).mismatches == 0


@pytest.mark.parametrize("stream", ["second_kernel", "second_bias"])
def test_a_last_behind_the_first_group_is_told(stream: str) -> None:
    """There the first group's own stream ends, and the whole one does not."""
    case = plain(0, 4)
    run = case.run()
    name = f"s_axis_{stream}"
    half = replace(run, words={**run.words, name: run.words[name][: len(run.words[name]) // 2]})
    with pytest.raises(Stuck, match="status_framing_error 1"):
        run_job(Job(fused_forward_top(case.design, "behavioural"), [half], limit=100), "myhdl")


@pytest.mark.parametrize("index", [2, *in_full(0, 1, 5)])
@pytest.mark.parametrize("reset_at", [200, *in_full(1, 400, 700)])
def test_resets_in_every_part_of_a_pass(index: int, reset_at: int) -> None:
    """While kernels load, when the second layer begins, and in mid-stream."""
    play([replace(plain(index, 6), reset_at=reset_at), plain(index, 7)])


def test_a_wrong_counter_of_the_first_layer_is_told() -> None:
    case = plain(0, 8)
    [record] = play([case])
    for name in ("total", "issue", "fill", "useful", "kernel_load"):
        key = f"status_first_{name}"
        status = {**record.outcome.status, key: record.outcome.status[key] + 1}
        spoilt = replace(record, outcome=replace(record.outcome, status=status))
        failures = audit(spoilt, case.expected()).failures
        assert failures
        assert all("first" in failure for failure in failures)


STORED = Storage(maps=BFLOAT16, deltas=BINARY32, kernels=BINARY16, gradients=BINARY32)


def test_the_map_between_is_rounded_as_if_it_lay_in_memory() -> None:
    """Kernels and maps in narrower formats, images in one of their own."""
    design = ELABORATIONS[4]
    first = replace(design.first, storage=replace(STORED, image=BINARY16))
    design = FusedDesign(first, replace(design.second, storage=STORED), design.groups)
    given = plain(4, 10)

    def rounded(words: Any, tensor: Any, storage: Storage) -> Any:
        if isinstance(words, tuple):
            return tuple(rounded(each, tensor, storage) for each in words)
        return in_memory(words, tensor, BINARY32, storage)

    images = replace(STORED, maps=BINARY16)
    play(
        [
            replace(
                given,
                design=design,
                x=rounded(given.x, "maps", images),
                first=rounded(given.first, "kernels", STORED),
                second=rounded(given.second, "kernels", STORED),
            )
        ]
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"map_port": 2}, "several elements a beat"),
        ({"kernel_port": 2}, "several elements a beat"),
        ({"partial": True}, "in parts"),
        ({"folded": True}, "for fully connected"),
        ({"widened": True}, "smaller kernels"),
        ({"added": True}, "adds maps"),
    ],
)
@pytest.mark.parametrize("which", ["first", "second"])
def test_designs_that_are_not_fused_are_refused_in_a_line(
    which: str, changes: dict[str, Any], said: str
) -> None:
    case = plain(0, 9)
    design = case.design._replace(**{which: replace(getattr(case.design, which), **changes)})
    with pytest.raises(BadInput, match=said) as refused:
        replace(case, design=design).run()
    assert "\n" not in str(refused.value)


def test_state_of_two_groups_is_whole_bytes() -> None:
    case = plain(2, 9)
    fields = replace(case.shape.second, m=7)
    assert fields.m * state_field_bits(fields) % 8
    with pytest.raises(BadInput, match="no whole bytes"):
        replace(case, shape=case.shape._replace(second=fields)).run()


@pytest.mark.verilator
@pytest.mark.parametrize("index", in_full(1, 2, 5))
def test_verilog_gives_the_same_record(index: int) -> None:
    cases = [case(seed, index) for seed in range(80, 86)]
    assert_same(play(cases, "verilator", "rtl"), play(cases))


@pytest.mark.verilator
@pytest.mark.parametrize("index", in_full(*range(len(ELABORATIONS))))
def test_many_random_layers_in_verilog_with_arrays_in_cpp(index: int) -> None:
    many_in_verilog(play, [case(seed, index) for seed in range(90, 130)])


@pytest.mark.ghdl
@pytest.mark.parametrize("index", [2, *in_full(0, 4)])
def test_vhdl_gives_the_same_record(index: int) -> None:
    cases = [case(seed, index) for seed in (80, 81)]
    assert_same(play(cases, "ghdl", "rtl"), play(cases))
