"""The CU array against the golden arithmetic, and its behavioural twin against it, per cycle."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import pytest

from block_bench import Replays
from cpp_twins import either, in_cpp
from marks import few, in_full
from merp.hdl.cnn_merp.behavioural.cu_array import cu_array_fast
from merp.hdl.cnn_merp.cu_array.cu_array import cu_array
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.fp_tree import fp_tree
from merp.models.arithmetic.fused import fused_sum
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.block.trace import Trace
from merp.testbenches.cnn_merp.cu_bench import (
    CuScript,
    element,
    elements,
    finished_sums,
    joined,
    run_cu_array,
)

every_array = pytest.mark.parametrize("array", either(cu_array))
ODD = FloatFormat(4, 3)


def design_for(k: int, n_cu: int, **changes: Any) -> EngineDesign:
    values: dict[str, Any] = dict(
        k=k, n_cu=n_cu, r=1, p=1, kernel_words=6, groups=3, row_words=4, max_size=8, max_maps=8,
        fifo_words=4, mul_latency=1, add_latency=1,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


# k, n_cu, groups, p, format, mul_latency, add_latency: every k, every latency, one group and many.
CONFIGURATIONS = [
    design_for(1, 4, groups=1, mul_latency=1, add_latency=1),
    design_for(1, 1, groups=5, p=2, mul_latency=3, add_latency=5, kernel_words=15, fifo_words=5),
    design_for(2, 3, groups=2, p=2, fmt=BFLOAT16, mul_latency=2, add_latency=3),
    design_for(2, 1, groups=3, fmt=ODD, mul_latency=3, add_latency=2),
    design_for(3, 2, groups=3, mul_latency=3, add_latency=4),
    design_for(3, 3, groups=1, p=2, fmt=BINARY16, mul_latency=1, add_latency=2, kernel_words=3),
    design_for(4, 1, groups=2, fmt=BFLOAT16, mul_latency=2, add_latency=1),
    design_for(5, 1, groups=2, p=2, mul_latency=3, add_latency=4),
    design_for(1, 2, groups=1, cu_kind="fused", fused_dsp=2),
    design_for(2, 2, groups=2, cu_kind="fused", fused_window=29, add_latency=3),
    design_for(3, 1, groups=2, p=2, cu_kind="fused", fused_dsp=2, fused_window=28),
    design_for(5, 1, groups=2, cu_kind="fused", add_latency=4),
    design_for(2, 3, groups=2, cu_kind="fused", accumulator_precision=28, add_latency=4),
    design_for(3, 1, groups=1, p=2, cu_kind="fused", fused_dsp=2, accumulator_precision=25),
]


def name(design: EngineDesign) -> str:
    return (
        f"k{design.k}-{design.n_cu}cu-{design.groups}g-p{design.p}-"
        f"e{design.fmt.exp_bits}f{design.fmt.frac_bits}-{design.mul_latency}{design.add_latency}"
        + (f"-fused{design.fused_dsp}w{design.fused_window}" if design.cu_kind == "fused" else "")
        + (f"p{design.accumulator_precision}" if design.round_latency else "")
    )


every_design = pytest.mark.parametrize(
    "design", few(CONFIGURATIONS, *CONFIGURATIONS[::2]), ids=name
)


def sum_of_products(design: EngineDesign, window: list[int], kernels: list[list[int]]) -> Any:
    """Golden sum of every kernel's products, as the design's CUs have it."""
    if design.cu_kind == "fused":
        return fused_sum(window, kernels, design.summation)
    return fp_tree(fp_mul(window, kernels, design.fmt), design.fmt)


class Layer:
    """A run as the sequencer issues it, and the sums that the golden arithmetic expects."""

    def __init__(
        self, design: EngineDesign, n: int, positions: int, rng: Random, stalls: float
    ) -> None:
        self.script = CuScript(design, rng)
        fmt, taps, groups = design.fmt, design.taps, design.groups
        wide = design.accumulator_format
        assert n * groups <= design.kernel_words
        kernels = [
            [elements(taps, fmt, rng) for _ in range(n * groups)] for _ in range(design.n_cu)
        ]
        biases = [elements(groups, fmt, rng) for _ in range(design.n_cu)]
        self.script.reset()
        self.script.load(kernels, biases)
        self.expected: list[tuple[int, int]] = []
        used: dict[int, int] = {}
        for begin in range(0, positions, design.p):
            lanes = range(min(design.p, positions - begin))
            windows = [[elements(taps, fmt, rng) for _ in range(n)] for _ in lanes]
            partial: dict[tuple[int, int], Any] = {}
            for i, lane, g in product(range(n), lanes, range(groups)):
                window, acc_addr = windows[lane][i], lane * groups + g
                if rng.random() < stalls:
                    self.script.idle(rng.randrange(1, 4))
                wait = used.get(acc_addr, -99) + design.accumulate_latency
                self.script.idle(max(0, wait - len(self.script.cycles)) if i else 0)
                now = used[acc_addr] = len(self.script.cycles)
                self.script.slot(i * groups + g, acc_addr, g, i == 0, i == n - 1, window)
                words = [memory[i * groups + g] for memory in kernels]
                psums = sum_of_products(design, window, words)
                bias = fp_convert([memory[g] for memory in biases], fmt, wide)
                partial[lane, g] = fp_add(partial[lane, g] if i else bias, psums, wide)
                if i == n - 1:
                    word = joined(fp_convert(partial[lane, g], wide, fmt).tolist(), fmt.width)
                    self.expected.append((now + design.array_latency, word))

    def check(self, array: Callable[..., Any]) -> Trace:
        self.script.drain()
        trace = run_cu_array(array, self.script)
        assert self.expected
        assert finished_sums(trace) == self.expected
        return trace


@pytest.mark.sample(3)
@every_array
@every_design
def test_cu_array_matches_golden(array: Callable[..., Any], design: EngineDesign) -> None:
    """Slots as early as an accumulator may be revisited, and some with gaps between them."""
    n = min(2, design.kernel_words // design.groups)
    Layer(design, n, design.p, Random(name(design)), 0.15).check(array)


def random_layer(rng: Random) -> Layer:
    """More of them than the hardware could be simulated for, and wider."""
    groups, n = rng.randrange(1, 5), rng.randrange(1, 4)
    design = design_for(
        rng.randrange(1, 7),
        rng.choice((1, 2, 3, 4, 5, 16, 17)),
        fmt=rng.choice((BINARY32, BFLOAT16, BINARY16, ODD, FloatFormat(8, 2), FloatFormat(3, 20))),
        mul_latency=rng.randrange(1, 4),
        add_latency=rng.randrange(1, 6),
        p=rng.randrange(1, 3),
        groups=groups,
        kernel_words=n * groups,
        fifo_words=groups,
    )
    return Layer(design, n, 5, rng, 0.15)


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(16))
def test_cu_array_fast_random_designs(seed: int) -> None:
    random_layer(Random(seed)).check(cu_array_fast)


@pytest.mark.verilator
@pytest.mark.parametrize("seed", [3, *in_full(*range(3), *range(4, 16))])
def test_the_twin_in_cpp_of_random_designs(seed: int) -> None:
    random_layer(Random(seed)).check(in_cpp(cu_array))


def anything(design: EngineDesign, seed: str, slots: int) -> CuScript:
    """Slots in any order, too early for their accumulators, amid memory writes and resets."""
    rng = Random(seed)
    fmt, n_cu = design.fmt, design.n_cu
    script = CuScript(design, rng)
    script.reset()
    script.load(
        [[elements(design.taps, fmt, rng) for _ in range(design.kernel_words)]] * n_cu,
        [elements(design.groups, fmt, rng) for _ in range(n_cu)],
    )
    issued = 0
    while issued < slots:
        busy = rng.choice((0.2, 0.8, 1.0))
        for _ in range(rng.randrange(1, 30)):
            if rng.random() < 0.2:
                script.kernel(
                    rng.randrange(1 << n_cu),
                    rng.randrange(design.kernel_words),
                    elements(design.taps, fmt, rng),
                )
            if rng.random() < 0.2:
                word = element(fmt, rng)
                script.bias(rng.randrange(1 << n_cu), rng.randrange(design.groups), word)
            reset = rng.random() < 0.02
            if rng.random() < busy:
                script.slot(
                    rng.randrange(design.kernel_words),
                    rng.randrange(design.p * design.groups),
                    rng.randrange(design.groups),
                    rng.random() < 0.2,
                    rng.random() < 0.7,
                    elements(design.taps, fmt, rng),
                    reset,
                )
                issued += 1
            else:
                script.idle(rst=int(reset))
    script.drain()
    return script


@pytest.mark.sample(1)
@pytest.mark.parametrize("design", few(CONFIGURATIONS, *CONFIGURATIONS[::4]), ids=name)
def test_cu_arrays_agree_on_anything(design: EngineDesign) -> None:
    script = anything(design, name(design), 200 if design.k < 3 else 60)
    rtl = run_cu_array(cu_array, script)
    fast = run_cu_array(cu_array_fast, script)
    assert rtl.column("sums_valid") == fast.column("sums_valid")
    assert finished_sums(rtl) == finished_sums(fast) != []


@pytest.mark.verilator
@pytest.mark.parametrize("place", [0, 9, 12, *in_full(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13)])
def test_both_twins_have_the_same_bits_in_every_cycle(place: int) -> None:
    design = CONFIGURATIONS[place]
    script = anything(design, f"twins {name(design)}", 300)
    fast, cpp = (run_cu_array(array, script) for array in (cu_array_fast, in_cpp(cu_array)))
    assert cpp.rows == fast.rows


@every_array
@pytest.mark.parametrize("design", [CONFIGURATIONS[0], CONFIGURATIONS[3]], ids=name)
def test_cu_array_latency_and_throughput(array: Callable[..., Any], design: EngineDesign) -> None:
    """One sum in the declared cycle, then one in each cycle."""
    rng = Random(1)
    script = CuScript(design, rng)
    script.reset()
    script.idle(3)
    begin = len(script.cycles)
    script.slot(0, 0, 0, True, True, [0] * design.taps)
    script.idle(design.array_latency)
    for _ in range(5):
        script.slot(0, 0, 0, True, True, [0] * design.taps)
    script.drain()
    trace = run_cu_array(array, script)
    at = [t for t, _ in finished_sums(trace)]
    again = begin + 2 * design.array_latency + 1
    assert at == [begin + design.array_latency, *range(again, again + 5)]


SINGLE = design_for(1, 1, groups=1, kernel_words=2, add_latency=2)
RESET = [replace(SINGLE, fmt=ODD), replace(SINGLE, cu_kind="fused", accumulator_precision=28)]


@pytest.mark.sample(2)
@every_array
@pytest.mark.parametrize("design", RESET, ids=name)
def test_cu_array_reset_mid_stream(array: Callable[..., Any], design: EngineDesign) -> None:
    """Slots in flight are forgotten, also by the accumulators; memories and finished sums stay."""
    one, fmt = design.fmt.one, design.fmt
    for after in range(design.array_latency + 2):
        script = CuScript(design, Random(after))
        script.reset()
        script.load([[[one]] * 2], [[0]])
        script.slot(0, 0, 0, True, True, [one])
        script.idle(design.array_latency)
        issued = len(script.cycles)
        script.slot(1, 0, 0, False, False, [one])
        script.idle(after)
        script.reset()
        reset = len(script.cycles) - 1
        script.idle(design.accumulate_latency)
        script.slot(1, 0, 0, False, True, [one])
        script.drain()
        trace = run_cu_array(array, script)
        kept = issued + design.array_latency - design.round_latency <= reset
        two, three = fmt.one + (1 << fmt.frac_bits), fmt.one + (3 << fmt.frac_bits - 1)
        assert [word for _, word in finished_sums(trace)][1:] == [three if kept else two]


@pytest.mark.sample(2)
@every_array
@pytest.mark.parametrize("design", RESET, ids=name)
def test_cu_array_reset_before_a_sum_is_finished(
    array: Callable[..., Any], design: EngineDesign
) -> None:
    one = design.fmt.one
    for after in range(design.array_latency + 2):
        script = CuScript(design, Random(after))
        script.reset()
        script.load([[[one]] * 2], [[0]])
        finished = len(script.cycles) + design.array_latency
        script.slot(0, 0, 0, True, True, [one])
        script.idle(after)
        script.reset()
        reset = len(script.cycles) - 1
        script.drain()
        wanted = [(finished, one)] if finished <= reset else []
        assert finished_sums(run_cu_array(array, script)) == wanted


@every_array
def test_cu_array_reads_before_it_writes(array: Callable[..., Any]) -> None:
    """Of a word that is read and written in one cycle the old value counts; in the next the new."""
    design = design_for(1, 1, groups=1, kernel_words=1, mul_latency=2, add_latency=2)
    fmt = design.fmt
    one, two, four = (fmt.one + (n << fmt.frac_bits) for n in range(3))
    for read_at in range(3):  # kernel word: written in cycle 1 of the three
        script = CuScript(design, Random(0))
        script.reset()
        script.load([[[one]]], [[0]])
        for t in range(3):
            if t == 1:
                script.kernel(1, 0, [two])
            if t == read_at:
                script.slot(0, 0, 0, True, True, [one])
            else:
                script.idle()
        script.drain()
        wanted = two if read_at > 1 else one
        assert [word for _, word in finished_sums(run_cu_array(array, script))] == [wanted]
    for written_at in range(design.cu_latency + 2):  # bias: read cu_latency cycles after the slot
        script = CuScript(design, Random(0))
        script.reset()
        script.load([[[0]]], [[two]])
        for t in range(design.cu_latency + 2):
            if t == written_at:
                script.bias(1, 0, four)
            if t == 0:
                script.slot(0, 0, 0, True, True, [one])
            else:
                script.idle()
        script.drain()
        wanted = four if written_at < design.cu_latency else two
        assert [word for _, word in finished_sums(run_cu_array(array, script))] == [wanted]


@pytest.mark.ghdl
@pytest.mark.parametrize(
    "design",
    [*CONFIGURATIONS[:9:8], *in_full(*CONFIGURATIONS[1:5], *CONFIGURATIONS[9::3])],
    ids=name,
)
def test_cu_array_vhdl(design: EngineDesign, replays: Replays) -> None:
    replays(run_cu_array(cu_array, anything(design, f"vhdl {name(design)}", 60)))
