"""The kernel update against golden, counts and itself, over random layers and all engines."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from layer_kinds import KINDS, many

from audited_runs import assert_same, many_in_verilog
from marks import few, in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.kernel_update import (
    PORTS,
    Bits,
    kernel_update_run,
    kernel_update_top,
)
from merp.hdl.conversion.convert import convert
from merp.models.base.errors import BadInput
from merp.models.base.folded_shape import folds
from merp.models.base.formats import BFLOAT16, BINARY16, FloatFormat
from merp.models.base.rates import PLAIN, Rates, UpdateRule
from merp.models.base.shape import Shape
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient, update
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import revisit_cycles
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.testbenches.cnn_merp.random_layers import random_kernel, random_pad
from merp.testbenches.top.run import Run

CAUSES = ("issue", "fill", "drain", "stall_input", "stall_output", "stall_hazard")
OUTPUTS = ("kernel", "bias", "kernel_velocity", "bias_velocity")


def design_for(k: int, n_cu: int, **changes: Any) -> EngineDesign:
    values: dict[str, Any] = dict(
        k=k, n_cu=n_cu, r=1, d=2, kernel_words=12, groups=4, row_words=24, max_size=8, max_maps=4,
        max_images=3, max_stride=3, fifo_words=4,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


ROW: dict[str, Any] = {"cu_kind": "fused", "ku_kind": "row"}
WIDE: dict[str, Any] = {"max_maps": 10, "kernel_words": 40, "row_words": 12}

MOMENTUM, DECAY = UpdateRule(momentum=True), UpdateRule(weight_decay=True)
BOTH = UpdateRule(momentum=True, weight_decay=True)

# Every k, every latency, one CU and several; and what is built.
ELABORATIONS = [
    (design_for(1, 1, fmt=BFLOAT16, mul_latency=1, add_latency=1), PLAIN),
    (design_for(1, 3, mul_latency=3, add_latency=5), MOMENTUM),
    (design_for(2, 2, d=1, fmt=BINARY16, mul_latency=2, add_latency=3), MOMENTUM),
    (design_for(3, 2, mul_latency=3, add_latency=4), PLAIN),
    (design_for(3, 4, fmt=FloatFormat(6, 9), mul_latency=2, add_latency=2), BOTH),
    (
        design_for(2, 2, **ROW, fused_dsp=2, ku_lanes=3, accumulator_precision=27, mul_latency=2),
        MOMENTUM,
    ),
    (design_for(3, 3, **ROW, d=1, fused_window=28, add_latency=5), DECAY),
    (design_for(1, 1, **ROW, mul_latency=1, add_latency=1), PLAIN),
    (design_for(3, 3, fmt=BFLOAT16, mul_latency=1, add_latency=2, kernel_port=4), BOTH),
    (
        design_for(3, 2, **ROW, ku_lanes=2, accumulator_precision=26, add_latency=2, kernel_port=8),
        MOMENTUM,
    ),
    (design_for(2, 2, **ROW, mul_latency=1, add_latency=1, kernel_port=8), DECAY),
    (design_for(5, 2, fmt=BFLOAT16, mul_latency=1, add_latency=1, kernel_port=8), PLAIN),
    (design_for(1, 3, **ROW, mul_latency=1, add_latency=1, kernel_port=2), MOMENTUM),
    (design_for(3, 2, sided=True, fmt=BFLOAT16, mul_latency=1, add_latency=2, kernel_port=2), BOTH),
    (design_for(4, 2, **ROW, sided=True, ku_lanes=3, mul_latency=1, add_latency=1), PLAIN),
    (design_for(3, 2, widened=True, fmt=BFLOAT16, mul_latency=1, add_latency=2), BOTH),
    (design_for(4, 3, widened=True, sided=True, folded=True, fmt=BFLOAT16), PLAIN),
    (design_for(4, 2, **ROW, widened=True, ku_lanes=3, mul_latency=1, add_latency=1), MOMENTUM),
    (design_for(3, 1, **ROW, widened=True, sided=True, folded=True, ku_lanes=2), DECAY),
    # Maps and deltas come several to a beat: n_cu is no beat, a part of one, one, and several.
    (design_for(3, 3, **WIDE, fmt=BFLOAT16, mul_latency=1, add_latency=2, map_port=4), MOMENTUM),
    (design_for(2, 4, **WIDE, **ROW, ku_lanes=3, add_latency=2, map_port=2, kernel_port=4), DECAY),
    (design_for(3, 4, **WIDE, d=1, fmt=BFLOAT16, mul_latency=1, add_latency=3, map_port=4), PLAIN),
    (design_for(1, 2, **WIDE, **ROW, mul_latency=1, add_latency=1, map_port=8), MOMENTUM),
    # Smaller kernels, several elements of them to a beat.
    (
        design_for(3, 2, widened=True, fmt=BFLOAT16, mul_latency=1, add_latency=2, kernel_port=4),
        BOTH,
    ),
    (design_for(4, 2, **ROW, widened=True, ku_lanes=3, mul_latency=1, kernel_port=8), MOMENTUM),
    (design_for(4, 3, widened=True, sided=True, folded=True, fmt=BFLOAT16, kernel_port=2), PLAIN),
    (design_for(3, 1, **ROW, widened=True, folded=True, ku_lanes=9, kernel_port=2), PLAIN),
    (design_for(5, 2, widened=True, fmt=BFLOAT16, mul_latency=1, kernel_port=8), PLAIN),
]


def words(rng: np.random.Generator, fmt: FloatFormat, size: tuple[int, ...], wild: bool) -> Bits:
    """Numbers of similar size; wild ones are raw bits now and then."""
    exponent = rng.integers(fmt.bias - 2, fmt.bias + 2, size)
    sign = rng.integers(0, 2, size) << (fmt.width - 1)
    found = sign | exponent << fmt.frac_bits | rng.integers(0, 1 << fmt.frac_bits, size)
    if wild:
        found = np.where(rng.random(size) < 0.1, rng.integers(0, 1 << fmt.width, size), found)
    return found.astype(np.uint32)


@dataclass(frozen=True)
class Case:
    """A layer, its arrays, and the pressure on its streams."""

    design: EngineDesign
    shape: Shape
    x: Bits
    delta: Bits
    kernels: Bits
    bias: Bits
    velocities: tuple[Bits, Bits]
    rates: Rates
    update: bool = True
    stalls: dict[str, tuple[int, ...]] | None = None
    reset_at: int | None = None

    def run(self) -> Run:
        return kernel_update_run(
            self.shape, self.design, self.x, self.delta,
            (self.kernels, self.bias) if self.update else None,
            self.rates, self.velocities if self.update and self.rates.rule.momentum else None,
        ).under(self.stalls, self.reset_at)  # fmt: skip

    def golden(self) -> dict[str, Bits]:
        fmt, shape = self.design.fmt, self.shape
        gradients = (
            kernel_gradient(self.x, self.delta, shape, fmt, self.design.summation),
            bias_gradient(self.delta, fmt),
        )
        if not self.update:
            return dict(zip(OUTPUTS, gradients, strict=False))
        past = self.velocities
        if not self.rates.rule.momentum:
            past = (np.zeros_like(self.kernels), np.zeros_like(self.bias))
        new = [
            update(old, v, g, self.rates, fmt)
            for old, v, g in zip((self.kernels, self.bias), past, gradients, strict=True)
        ]
        found = [new[0][0], new[1][0], new[0][1], new[1][1]]
        return dict(zip(OUTPUTS, found[: 4 if self.rates.rule.momentum else 2], strict=False))

    def check(self, record: RunRecord) -> None:
        golden = self.golden()
        silent = [
            name for name in OUTPUTS if f"m_axis_{name}" in record.outcome.words.keys() - golden
        ]
        for name in OUTPUTS:
            stream = f"m_axis_{name}"
            if stream in record.outcome.words:
                wanted = golden[name].reshape(-1).tolist() if name in golden else []
                assert record.words(stream).tolist() == wanted, name
        # A stream that carries nothing has no last word to end with.
        faults = [
            fault
            for fault in record.outcome.faults
            if not any(fault.startswith(f"m_axis_{name}: last must") for name in silent)
            or record.outcome.transfers[fault.split(":")[0]]
        ]
        assert faults == []
        self.check_counts(record)

    def check_counts(self, record: RunRecord) -> None:
        shape, status = self.shape, record.outcome.status
        positions = len(self.x) * shape.out_rows * shape.out_columns
        kernels = shape.m * shape.n * shape.k**2
        wanted = {
            "map_in": self.x.size, "delta_in": positions * shape.m,
            "kernel": kernels * self.update, "kernel_out": kernels,
            "bias": shape.m * self.update, "bias_out": shape.m,
        }  # fmt: skip
        if self.rates.rule.momentum:
            wanted |= {
                f"{what}_velocity_{way}": size * self.update
                for what, size in (("kernel", kernels), ("bias", shape.m))
                for way in ("in", "out")
            }
        ports = {port: PORTS[port] for port in wanted}
        assert {port: status[f"status_{port}"] for port in ports} == wanted
        assert {port: record.outcome.transfers[stream] for port, stream in ports.items()} == wanted
        groups = -(-shape.m // self.design.n_cu)
        assert status["status_issue"] == positions * shape.n * groups
        assert status["status_useful"] == positions * shape.n * shape.m
        assert status["status_total"] == sum(status[f"status_{cause}"] for cause in CAUSES)
        last = max(record.outcome.last[stream] for stream in ports.values() if stream[0] == "m")
        assert status["status_total"] == last - record.outcome.first["s_axis_map"] + 1
        assert (status["status_framing_error"], status["status_kernel_load"]) == (0, 0)


def make(
    rng: np.random.Generator, elaboration: int, shape: Shape, images: int, **changes: Any
) -> Case:
    design, rule = ELABORATIONS[elaboration]
    fmt, wild = design.fmt, bool(rng.random() < 0.4)
    sizes = {
        "x": (images, shape.rows, shape.columns, shape.n),
        "delta": (images, shape.out_rows, shape.out_columns, shape.m),
        "kernels": (shape.m, shape.n, shape.k, shape.k),
        "bias": (shape.m,),
    }
    arrays = {name: words(rng, fmt, size, wild) for name, size in sizes.items()}
    velocities = (words(rng, fmt, sizes["kernels"], wild), words(rng, fmt, sizes["bias"], wild))
    below_one = fmt.bias - 4 << fmt.frac_bits
    factors = [below_one | int(rng.integers(1 << fmt.frac_bits)) if built else 0 for built in rule]
    rates = Rates(rate=below_one | 1, momentum=factors[0], weight_decay=factors[1])
    return Case(
        design, shape, **arrays, velocities=velocities, rates=rates, **changes,
    )  # fmt: skip


def pattern(rng: np.random.Generator) -> tuple[int, ...]:
    density = rng.choice([0.15, 0.5, 0.9])
    return (*(int(bit) for bit in rng.random(int(rng.integers(3, 40))) < density), 1)


def random_case(seed: int, elaboration: int, pressure: bool = True) -> Case:
    rng = np.random.default_rng([seed, elaboration])
    design, _ = ELABORATIONS[elaboration]
    while True:
        images = int(rng.integers(1, 3))
        try:
            shape = Shape(
                n=int(rng.integers(1, 4 if design.map_port == 1 else design.max_maps + 1)),
                m=int(rng.integers(1, design.n_cu * design.groups + 1)),
                k=(k := random_kernel(rng, design)),
                rows=int(rng.integers(1, 7)),
                columns=int(rng.integers(1, 7)),
                stride=int(rng.integers(1, 4)),
                pad=random_pad(rng, design, k),
            )
            check_fits(shape, images, design, "random case")
            if not folds(shape, design.k):
                break
        except (ValueError, BadInput):
            continue
    case = make(rng, elaboration, shape, images, update=bool(rng.random() < 0.75))
    if not pressure:
        return case
    streams = kernel_update_top(design, rule=case.rates.rule).ports.streams
    stalls = {stream.name: pattern(rng) for stream in streams if rng.random() < 0.7}
    reset_at = int(rng.integers(5, 600)) if rng.random() < 0.3 else None
    return replace(case, stalls=stalls, reset_at=reset_at)


def play(cases: list[Case], engine: str, array: str = "behavioural") -> list[RunRecord]:
    """Run cases of one elaboration back to back, and check each."""
    top = kernel_update_top(cases[0].design, array, cases[0].rates.rule)
    records = run_job(Job(top, [case.run() for case in cases], limit=2000), engine)
    for case, record in zip(cases, records, strict=True):
        case.check(record)
    return records


@pytest.mark.sample(1)
@pytest.mark.parametrize("elaboration", few(range(len(ELABORATIONS)), 1, 4, 9, 12, 16, 25))
def test_random_layers_back_to_back(elaboration: int) -> None:
    play([random_case(seed, elaboration, seed % 3 != 0) for seed in range(8)], "myhdl")


def test_a_reset_in_the_middle_of_a_smaller_kernel_leaves_nothing() -> None:
    """In every cycle in which elements are listed, or taps without one are passed over."""
    case = make(np.random.default_rng(8), 15, Shape(n=1, m=2, k=2, rows=3, columns=3), 1)
    [record] = play([case], "myhdl")
    end = record.outcome.last["m_axis_bias"]
    play([replace(case, reset_at=end - back) for back in range(1, 30)], "myhdl")


@pytest.mark.parametrize("elaboration", [1, 12])
def test_gradients_leave_no_words_for_the_next_run(elaboration: int) -> None:
    """A run of gradients ends before its words would have passed the other exit."""
    rng = np.random.default_rng(4)
    case = make(rng, elaboration, Shape(n=1, m=9, k=1, rows=2, columns=2), 1)
    play([replace(case, update=False), case, replace(case, update=False), case], "myhdl")


@pytest.mark.sample(1)
@pytest.mark.parametrize("elaboration", few(range(19), 2, 8))
def test_register_transfer_array_gives_the_same_record(elaboration: int) -> None:
    cases = [random_case(20, elaboration)]
    assert_same(play(cases, "myhdl"), play(cases, "myhdl", "rtl"))


@pytest.mark.parametrize("m", [1, 2, 5, *in_full(4, 8)])
def test_rest_after_each_position(m: int) -> None:
    """Maps are early, so every stall is the rest that the revisit needs, and no more.

    A delta may come as late as the rest ends; those cycles are named after the delta.
    """
    rng = np.random.default_rng(m)
    shape = Shape(n=3, m=m, k=3, rows=5, columns=1, pad=1)
    case = make(rng, 3, shape, 1)
    case = replace(case, design=replace(case.design, d=3))
    [record] = play([case], "myhdl")
    slots = shape.n * -(-m // case.design.n_cu)
    idle = max(0, revisit_cycles(case.design) - slots)
    hazard = record.outcome.status["status_stall_hazard"]
    assert hazard + record.outcome.status["status_stall_input"] == idle * (shape.out_rows - 1)
    assert (hazard > 0) == (idle > 0)


def test_waiting_for_deltas_is_an_input_stall() -> None:
    rng = np.random.default_rng(5)
    case = make(rng, 3, Shape(n=1, m=2, k=3, rows=4, columns=4, pad=1), 1)
    late = replace(case, stalls={"s_axis_delta": (*[0] * 39, 1)})
    at_once, waiting = play([case, late], "myhdl")
    gap = (
        waiting.outcome.status["status_stall_input"] - at_once.outcome.status["status_stall_input"]
    )
    assert gap > 14 * (2 * 40 - 10)


def test_deltas_arrive_while_the_position_before_is_in_use() -> None:
    """As many delta words as slots in a position: the buffer must not cost a cycle."""
    rng = np.random.default_rng(6)
    design = design_for(3, 2, kernel_words=12, groups=4, max_maps=4, d=3, add_latency=1)
    shape = Shape(n=3, m=8, k=3, rows=6, columns=6, pad=1)
    case = replace(make(rng, 3, shape, 2), design=design)
    [record] = play([case], "myhdl")
    stalls = [
        record.outcome.status[f"status_stall_{each}"] for each in ("input", "output", "hazard")
    ]
    assert stalls == [0, 0, 0]


@pytest.mark.parametrize("momentum", [False, True])
def test_an_element_per_cycle_leaves(momentum: bool) -> None:
    rng = np.random.default_rng(7)
    case = make(rng, 1 if momentum else 0, Shape(n=3, m=3, k=1, rows=2, columns=2), 1)
    case = replace(case, design=replace(case.design, kernel_words=12))
    [record] = play([case], "myhdl")
    streams = ["m_axis_kernel", *(["m_axis_kernel_velocity"] if momentum else [])]
    for stream in streams:
        assert record.outcome.last[stream] - record.outcome.first[stream] + 1 == case.kernels.size
        bias = stream.replace("kernel", "bias")
        assert record.outcome.first[bias] == record.outcome.last[stream] + 1


def test_last_word_may_leave_by_either_stream() -> None:
    """total ends with whichever of biases and their velocities comes last."""
    rng = np.random.default_rng(8)
    case = make(rng, 1, Shape(n=1, m=4, k=1, rows=2, columns=2), 1)
    slow = ("m_axis_bias", "m_axis_bias_velocity")
    play([replace(case, stalls={stream: (*[0] * 29, 1)}) for stream in slow], "myhdl")


@pytest.mark.parametrize("stream", ["s_axis_delta", "s_axis_kernel", "s_axis_bias_velocity"])
def test_misplaced_last_is_told(stream: str) -> None:
    """A word too many at the source: last does not come with the word that ends the run."""
    rng = np.random.default_rng(9)
    case = make(rng, 1, Shape(n=1, m=2, k=1, rows=2, columns=2), 1)
    run = case.run()
    run = replace(run, words={**run.words, stream: np.append(run.words[stream], 0)})
    top = kernel_update_top(case.design, "behavioural", case.rates.rule)
    spoilt, good = run_job(Job(top, [run, case.run()], limit=2000), "myhdl")
    assert spoilt.outcome.status["status_framing_error"] == 1
    case.check(good)


def test_positions_cannot_be_interleaved() -> None:
    top = kernel_update_top(design_for(1, 1, p=2))
    with pytest.raises(ValueError, match="p = 1"):
        convert(top.function, top.args, "vhdl", None)  # type: ignore[arg-type]


@pytest.mark.ghdl
@pytest.mark.parametrize("elaboration", few([0, 2, 4, 5, 6, 9, 14, 15, 18, 20, 22, 25, 27], 15))
def test_vhdl_gives_the_same_record(elaboration: int) -> None:
    cases = [random_case(seed, elaboration) for seed in (30, 31)]
    assert_same(play(cases, "ghdl", "rtl"), play(cases, "myhdl"))


@pytest.mark.verilator
@pytest.mark.parametrize("elaboration", in_full(0, 2, 4, 5, 6, 9, 14, 17, 20, 25, 27))
def test_verilog_gives_the_same_record(elaboration: int) -> None:
    cases = [random_case(seed, elaboration) for seed in range(40, 44)]
    assert_same(play(cases, "verilator", "rtl"), play(cases, "myhdl"))


@pytest.mark.verilator
@pytest.mark.parametrize("elaboration", few(range(28), 0))
def test_many_random_layers_in_verilog_with_arrays_in_cpp(elaboration: int) -> None:
    many_in_verilog(play, [random_case(seed, elaboration) for seed in range(50, 110)])


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("name", KINDS)
def test_many_layers_of_each_kind(name: str) -> None:
    of, built = KINDS[name]
    places = [place for place, (design, _) in enumerate(ELABORATIONS) if built(design)]

    def is_one(seed: int, place: int) -> bool:
        return of(random_case(seed, place, False).shape, ELABORATIONS[place][0].k)

    for place, seeds in many(is_one, places):
        play([random_case(seed, place) for seed in seeds], "verilator")
