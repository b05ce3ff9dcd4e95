"""Quick signals and processes run as one, against MyHDL's own, on random designs."""

from contextlib import ExitStack, nullcontext
from random import Random
from typing import Any

import myhdl
import pytest
from myhdl import (
    ConcatSignal,
    Signal,
    StopSimulation,
    always,
    always_comb,
    block,
    delay,
    instance,
    intbv,
    modbv,
)

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.base.internals import ALL_SIGNALS, vectors
from merp.hdl.conversion.own_signals import own_signals
from merp.hdl.fast_simulation.quick_shadows import followers
from merp.hdl.fast_simulation.quick_signals import (
    QuickBit,
    QuickBits,
    QuickConcat,
    QuickSlice,
    QuickSliceBit,
    quick_digits,
    quick_signals,
)
from merp.testbenches.block.one_clock import Processes, Taken, take_processes

WIDTH = 6
KINDS = 10


def combine(kind: int, a: Any, b: Any, c: Any) -> Any:
    """A value of two words and a bit, by every way of reading that quick signals have of their own.

    It is cut to WIDTH bits.
    """
    if kind == 0:
        value = a + b + c
    elif kind == 1:
        value = a - b if a > b else b - a
    elif kind == 2:
        value = a[4:1] + b[3]
    elif kind == 3:
        value = (a ^ b) | c
    elif kind == 4:
        value = int(a == b) + 2 * int(a != c) + 4 * int(a <= b) + 8 * int(a < 9) + 16 * int(b >= a)
    elif kind == 5:
        value = [3, 1, 4, 1, 5, 9, 2, 6][a[3:]] if c else ~a
    elif kind == 6:
        value = (a << 1) + (b >> 2) + 1
    elif kind == 7:
        value = a if c else b
    elif kind == 8:
        value = b[:2] + (not a) + (7 if a and b else 0)
    else:
        value = 40 - a
    return int(value) % (1 << WIDTH)


@block
def clocked(clk: Any, a: Any, b: Any, c: Any, word: Any, bit: Any, kind: int) -> Any:
    """A word and a bit behind the edge."""

    @always(clk.posedge)
    def step() -> None:
        word.next = combine(kind, a, b, c)
        if kind == 5 and a[2] and b > 3:
            word.next = (b - 3) % 16
        bit.next = a[0] if kind % 2 else c
        if kind == 3:
            word.next[2] = True  # by reading ``next``

    return step


@block
def follows(a: Any, b: Any, c: Any, word: Any, bit: Any, mixed: Any, kind: int) -> Any:
    """The same at once."""

    @always_comb
    def step() -> None:
        word.next = combine(kind, a, b, c)
        bit.next = c if a != b else 1

    @always_comb
    def mix() -> None:
        mixed.next = a[4:1] + b[2] if c and not a[0] else b[5:3] ^ 1

    return step, mix


def _word(random: Random) -> Any:
    start = random.randrange(1 << WIDTH)
    if random.random() < 0.3:
        return Signal(modbv(start)[WIDTH:])
    if random.random() < 0.3:
        return Signal(intbv(start, min=-(1 << WIDTH), max=1 << WIDTH))
    return bits(WIDTH, start)


def trace(
    seed: int, *, quick: bool, watched: bool
) -> tuple[list[tuple[int, ...]], list[str], list[tuple[int, ...]]]:
    """Every signal of a random design in every cycle, and who was woken by what, in order.

    Where it is ``watched``, also in every delta cycle in which one of them changes. The processes
    are rewritten at different edges.
    """
    random, patience = Random(seed), 1 + 8 * (seed % 4)
    rows: list[tuple[int, ...]] = []
    woken: list[str] = []
    deltas: list[tuple[int, ...]] = []
    with ExitStack() as stack:
        stack.enter_context(own_signals([]))
        clk = flag()
        words = [_word(random) for _ in range(14)]
        singles = [flag(random.randrange(2)) for _ in range(14)]
        pair = ConcatSignal(words[0], True, singles[1], "0110", words[2], intbv(5)[3:], words[5])
        # Words 3 and singles 3 are the first that follow at once: shadows of them are deltas late.
        part = words[3](5, 2)
        shadows = [part, part(2, 0), part(1), words[1](3), ConcatSignal(singles[3], part)]
        mixed = [bits(WIDTH) for _ in range(14)]
        every = [*words, *singles, *mixed, *shadows, pair]

        @block
        def design() -> Any:
            parts = []
            for j in range(2, 14):
                early = range(j) if j % 2 else range(14)  # what follows at once makes no rings
                pick = [words[random.choice(early)], words[random.choice(early)]]
                if j > 4 and random.random() < 0.3:
                    pick[1] = shadows[random.choice((0, 1, 4))]
                single = singles[random.choice(early)]
                if j > 4 and random.random() < 0.3:
                    single = shadows[random.choice((2, 3))]
                kind = random.randrange(KINDS)
                if j % 2:
                    parts.append(follows(*pick, single, words[j], singles[j], mixed[j], kind))
                else:
                    parts.append(clocked(clk, *pick, single, words[j], singles[j], kind))
            return parts

        @block
        def bench() -> Any:
            dut = design()
            processes = (
                Processes(
                    take_processes(dut, clk), stack.enter_context(followers(ALL_SIGNALS)), patience
                )
                if quick
                else Processes(Taken())
            )

            @instance
            def all_as_one() -> Any:
                processes.begin()
                while True:
                    yield clk.posedge
                    processes.edge()

            @instance
            def every_delta() -> Any:
                while watched:
                    yield every
                    deltas.append(tuple(int(signal.val) for signal in every))

            @instance
            def rising() -> Any:
                while True:
                    yield singles[3].posedge
                    woken.append("rise")

            @instance
            def falling() -> Any:
                while True:
                    yield singles[3].negedge, words[4]
                    woken.append("fall or change")

            @instance
            def stimulus() -> Any:
                for cycle in range(60):
                    words[0].next = random.randrange(1 << WIDTH)
                    words[1].next = words[0]
                    singles[0].next = cycle % 3 == 0
                    singles[1].next = singles[0]
                    yield delay(5)
                    rows.append(tuple(int(signal.val) for signal in every))
                    clk.next = 1
                    yield delay(5)
                    clk.next = 0
                raise StopSimulation

            return dut, all_as_one, every_delta, rising, falling, stimulus

        simulation = bench()
        with quick_signals(ALL_SIGNALS) if quick else nullcontext():
            kinds = [type(each) for each in (words[0], singles[0], part, shadows[2], pair)]
            quick_kinds = [QuickBits, QuickBit, QuickSlice, QuickSliceBit, QuickConcat]
            assert (kinds == quick_kinds) == quick
            try:
                simulation.run_sim(quiet=1)
            finally:
                simulation.quit_sim()
        assert not isinstance(words[0], QuickBits)
    return rows, woken, deltas


@pytest.mark.sample(7)
@pytest.mark.parametrize("seed", range(20))
def test_a_random_design_is_the_same_in_every_delta_cycle(seed: int) -> None:
    # A signal that others wait for takes another way than one that they do not.
    watched = seed % 2 == 0
    rows, woken, deltas = trace(seed, quick=True, watched=watched)
    own_rows, own_woken, own_deltas = trace(seed, quick=False, watched=watched)
    assert rows == own_rows
    assert sorted(woken) == sorted(own_woken)
    assert deltas == own_deltas
    assert (len(deltas) > 3 * len(rows)) == watched
    assert len({row[4] for row in rows}) > 1


@pytest.mark.parametrize(("signal", "value"), [(bits(4), 16), (bits(4), -1), (flag(), 2)])
def test_a_value_out_of_range_is_refused_as_ever(signal: Any, value: int) -> None:
    with pytest.raises(ValueError) as own:  # noqa: PT011 - the message is compared below
        signal.next = value
    signal._clear()
    with quick_signals([signal]), pytest.raises(ValueError) as quick:  # noqa: PT011
        signal.next = value
    assert str(quick.value) == str(own.value)


@pytest.mark.parametrize("signal", [bits(4), flag()])
def test_a_value_of_another_type_is_refused_as_ever(signal: Any) -> None:
    with quick_signals([signal]), pytest.raises((TypeError, ValueError)):
        signal.next = "1"


def test_digits_are_those_of_myhdl() -> None:
    for number in (*range(-40, 300), 1 << 40, -(1 << 40), True, intbv(5)):
        for width in (0, 1, 4, 50):
            assert quick_digits(number, width) == myhdl.bin(number, width)
    with quick_signals([]):
        assert vectors.bin is quick_digits
    assert vectors.bin is myhdl.bin


def test_with_another_version_of_myhdl_its_own_signals_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signal = bits(4)
    monkeypatch.setattr(myhdl, "__version__", "0.12")
    with quick_signals([signal]):
        assert not isinstance(signal, QuickBits)
