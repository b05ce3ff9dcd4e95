"""Both backward phases in one pass: the bits of both runs, each word once, and cycles of halves."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from audited_runs import assert_same, audited, many_in_verilog
from marks import few, in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.backward import backward_run, backward_top, expect_backward
from merp.cosim.phases.audit.audit import audit
from merp.cosim.phases.expectation import Expectation, Pair
from merp.hdl.cnn_merp.phases import backward as module
from merp.models.base.bits import Bits
from merp.models.base.delta_shape import delta_shape
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.rates import PLAIN, Rates, UpdateRule
from merp.models.base.shape import Pool, Shape
from merp.models.base.storage import Storage, Tensor
from merp.models.golden.delta import delta_convolution
from merp.models.golden.in_memory import in_memory
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient, update
from merp.models.golden.state import keep_state, packed
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.backward_design import BackwardDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.testbenches.cnn_merp.random_layers import random_hang, random_pad, random_slope
from merp.testbenches.top.run import Run, Stuck

MOMENTUM, BOTH = UpdateRule(momentum=True), UpdateRule(momentum=True, weight_decay=True)
ROW: dict[str, Any] = {"cu_kind": "fused", "ku_kind": "row"}


def design_for(
    k: int,
    halves: tuple[int, int],
    average: bool = False,
    far: bool = False,
    leaky: bool = False,
    **chosen: Any,
) -> Any:
    common: dict[str, Any] = dict(
        k=k, r=1, kernel_words=24, groups=4, row_words=48, max_size=14, max_maps=6, max_images=3,
        max_stride=3, fifo_words=12,
    )  # fmt: skip
    update = EngineDesign(**(common | {"d": 2, "n_cu": halves[1]} | chosen))
    forward = {key: each for key, each in chosen.items() if key not in ("ku_kind", "ku_lanes", "d")}
    engine = EngineDesign(**(common | {"d": 2, "n_cu": halves[0]} | forward))
    kept = {key: getattr(engine, key) for key in ("fmt", "add_latency", "mul_latency")}
    undone = UnpoolDesign(
        window=3, overlap=2 + far, words=64, max_size=14, max_maps=8, max_images=3, average=average,
        hanging=average or far, far=far, leaky=leaky, **kept,
    )  # fmt: skip
    return BackwardDesign(engine, update, undone)


FAST: dict[str, Any] = {"mul_latency": 1, "add_latency": 2}
# Every kind of unit; CUs of either half, more and fewer than maps, one and several.
ELABORATIONS: list[tuple[BackwardDesign, UpdateRule]] = [
    (design_for(3, (2, 2), fmt=BFLOAT16, **FAST), PLAIN),
    (design_for(1, (1, 3), add_latency=1, mul_latency=1, average=True), MOMENTUM),
    (design_for(2, (3, 1), fmt=BINARY16, average=True, **FAST), BOTH),
    (design_for(2, (2, 2), **ROW, ku_lanes=3, accumulator_precision=27, **FAST), MOMENTUM),
    (design_for(3, (1, 2), cu_kind="fused", add_latency=5, mul_latency=3, average=True), PLAIN),
    (design_for(3, (4, 3), **ROW, fused_dsp=2, sided=True, add_latency=4), PLAIN),
    (design_for(4, (2, 1), fmt=FloatFormat(6, 9), sided=True, d=1, **FAST), MOMENTUM),
    (design_for(5, (1, 2), fmt=BFLOAT16, add_latency=3, mul_latency=2), PLAIN),
    (design_for(2, (2, 1), fmt=BINARY16, average=True, far=True, **FAST), MOMENTUM),
    (design_for(3, (2, 2), average=True, leaky=True, add_latency=2, mul_latency=2), PLAIN),
    (design_for(2, (1, 2), fmt=BFLOAT16, leaky=True, **FAST), PLAIN),
]


def words(rng: np.random.Generator, fmt: FloatFormat, size: tuple[int, ...], wild: bool) -> Bits:
    """Numbers of similar size and zeros of both signs; wild ones are raw bits now and then."""
    exponent = rng.integers(fmt.bias - 2, fmt.bias + 2, size)
    magnitude = exponent << fmt.frac_bits | rng.integers(0, 1 << fmt.frac_bits, size)
    magnitude[rng.random(size) < 0.1] = 0
    found = rng.integers(0, 2, size) << (fmt.width - 1) | magnitude
    if wild:
        found = np.where(rng.random(size) < 0.1, rng.integers(0, 1 << fmt.width, size), found)
    return found.astype(np.uint32)


@dataclass(frozen=True)
class Case:
    """A layer, its arrays, and the pressure on its streams."""

    design: BackwardDesign
    shape: Shape
    x: Bits
    delta: Bits
    state: Any
    old: Pair
    velocities: Pair | None
    rates: Rates
    stalls: dict[str, tuple[int, ...]]
    reset_at: int | None

    def run(self) -> Run:
        state = packed(self.state, self.shape, self.design.update.fmt)
        return backward_run(
            self.shape, self.design, self.x, self.delta, state, self.old, self.rates,
            self.velocities, self.stalls, self.reset_at,
        )  # fmt: skip

    def expected(self) -> Expectation:
        """What the two phases do one after the other, on their golden models."""
        update_design, shape = self.design.update, self.shape
        fmt, summation = update_design.fmt, update_design.summation
        sums = unpool(self.delta, self.state, shape, fmt)
        left = delta_convolution(sums, self.old[0], shape, fmt, self.design.propagation.summation)
        gradients = (
            kernel_gradient(self.x, sums, shape, fmt, summation),
            bias_gradient(sums, fmt),
        )
        past = self.velocities or tuple(np.zeros_like(each) for each in self.old)
        new = [
            update(w, v, g, self.rates, fmt)
            for w, v, g in zip(self.old, past, gradients, strict=True)
        ]

        def leaves(words: Bits, tensor: Tensor) -> Bits:
            return in_memory(words, tensor, fmt, update_design.storage)

        return expect_backward(
            shape,
            len(self.x),
            self.design,
            leaves(left, "deltas"),
            (leaves(new[0][0], "kernels"), leaves(new[1][0], "kernels")),
            (leaves(new[0][1], "gradients"), leaves(new[1][1], "gradients"))
            if self.velocities
            else None,
        )


def _shape(rng: np.random.Generator, design: BackwardDesign) -> tuple[Shape, int]:
    update_design = design.update
    while True:
        pool = None
        if rng.random() < 0.6:
            kind = "average" if design.unpool.average and rng.random() < 0.5 else "max"
            pool = Pool(kind=kind, window=int(rng.integers(1, 4)), stride=int(rng.integers(1, 4)))
            pool = random_hang(rng, pool, design.unpool.far) if design.unpool.hanging else pool
        images = int(rng.integers(1, 4))
        try:
            shape = Shape(
                n=int(rng.integers(1, 6)),
                m=int(rng.integers(1, 6)),
                k=update_design.k,
                rows=int(rng.integers(1, 8)),
                columns=int(rng.integers(1, 8)),
                stride=int(rng.integers(1, 4)),
                pad=random_pad(rng, update_design, update_design.k),
                relu=bool(rng.random() < 0.7),
                pool=pool,
            )
            check_fits(replace(shape, pool=None), images, update_design, "random case")
            check_fits(delta_shape(shape), images, design.propagation, "random case")
        except (ValueError, BadInput):
            continue
        if pool and -(-pool.window // pool.stride) > design.unpool.overlap:
            continue
        if design.unpool.leaky and rng.random() < 0.8:
            shape = replace(shape, slope=random_slope(rng, update_design.fmt))
        return shape, images


def case(seed: int, index: int, pressure: bool = True) -> Case:
    rng = np.random.default_rng([seed, index, 0xB9])
    design, rule = ELABORATIONS[index]
    shape, images = _shape(rng, design)
    return arrays_for(rng, design, rule, shape, images, pressure)


def arrays_for(
    rng: np.random.Generator,
    design: BackwardDesign,
    rule: UpdateRule,
    shape: Shape,
    images: int,
    pressure: bool,
) -> Case:
    fmt, wild = design.update.fmt, bool(rng.random() < 0.4)
    kernels, bias = (shape.m, shape.n, shape.k, shape.k), (shape.m,)
    below_one = fmt.bias - 4 << fmt.frac_bits
    factors = [below_one | int(rng.integers(1 << fmt.frac_bits)) if built else 0 for built in rule]
    top = backward_top(design, rule=rule)
    stalls = {
        stream.name: (
            *(
                int(bit)
                for bit in rng.random(int(rng.integers(3, 40))) < rng.choice([0.15, 0.5, 0.9])
            ),
            1,
        )
        for stream in top.ports.streams
        if pressure and rng.random() < 0.6
    }
    activation = words(rng, fmt, (images, shape.out_rows, shape.out_columns, shape.m), False)
    return Case(
        design=design,
        shape=shape,
        x=words(rng, fmt, (images, shape.rows, shape.columns, shape.n), wild),
        delta=words(rng, fmt, (images, shape.pooled_rows, shape.pooled_columns, shape.m), wild),
        state=keep_state(activation, shape, "pooled", fmt),
        old=(words(rng, fmt, kernels, wild), words(rng, fmt, bias, wild)),
        velocities=(words(rng, fmt, kernels, wild), words(rng, fmt, bias, wild))
        if rule.momentum
        else None,
        rates=Rates(rate=below_one | 1, momentum=factors[0], weight_decay=factors[1]),
        stalls=stalls,
        reset_at=int(rng.integers(5, 900)) if pressure and rng.random() < 0.3 else None,
    )


def play(cases: list[Case], engine: str = "myhdl", array: str = "behavioural") -> list[RunRecord]:
    """Run cases of one elaboration back to back, and audit each."""
    top = backward_top(cases[0].design, array, cases[0].rates.rule)
    job = Job(top, [each.run() for each in cases], limit=3000)
    return audited(job, engine, [each.expected() for each in cases])


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", few(range(len(ELABORATIONS)), 1, 3, 8, 9))
def test_random_layers_back_to_back(index: int) -> None:
    play([case(seed, index) for seed in range(3)])


@pytest.mark.full
@pytest.mark.parametrize("index", [3, *in_full(0, 5)])
def test_register_transfer_arrays_give_the_same_record(index: int) -> None:
    cases = [case(70, index)]
    assert_same(play(cases), play(cases, array="rtl"))


LATE: dict[str, tuple[int, ...]] = {"m_axis_delta": (*[0] * 40, 1)}
EARLY: dict[str, tuple[int, ...]] = {"m_axis_kernel": (*[0] * 6, 1)}
SHUT: dict[str, tuple[int, ...]] = {"s_axis_map": (*[0] * 30, 1), "m_axis_delta": (1, 0)}
OPEN: dict[str, tuple[int, ...]] = {"s_axis_delta": (*[0] * 30, 1), "s_axis_state": (1, 0, 0)}


def plain(index: int, seed: int, **changes: Any) -> Case:
    """A layer of full rate, large enough for both halves to run for a while."""
    rng = np.random.default_rng([seed, index])
    design, rule = ELABORATIONS[index]
    k = design.update.k
    shape = Shape(n=4, m=5, k=k, rows=6, columns=5, pad=k // 2, pool=Pool(window=2, stride=2))
    return replace(arrays_for(rng, design, rule, shape, 2, False), **changes)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "stalls", [LATE, EARLY, SHUT, OPEN], ids=["late", "early", "maps", "deltas"]
)
@pytest.mark.parametrize("index", few([0, 3], 3))
def test_either_half_may_be_the_last_and_wait_for_the_other(
    index: int, stalls: dict[str, tuple[int, ...]]
) -> None:
    stalled = plain(index, 1, stalls=stalls)
    _, record, _ = play([plain(index, 2), stalled, plain(index, 3)])
    first, last = record.outcome.first, record.outcome.last
    assert (last["m_axis_delta"] > last["m_axis_bias"]) == (stalls is LATE)
    assert min(first["s_axis_map"], first["s_axis_delta"]) > last["s_axis_kernel"]


def test_maps_that_no_window_needs_are_waited_for() -> None:
    """They are the last words of all to come: the update is over long before."""
    design, rule = ELABORATIONS[0]
    shape = Shape(n=4, m=1, k=3, rows=8, columns=8, stride=3)
    case = arrays_for(np.random.default_rng(11), design, rule, shape, 1, False)
    [record] = play([replace(case, stalls={"s_axis_map": (*[0] * 7, 1)})])
    last = record.outcome.last
    assert last["s_axis_map"] > max(last["m_axis_delta"], last["m_axis_bias"])


@pytest.mark.full
@pytest.mark.parametrize(("index", "dearest"), [(0, 1.022), (3, 1.0)])
def test_the_fork_is_as_fast_as_one_without_end(
    index: int, dearest: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Positions of a layer this small are only n * G = 8 slots long; by row nothing is lost."""
    design, rule = ELABORATIONS[index]
    k = design.update.k
    shape = Shape(n=4, m=4, k=k, rows=9, columns=9, pad=k // 2)

    def total() -> int:
        case = arrays_for(np.random.default_rng(3), design, rule, shape, 3, False)
        [record] = play([case])
        return record.outcome.status["status_total"]

    built = total()
    monkeypatch.setattr(module, "AHEAD", 2048)
    endless = total()
    assert endless <= built <= dearest * endless


STORED = Storage(maps=BINARY16, deltas=BFLOAT16, kernels=FloatFormat(8, 15), gradients=BINARY16)


@pytest.mark.parametrize("index", [1, 3])
def test_tensors_that_are_stored_in_narrower_formats(index: int) -> None:
    """Kernels are read back as they were widened; what leaves is rounded once, on all ports."""
    design, _ = ELABORATIONS[index]
    halves = {
        name: replace(getattr(design, name), storage=STORED) for name in ("propagation", "update")
    }
    kinds = {"x": "maps", "delta": "deltas", "old": "kernels", "velocities": "gradients"}

    def rounded(words: Any, tensor: Any) -> Any:
        if isinstance(words, tuple):
            return tuple(rounded(each, tensor) for each in words)
        return in_memory(words, tensor, design.update.fmt, STORED)

    plain_case = plain(index, 10)
    case = replace(
        plain_case,
        design=design._replace(**halves),
        **{name: rounded(getattr(plain_case, name), tensor) for name, tensor in kinds.items()},
    )
    play([case])


INPUTS = ("s_axis_delta", "s_axis_state", "s_axis_map", "s_axis_kernel", "s_axis_bias")


@pytest.mark.sample(1)
@pytest.mark.parametrize("spoilt", few([None, *INPUTS], None, INPUTS[0]))
def test_a_misplaced_last_is_told_and_forgotten(spoilt: str | None) -> None:
    """A word too many at the source of a stream: its last does not come with the run's."""
    first, second = plain(0, 4), plain(0, 5)
    run = first.run()
    if spoilt is not None:
        more = np.zeros(1, np.uint32)
        run = replace(run, words={**run.words, spoilt: np.append(run.words[spoilt], more)})
    records = run_job(Job(backward_top(first.design, "behavioural"), [run, second.run()]), "myhdl")
    told = [record.outcome.status["status_framing_error"] for record in records]
    assert told == [int(spoilt is not None), 0]
    for record, each in zip(records, (first, second), strict=True):
        assert audit(record, each.expected()).mismatches == 0


def test_a_half_that_waits_for_more_deltas_than_come_tells_so() -> None:
    """Its windows are of an image more than its deltas: no other block has a wrong last."""
    case = plain(0, 4)
    run = case.run()
    more = {"delta_config_images": run.config["delta_config_images"] + 1}
    job = Job(backward_top(case.design, "behavioural"), [replace(run, config=run.config | more)])
    with pytest.raises(Stuck, match="status_framing_error 1"):
        run_job(replace(job, limit=100), "myhdl")


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", [0, *in_full(1, 3)])
@pytest.mark.parametrize("reset_at", few([1, 2, 60, 400, 900], 1, 400))
def test_resets_in_every_part_of_a_pass(index: int, reset_at: int) -> None:
    """While kernels load, when the update's half begins, in mid-stream, and in the update."""
    play([replace(plain(index, 6), reset_at=reset_at), plain(index, 7)])


def test_a_wrong_counter_of_a_half_is_told() -> None:
    case = plain(0, 8)
    [record] = play([case])
    for name in ("total", "issue", "fill", "useful", "kernel_load"):
        key = f"status_propagation_{name}"
        status = {**record.outcome.status, key: record.outcome.status[key] + 1}
        spoilt = replace(record, outcome=replace(record.outcome, status=status))
        failures = audit(spoilt, case.expected()).failures
        assert failures
        assert all("propagation" in failure for failure in failures)


NARROW = {"fmt": BINARY32, "cu_kind": "fused", "operand_precision": 8, "fused_window": 18}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"map_port": 2}, "several elements a beat"),
        ({"kernel_port": 2}, "several elements a beat"),
        ({"partial": True}, "runs in parts"),
        ({"folded": True}, "for fully connected ones"),
        ({"widened": True}, "smaller kernels"),
        (NARROW, "narrow factors"),
    ],
)
def test_what_one_pass_does_not_take_is_refused_in_a_line(
    changes: dict[str, Any], said: str
) -> None:
    case = plain(0, 9)
    halves = {
        name: replace(getattr(case.design, name), **changes) for name in ("propagation", "update")
    }
    with pytest.raises(BadInput, match=said) as refused:
        replace(case, design=case.design._replace(**halves)).run()
    assert "\n" not in str(refused.value)


def test_layers_that_one_pass_does_not_take_are_refused_in_a_line() -> None:
    case = plain(0, 9)
    added = replace(case.design.propagation, added=True)
    with pytest.raises(BadInput, match="starts its deltas"):
        replace(case, design=case.design._replace(propagation=added)).run()
    connected = Shape(n=4, m=5, k=1, rows=1, columns=1)
    with pytest.raises(BadInput, match="fully connected"):
        replace(case, shape=connected).run()


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("index", [3, *in_full(0, 5, 7)])
def test_verilog_gives_the_same_record(index: int) -> None:
    cases = [case(seed, index) for seed in range(80, 86)]
    assert_same(play(cases, "verilator", "rtl"), play(cases))


@pytest.mark.verilator
@pytest.mark.parametrize("index", in_full(*range(8)))
def test_many_random_layers_in_verilog_with_arrays_in_cpp(index: int) -> None:
    many_in_verilog(play, [case(seed, index) for seed in range(90, 130)])


@pytest.mark.ghdl
@pytest.mark.parametrize("index", [3, *in_full(1, 4, 6)])
def test_vhdl_gives_the_same_record(index: int) -> None:
    cases = [case(seed, index) for seed in (80, 81)]
    assert_same(play(cases, "ghdl", "rtl"), play(cases))
