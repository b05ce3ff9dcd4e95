"""The kernel update of fully connected layers on engines of k x k kernels, beside convolutions."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from audited_runs import assert_same, many_in_verilog
from marks import in_full, rows_in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.kernel_update import (
    expect_update,
    kernel_update_run,
    kernel_update_top,
)
from merp.cosim.phases.audit.audit import audit
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fused import pair_sums
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.rates import PLAIN, Rates, UpdateRule
from merp.models.base.shape import Shape
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient, update
from merp.models.machines.cnn_merp.cycles import update_cycles
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.settings import engine_settings
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.machines.cnn_merp.update_flow import update_flow
from merp.testbenches.top.run import Run


def design(k: int, n_cu: int, **more: Any) -> EngineDesign:
    values: dict[str, Any] = dict(
        k=k, n_cu=n_cu, r=1, d=2, kernel_words=18, groups=4, row_words=40, max_size=28, max_maps=4,
        max_images=12, max_stride=3, fifo_words=4, mul_latency=1, add_latency=2, folded=True,
    )  # fmt: skip
    return EngineDesign(**(values | more))


ROW: dict[str, Any] = {"cu_kind": "fused", "ku_kind": "row"}

MOMENTUM, DECAY = UpdateRule(momentum=True), UpdateRule(weight_decay=True)
BOTH = UpdateRule(momentum=True, weight_decay=True)

# And what is built.
DESIGNS = (
    (design(2, 2, fmt=BFLOAT16, d=1, add_latency=3), DECAY),
    (design(3, 3, fmt=BINARY16, mul_latency=2), MOMENTUM),
    (design(2, 2, **ROW), DECAY),
    (design(3, 2, **ROW, ku_lanes=2, accumulator_precision=27, add_latency=4), BOTH),
    (design(3, 1, **ROW, ku_lanes=9, d=3, fused_dsp=2), PLAIN),
    (design(3, 2, **ROW), PLAIN),
    # Elements and deltas come several to a beat.
    (design(3, 4, fmt=BFLOAT16, map_port=4, max_maps=7), MOMENTUM),
    (design(3, 2, **ROW, ku_lanes=2, map_port=2), PLAIN),
    (design(5, 3, **ROW, ku_lanes=5, map_port=8, max_images=9, max_stride=5), PLAIN),
    # Kernels come several elements to a beat: reads of a kernel are one, even, and uneven.
    (design(3, 3, fmt=BFLOAT16, kernel_port=4), BOTH),
    (design(3, 2, **ROW, ku_lanes=2, kernel_port=2), PLAIN),
    (design(2, 2, fmt=BFLOAT16, kernel_port=8), MOMENTUM),
    (design(5, 2, **ROW, ku_lanes=5, kernel_port=4, max_images=9, max_stride=5), DECAY),
    (design(3, 2, **ROW, kernel_port=8, map_port=4, accumulator_precision=27), MOMENTUM),
    (design(5, 1, fmt=BFLOAT16, kernel_port=2, max_maps=7, kernel_words=28), PLAIN),
)
EVERY = range(len(DESIGNS))


@dataclass(frozen=True)
class Case:
    """A layer, its arrays, and the pressure on its streams."""

    design: EngineDesign
    shape: Shape
    x: Bits
    delta: Bits
    old: tuple[Bits, Bits]
    past: tuple[Bits, Bits]
    rates: Rates
    stalls: dict[str, tuple[int, ...]]
    reset_at: int | None
    update: bool = True

    def run(self) -> Run:
        run = kernel_update_run(
            self.shape, self.design, self.x, self.delta, self.old if self.update else None,
            self.rates, self.past if self.rates.rule.momentum and self.update else None,
        )  # fmt: skip
        return run.under(self.stalls, self.reset_at)

    def gradients(self) -> tuple[Bits, Bits]:
        fmt, summation = self.design.fmt, self.design.summation
        found = kernel_gradient(self.x, self.delta, self.shape, fmt, summation)
        return found, bias_gradient(self.delta, fmt)

    def check(self, record: RunRecord) -> None:
        """Bits, and words counted four ways; of a run of gradients the bits alone."""
        if not self.update:
            for name, golden in zip(("kernel", "bias"), self.gradients(), strict=True):
                assert record.words(f"m_axis_{name}").tolist() == golden.reshape(-1).tolist()
            return
        with_momentum = self.rates.rule.momentum
        past = self.past if with_momentum else [np.zeros_like(each) for each in self.old]
        new = [
            update(w, v, g, self.rates, self.design.fmt)
            for w, v, g in zip(self.old, past, self.gradients(), strict=True)
        ]
        velocities = (new[0][1], new[1][1]) if with_momentum else None
        expected = expect_update(
            self.shape, len(self.x), self.design, new[0][0], new[1][0], velocities
        )
        found = audit(record, expected)
        assert found.passed, f"{self.shape}: {found.failures}"
        assert found.bit_exact


def words(rng: np.random.Generator, fmt: FloatFormat, wild: bool, *size: int) -> Bits:
    """Numbers of similar size; wild ones are raw bits now and then."""
    exponent = rng.integers(fmt.bias - 2, fmt.bias + 2, size)
    found = rng.integers(0, 2, size) << (fmt.width - 1) | exponent << fmt.frac_bits
    found |= rng.integers(0, 1 << fmt.frac_bits, size)
    raw = rng.integers(0, 1 << fmt.width, size)
    return np.where(rng.random(size) < 0.1 * wild, raw, found).astype(np.uint32)


def make(seed: int, index: int, shape: Shape, images: int, wild: bool = False) -> Case:
    rng = np.random.default_rng([seed, index])
    which, rule = DESIGNS[index]
    fmt = which.fmt
    sizes = (shape.m, shape.n, shape.k, shape.k), (shape.m,)
    small = fmt.bias - 4 << fmt.frac_bits | 1
    return Case(
        which,
        shape,
        words(rng, fmt, wild, images, shape.rows, shape.columns, shape.n),
        words(rng, fmt, wild, images, shape.out_rows, shape.out_columns, shape.m),
        (words(rng, fmt, wild, *sizes[0]), words(rng, fmt, wild, *sizes[1])),
        (words(rng, fmt, wild, *sizes[0]), words(rng, fmt, wild, *sizes[1])),
        Rates(
            rate=small,
            momentum=small + 5 if rule.momentum else 0,
            weight_decay=small + 9 if rule.weight_decay else 0,
        ),
        {},
        None,
    )


def connected(n: int, m: int) -> Shape:
    return Shape(n=n, m=m, k=1, rows=1, columns=1)


def pattern(rng: np.random.Generator) -> tuple[int, ...]:
    density = rng.choice([0.15, 0.5, 0.9])
    return (*(int(bit) for bit in rng.random(int(rng.integers(3, 40))) < density), 1)


def case(seed: int, index: int, folded: bool = True, pressure: bool = True) -> Case:
    """A random layer, fully connected or not, under random pressure."""
    rng = np.random.default_rng([seed, index, 0xF01D])
    which, rule = DESIGNS[index]
    while True:
        if folded:
            maps = int(rng.integers(1, which.max_maps * which.taps + 1))
            shape = connected(maps, int(rng.integers(1, which.n_cu * which.groups + 1)))
            images = int(rng.integers(1, which.max_images + 1))
        else:
            shape = Shape(
                n=int(rng.integers(1, 4)), m=int(rng.integers(1, 5)), k=which.k,
                rows=int(rng.integers(which.k, 6)), columns=int(rng.integers(which.k, 6)),
                stride=int(rng.integers(1, 3)), pad=int(rng.integers(0, which.k)),
            )  # fmt: skip
            images = int(rng.integers(1, 3))
        try:
            check_fits(shape, images, which, "random case")
            break
        except BadInput:
            continue
    one = make(seed, index, shape, images, bool(rng.random() < 0.4))
    one = replace(one, update=bool(rng.random() < 0.8))
    if not pressure:
        return one
    streams = kernel_update_top(which, rule=rule).ports.streams
    stalls = {stream.name: pattern(rng) for stream in streams if rng.random() < 0.6}
    reset_at = int(rng.integers(5, 600)) if rng.random() < 0.3 else None
    return replace(one, stalls=stalls, reset_at=reset_at)


def mixed(seed: int, index: int) -> list[Case]:
    """Fully connected layers, and a convolution between them."""
    return [case(seed + i, index, folded=i != 1) for i in range(4)]


def run(cases: list[Case], engine: str = "myhdl", array: str = "behavioural") -> list[RunRecord]:
    """Run cases of one elaboration back to back, and check each."""
    top = kernel_update_top(cases[0].design, array, cases[0].rates.rule)
    records = run_job(Job(top, [each.run() for each in cases], limit=3000), engine)
    for each, record in zip(cases, records, strict=True):
        each.check(record)
    return records


@pytest.mark.sample(2)
@pytest.mark.parametrize("index", [2, 7, 9, 10, *in_full(0, 1, 3, 4, 5, 6, 8, *range(11, 15))])
def test_random_layers_back_to_back(index: int) -> None:
    run(mixed(0, index))


@pytest.mark.parametrize(
    ("index", "seeds"),
    [(3, 2), (10, 4), *rows_in_full(*((index, 8) for index in EVERY))],
)
def test_cycles_are_those_of_the_model(index: int, seeds: int) -> None:
    for seed in range(seeds):
        one = replace(case(200 + seed, index, pressure=False), update=True)
        [record] = run([one])
        flow = update_flow(one.shape, len(one.x), one.design, one.rates.rule)
        status = record.outcome.status
        counted = {
            name: status[f"status_{name}"]
            for name in ("fill", "issue", "stall_input", "stall_hazard", "drain")
        }
        assert counted == vars(flow), (one.shape, len(one.x))
        if one.rates.rule == PLAIN:
            assert update_cycles(one.shape, len(one.x), one.design).total == flow.total


@pytest.mark.parametrize("index", [0, 9, *in_full(2, 3, 5, *range(10, 15))])
def test_taps_that_no_element_fills_are_neither_read_nor_written(index: int) -> None:
    """One element more and one less than a map has, and fewer than one map."""
    which = DESIGNS[index][0]
    taps = which.taps
    run([make(31, index, connected(n, 3), 2) for n in (taps + 1, 2 * taps - 1, taps, 1)])


@pytest.mark.parametrize(("index", "images"), [(2, 9), *rows_in_full((3, 11), (5, 10), (4, 3))])
def test_the_first_row_of_images_may_be_shorter(index: int, images: int) -> None:
    """Its sums are still being added up while the next row comes."""
    which = DESIGNS[index][0]
    assert images % which.image_columns != 0 or which.image_columns == 1
    one = make(32, index, connected(2 * which.taps - 1, 3), images)
    late = {"s_axis_map": (0, 0, 1), "s_axis_delta": (0, 1, 0, 0, 1)}
    run([one, replace(one, stalls=late), replace(one, update=False)])


def test_one_row_of_a_single_image() -> None:
    for index in (2, 3):
        run([make(33, index, connected(7, 5), 1)])


@pytest.mark.parametrize("index", [1, 3])
def test_a_stride_over_a_single_position_skips_no_image(index: int) -> None:
    run([make(35, index, replace(connected(7, 5), stride=2), 3)])


@pytest.mark.parametrize("index", [3, *in_full(0, 9, 10)])
def test_a_run_that_a_reset_broke_off_leaves_nothing_behind(index: int) -> None:
    """Elements, deltas, gradients, and the places of all counters, the update's among them."""
    which = DESIGNS[index][0]
    long = make(34, index, connected(2 * which.taps + 1, 5), 7)
    short = make(35, index, connected(which.taps + 2, 4), 6)
    flow = update_flow(long.shape, 7, which, long.rates.rule)
    for at in (30, flow.fill + 20, flow.total - flow.drain // 2):
        run([replace(long, reset_at=at), short])


def test_a_reset_in_the_middle_of_a_kernel_does_not_move_the_next_ones_end() -> None:
    """A single map of three elements: nothing but the reset can set the count of its taps back."""
    few = make(41, 1, connected(3, 6), 2)
    flow = update_flow(few.shape, 2, few.design, few.rates.rule)
    middle = flow.total - flow.drain // 2
    run([replace(few, reset_at=middle + cycle) for cycle in range(3)])


def test_elements_of_the_run_before_are_not_seen() -> None:
    """Not a number lies in the banks and gradients where the next run has fewer of everything."""
    for index in (0, 2):
        which, fmt = DESIGNS[index][0], DESIGNS[index][0].fmt
        dirty = make(36, index, connected(4 * which.taps, 4), 9)
        dirty = replace(dirty, x=np.full_like(dirty.x, fmt.nan))
        clean = make(37, index, connected(which.taps + 1, 3), 5)
        found = run([dirty, clean])[1]
        assert fmt.nan not in found.words("m_axis_kernel")


def test_images_of_a_row_are_summed_before_they_are_rounded() -> None:
    """2^24 + 1 rounds to 2^24, but not where two ones of one row are added to it at once."""
    which = DESIGNS[2][0]
    big, one = 0x4B800000, BINARY32.one
    shape = connected(1, 1)
    delta = np.full((6, 1, 1, 1), one, np.uint32)
    x = np.array([big, 0, 0, one, one, 0], np.uint32).reshape(6, 1, 1, 1)
    assert which.image_columns == 4
    by_row = kernel_gradient(x, delta, shape, BINARY32, which.summation)
    by_image = kernel_gradient(x, delta, shape, BINARY32, replace(which.summation, ku_images=1))
    assert (by_row.item(), by_image.item()) == (big + 1, big)
    case = replace(make(38, 2, shape, 6), x=x, delta=delta, update=False)
    run([case])


def test_zeros_fill_up_the_first_row_without_a_trace() -> None:
    """The golden model fills it up; a row that is summed alone gives the same bits."""
    which = DESIGNS[3][0]
    one = make(39, 3, connected(12, 4), 7, wild=True)
    columns, summation = which.image_columns, which.summation
    whole = kernel_gradient(one.x, one.delta, one.shape, BINARY32, summation)
    total = np.zeros_like(whole)
    wide = summation.accumulator_format(BINARY32)
    for high in range(7 % columns, 8, columns):
        images = slice(max(0, high - columns), high)
        x, delta = one.x[images], one.delta[images]
        rows = x.reshape(len(x), -1).T, delta.reshape(len(x), -1).T
        total = fp_add(total, pair_sums(*rows, summation).reshape(whole.shape), wide)
    assert fp_convert(total, wide, BINARY32).tolist() == whole.tolist()


@pytest.mark.parametrize("stream", ["s_axis_map", *in_full("s_axis_delta", "s_axis_kernel")])
def test_a_misplaced_last_is_told_and_forgotten(stream: str) -> None:
    one = make(40, 3, connected(10, 3), 6)
    good = one.run()
    long = replace(good, words={**good.words, stream: np.append(good.words[stream], 0)})
    top = kernel_update_top(one.design, "behavioural", one.rates.rule)
    records = run_job(Job(top, [long, good], limit=3000), "myhdl")
    assert records[0].outcome.status["status_framing_error"] == 1
    one.check(records[1])


@pytest.mark.full  # those in VHDL and Verilog compare the same
@pytest.mark.parametrize("index", [1, 3, 6, 9, 13])
def test_register_transfer_array_gives_the_same_record(index: int) -> None:
    cases = mixed(70, index)[2:]
    assert_same(run(cases), run(cases, array="rtl"))


@pytest.mark.ghdl
@pytest.mark.parametrize("index", in_full(1, 2, 4, 6, 8, 9, 13))
def test_vhdl_gives_the_same_record(index: int) -> None:
    cases = mixed(80, index)
    assert_same(run(cases, "ghdl", "rtl"), run(cases))


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("index", [0, *in_full(3, 7, 10, 11, 12, 14)])
def test_verilog_gives_the_same_record(index: int) -> None:
    cases = mixed(90, index)
    assert_same(run(cases, "verilator", "rtl"), run(cases))


@pytest.mark.verilator
@pytest.mark.parametrize("index", in_full(*EVERY))
def test_many_random_layers_in_verilog_with_arrays_in_cpp(index: int) -> None:
    some = [mixed(1000 + 10 * seed, index) for seed in range(25)]
    many_in_verilog(run, [case for each in some for case in each])


def test_every_register_of_a_run_is_within_its_range() -> None:
    for seed in range(40):
        for index in (1, 2, 3, 4):
            one = case(300 + seed, index, folded=seed % 3 != 0, pressure=False)
            settings = engine_settings(one.design)
            for name, value in one.run().config.items():
                assert settings[name].least <= value <= settings[name].most, (name, one.shape)
