"""The array of the kernel update in rows against the golden arithmetic, and its twin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from block_bench import Replays
from cpp_twins import either, in_cpp
from marks import few, in_full, rows_in_full
from merp.hdl.cnn_merp.behavioural.row_array import row_array_fast
from merp.hdl.cnn_merp.gradient_array.row_array import row_array
from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fused import fused_sum, pair_sums
from merp.models.base.formats import BINARY32
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import (
    gradient_latency,
    row_revisit_cycles,
)
from merp.testbenches.arithmetic.fused_bench import CASES, directed
from merp.testbenches.arithmetic.narrow_bench import directed as narrow
from merp.testbenches.cnn_merp.gradient_bench import read_out
from merp.testbenches.cnn_merp.row_bench import Bits, RowScript, factors

SIGN, ONE, TWO, INF, NAN = BINARY32.sign_bit, BINARY32.one, 0x40000000, BINARY32.inf, BINARY32.nan

every_array = pytest.mark.parametrize("array", either(row_array))


def design_for(k: int, n_cu: int, **changes: Any) -> EngineDesign:
    values: dict[str, Any] = dict(
        k=k, n_cu=n_cu, r=1, kernel_words=3, groups=2, row_words=4, max_size=5, max_maps=4,
        fifo_words=2, cu_kind="fused", ku_kind="row", add_latency=1,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


CONFIGURATIONS = [
    design_for(1, 1),
    design_for(2, 2, fused_dsp=2, fused_window=28, max_size=9),
    design_for(2, 1, ku_lanes=3, fused_window=29, add_latency=4),  # a last word that is not full
    design_for(3, 1, ku_lanes=2, fused_dsp=2, kernel_words=2, max_size=6, add_latency=2),
    design_for(2, 2, ku_lanes=4, kernel_words=2, max_size=3, add_latency=3),  # all taps at once
    design_for(2, 2, accumulator_precision=28, add_latency=4),
    design_for(2, 2, operand_precision=11, fused_window=24, max_size=9, add_latency=3),
    design_for(2, 3, operand_precision=8, fused_window=18, ku_lanes=2, add_latency=2),
]


def name(design: EngineDesign) -> str:
    narrow = f"-{design.operand_precision}bits" if design.operand_precision < 24 else ""
    cu = f"k{design.k}-{design.n_cu}cu-{design.ku_lanes}lanes"
    return f"{cu}-p{design.accumulator_precision}{narrow}"


class Gradients:
    """What the array has to hold: (kernel_words, taps, n_cu) words of the accumulator's format."""

    def __init__(self, design: EngineDesign) -> None:
        self.design = design
        size = design.kernel_words, design.taps, design.n_cu
        self.fmt = design.accumulator_format
        self.words = np.zeros(size, np.uint64 if self.fmt.width > 32 else np.uint32)

    def add(self, addr: int, opening: bool, windows: Bits, deltas: Bits) -> None:
        before = np.zeros_like(self.words[addr]) if opening else self.words[addr]
        sums = pair_sums(windows.T, deltas.T, self.design.summation).T
        self.words[addr] = fp_add(before, sums, self.fmt)

    def read(self) -> list[int]:
        """All of them as elements."""
        return fp_convert(self.words, self.fmt, BINARY32).reshape(-1).tolist()


@pytest.mark.sample(1)
@every_array
@pytest.mark.parametrize(
    "design",
    few(CONFIGURATIONS, CONFIGURATIONS[1]),
    ids=name,
)
def test_gradients_match_golden(array: Callable[..., Any], design: EngineDesign) -> None:
    """Runs of sweeps of one length each, as close as may be, with gaps now and then."""
    script, wanted = RowScript(design, design.k), Gradients(design)
    rng = np.random.default_rng(design.k)
    results: list[int] = []
    script.reset()
    for columns in (1, 2, design.max_size):
        for row, kind in enumerate(CASES):
            for addr in range(design.kernel_words):
                script.wait(addr, columns)
                script.idle(script.rng.choice((0, 0, 0, 1, 5)))
                operands = factors(kind, columns, design, rng)
                script.sweep(addr, row == 0, *operands)
                wanted.add(addr, row == 0, *operands)
            if kind in ("wide", "raw"):
                script.settle()
                script.read_all()
                results += wanted.read()
    assert read_out(script.play(array)) == results != []


def corners(columns: int) -> tuple[Bits, Bits]:
    """Rows (count, columns) of x and of delta: a CU's corner cases, and those of long distances."""
    x, delta = directed(columns)
    rows: list[tuple[list[int], list[int]]] = []
    for sign in (0, SIGN):
        for distance in range(28, 507):
            # The large ones cancel: the small one is the sum, or nothing where it is too far.
            low = 508 - distance
            small = sign | max(1, low - 254) << 23, min(254, low - 1) << 23
            rows.append(([254 << 23] * 2 + [small[0]], [254 << 23, SIGN | 254 << 23, small[1]]))
    more = np.zeros((2, len(rows), columns), np.uint32)
    for index, row in enumerate(rows):
        more[:, index, :3] = row
    return np.concatenate([x, more[0]]), np.concatenate([delta, more[1]])


@pytest.mark.sample(1)
@pytest.mark.parametrize("array", either(row_array, pytest.mark.full))
@pytest.mark.parametrize(
    ("dsp", "window", "operand"), [(1, 20, 8), *rows_in_full((2, 32, 24), (1, 32, 24), (1, 28, 24))]
)
def test_corner_cases(array: Callable[..., Any], dsp: int, window: int, operand: int) -> None:
    """Each a sweep of its own, the next close behind; corners in the first or last columns."""
    x, delta = corners(4)
    if operand < 24:
        x, delta = (np.concatenate(each) for each in zip((x, delta), narrow(4), strict=True))
    turn = np.arange(len(x)) % 2 == 1
    x[turn], delta[turn] = x[turn, ::-1], delta[turn, ::-1]
    design = design_for(
        1, 1, fused_dsp=dsp, fused_window=window, kernel_words=len(x), operand_precision=operand
    )
    script = RowScript(design, 0)
    script.reset()
    for addr, row in enumerate(zip(x, delta, strict=True)):
        script.sweep(addr, True, *(words.reshape(4, 1) for words in row))
    script.settle()
    script.read_all()
    wanted = fp_add(0, fused_sum(x, delta, design.summation), BINARY32)
    assert read_out(script.play(array)) == wanted.tolist()


@every_array
def test_what_is_no_number_stays_in_its_row_and_tap(array: Callable[..., Any]) -> None:
    design = design_for(2, 1, kernel_words=8, max_size=3)
    script, wanted = RowScript(design, 1), Gradients(design)
    script.reset()
    specials = (INF, SIGN | INF, NAN, INF | 1, 0, ONE)
    for addr in range(8):
        windows = np.full((3, 4), ONE, np.uint32)
        deltas = np.full((3, 1), ONE | addr, np.uint32)
        windows[addr % 3, addr % 4] = specials[addr % 6]
        windows[(addr + 1) % 3, 3] = specials[(addr + 1) % 6]
        script.wait(addr, 3)
        script.sweep(addr, True, windows, deltas)
        wanted.add(addr, True, windows, deltas)
    script.settle()
    script.read_all()
    assert read_out(script.play(array)) == wanted.read()


@every_array
@pytest.mark.parametrize("columns", few([4, 1024], 4))
def test_a_row_of_the_largest_products(array: Callable[..., Any], columns: int) -> None:
    """The sum of max_size products fills its bits, above and below zero."""
    design = design_for(1, 1, max_size=columns, fused_dsp=2)
    script, wanted = RowScript(design, 1), Gradients(design)
    script.reset()
    for addr, sign in enumerate((0, SIGN, 0)):
        windows = np.full((columns, 1), ONE | 0x7FFFFF, np.uint32)
        deltas = windows | np.uint32(sign)
        deltas[0] ^= np.uint32(0x40000 * addr)
        script.sweep(addr, True, windows, deltas)
        wanted.add(addr, True, windows, deltas)
    script.settle()
    script.read_all()
    assert read_out(script.play(array)) == wanted.read()


def stirred(design: EngineDesign, offsets: range) -> tuple[RowScript, list[int]]:
    """A reset in each cycle of a sweep's way, and at once a new run; the script, what it reads."""
    script, wanted = RowScript(design, 5), Gradients(design)
    rng = np.random.default_rng(5)
    columns, results = design.max_size, []
    for offset in offsets:
        operands = factors("normal", columns, design, rng)
        script.sweep(0, True, *operands, rst=offset)
        if offset >= columns:
            script.idle(offset - columns)
            script.reset()
        for opening in (True, False):
            for addr in range(design.kernel_words):
                script.wait(addr, columns)
                operands = factors("normal", columns, design, rng)
                script.sweep(addr, opening, *operands)
                wanted.add(addr, opening, *operands)
        script.settle()
        script.read_all()
        results += wanted.read()
    return script, results


@pytest.mark.sample(1)
@every_array
@pytest.mark.parametrize(
    "design", [CONFIGURATIONS[0], *in_full(CONFIGURATIONS[2])], ids=["k1", "k2"]
)
def test_a_reset_forgets_sweeps(array: Callable[..., Any], design: EngineDesign) -> None:
    script, wanted = stirred(design, range(design.max_size + gradient_latency(design) + 2))
    assert read_out(script.play(array)) == wanted


@every_array
@pytest.mark.parametrize("late", [-2, -1, 0, 1, 2])
def test_a_sweep_that_a_reset_meets_adds_nothing(array: Callable[..., Any], late: int) -> None:
    """Also with its last slot, and just before and behind it: what was there is read."""
    design = CONFIGURATIONS[0]
    script, wanted, columns = RowScript(design, 6), Gradients(design), design.max_size
    rng = np.random.default_rng(6)
    script.reset()
    for addr in range(design.kernel_words):
        script.wait(addr, columns)
        operands = factors("normal", columns, design, rng)
        script.sweep(addr, True, *operands)
        wanted.add(addr, True, *operands)
    script.settle()
    script.sweep(0, False, *factors("normal", columns, design, rng), rst=columns - 1 + late)
    if late > 0:
        script.idle(late - 1)
        script.reset()
    script.idle(gradient_latency(design) + 1)
    script.read_all()
    assert read_out(script.play(array)) == wanted.read()


def anything(design: EngineDesign, seed: int, sweeps: int) -> RowScript:
    """Sweeps too early for their addresses, reads amid them, resets."""
    script, rng = RowScript(design, seed), np.random.default_rng(seed)
    script.reset()
    for _ in range(sweeps):
        columns = design.max_size
        addr = script.rng.randrange(design.kernel_words)
        script.wait(addr, columns, early=script.rng.choice((0, 0, 3)))
        for _ in range(script.rng.choice((0, 0, 0, 2, 9))):
            unit = script.rng.randrange(design.taps), script.rng.randrange(design.n_cu)
            script.read(script.rng.randrange(design.kernel_words), *unit)
        reset = script.rng.randrange(columns) if script.rng.random() < 0.1 else -1
        operands = factors(script.rng.choice(CASES), columns, design, rng)
        script.sweep(addr, script.rng.random() < 0.2, *operands, rst=reset)
        if script.rng.random() < 0.1:
            script.idle(script.rng.randrange(30))
            script.reset()
    script.settle()
    script.read_all()
    return script


@pytest.mark.parametrize("design", few(CONFIGURATIONS, *CONFIGURATIONS[::4]), ids=name)
def test_arrays_agree_on_anything(design: EngineDesign) -> None:
    script = anything(design, 7, 40)
    rtl, fast = script.play(row_array), script.play(row_array_fast)
    assert read_out(rtl) == read_out(fast) != []


@pytest.mark.verilator
@pytest.mark.parametrize("place", [2, 5, *in_full(0, 1, 3, 4, 6, 7)])
def test_both_twins_have_the_same_bits_in_every_cycle(place: int) -> None:
    script = anything(CONFIGURATIONS[place], 9, 60)
    fast, cpp = (script.play(array) for array in (row_array_fast, in_cpp(row_array)))
    assert cpp.rows[: len(fast.rows)] == fast.rows  # each play ends with cycles of its own


def lone(design: EngineDesign) -> tuple[Bits, Bits]:
    ones = np.full((design.max_size, 1), 0, np.uint32)
    ones[0] = ONE
    return ones, ones


@every_array
def test_a_sum_is_lost_one_cycle_too_early(array: Callable[..., Any]) -> None:
    """The revisit rule is as sharp as it says."""
    design = design_for(1, 1, add_latency=3, kernel_words=1, max_size=2)
    for early in (0, 1):
        script = RowScript(design, 1)
        script.reset()
        script.sweep(0, True, *lone(design))
        script.wait(0, 2, early)
        script.sweep(0, False, *lone(design))
        script.settle()
        script.read_all()
        assert script.cycles[-2]["slot_valid"] == 0
        assert read_out(script.play(array)) == [ONE if early else TWO]
    assert row_revisit_cycles(design) == 6


@pytest.mark.sample(1)
@every_array
def test_the_last_gradients_are_readable_no_earlier_than_told(array: Callable[..., Any]) -> None:
    design = design_for(2, 1, add_latency=3, kernel_words=1)
    windows = np.full((5, 4), ONE, np.uint32)
    for early in (0, 1):
        script = RowScript(design, 1)
        script.reset()
        script.sweep(0, True, windows * 0, windows[:, :1])
        script.settle()
        script.sweep(0, True, windows, windows[:, :1])
        script.idle(gradient_latency(design) - early)
        script.read(0, 3, 0)
        assert read_out(script.play(array)) == [0 if early else 0x40A00000]


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(
    "design",
    [CONFIGURATIONS[7], *in_full(*CONFIGURATIONS[1:7])],
    ids=lambda d: f"k{d.k}-{d.ku_lanes}lanes",
)
def test_row_array_vhdl(design: EngineDesign, replays: Replays) -> None:
    replays(anything(design, 11, 14).play(row_array), lint=True)
