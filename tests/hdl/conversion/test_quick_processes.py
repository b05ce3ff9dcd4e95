"""Processes compiled for the signals that they use, against the same processes as they are."""

import sys
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from random import Random
from types import FunctionType, SimpleNamespace
from typing import Any

import myhdl
import pytest
from myhdl import ConcatSignal, Signal, concat, enum, intbv, modbv

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.base.internals import ASSIGNED, AnySignal
from merp.hdl.conversion.own_signals import own_signals
from merp.hdl.fast_simulation.quick_processes import quick_process
from merp.hdl.fast_simulation.quick_signals import quick_signals

Process = Callable[[], None]

WIDTH = 6
TABLE = (3, 1, 4, 1, 5, 9, 2, 6)
state = enum("idle", "busy")


class Pins:
    """Signals of every kind, and a bundle and lists of them."""

    def __init__(self) -> None:
        self.a, self.b = bits(WIDTH), bits(WIDTH)
        self.signed = Signal(intbv(0, min=-20, max=20))
        self.wrapping = Signal(modbv(0)[WIDTH:])
        self.free = Signal(intbv(0))  # without bounds
        self.c, self.d = flag(), flag()
        self.count = Signal(0)
        self.state = Signal(state.idle)
        self.words = [bits(WIDTH) for _ in range(4)]
        self.bits = [flag() for _ in range(4)]
        self.mixed = [bits(WIDTH), flag(), bits(WIDTH), flag()]
        self.part = self.a(5, 2)
        self.bit = self.b(1)
        self.joined = ConcatSignal(self.a, self.c)
        self.shadows = [self.part, self.joined]
        self.plain = [
            self.a, self.b, self.signed, self.wrapping, self.free, self.c, self.d,
            *self.words, *self.bits, *self.mixed,
        ]  # fmt: skip
        self.every = [*self.plain, self.count, self.state, self.part, self.bit, self.joined]

    def draw(self, random: Random) -> None:
        """Other values, and others to come."""
        for signal in (*self.plain, self.part, self.bit, self.joined):
            for _ in range(2):
                signal._update()
                low, high = signal.min, signal.max
                if isinstance(signal.val, bool):
                    value: Any = random.random() < 0.5
                else:
                    low, high = (0, 50) if low is None else (low, high)
                    value = random.choice((random.randrange(low, high), random.randrange(4)))
                AnySignal.next.fset(signal, value)  # of a shadow, too
        del ASSIGNED[:]

    def coming(self) -> list[Any]:
        """What all signals are to become, with the type of each."""
        return [repr(signal._next) for signal in self.every]


def conditions(p: Pins) -> Process:
    a, b, c, d, words, size = p.a, p.b, p.c, p.d, p.words, 2

    def process() -> None:
        if (a[3] and not b[0]) or c:
            words[0].next = a
        elif (a and b > a) or not (c and d):
            words[0].next = b[4:1]
        if a[size] if c else b:
            words[1].next = 1
        while not c:
            words[2].next = 3
            break
        if 1 < a <= b != 7:
            d.next = a == b

    return process


def sums(p: Pins) -> Process:
    a, b, c, signed, wrapping, free, words = p.a, p.b, p.c, p.signed, p.wrapping, p.free, p.words

    def process() -> None:
        words[0].next = (a + b) % 64
        words[1].next = a if c else b
        words[2].next = (a & b) | (a ^ 5)
        words[3].next = (~a >> 1) & b
        signed.next = (signed - 3) // 2 + c
        wrapping.next = wrapping - a  # wraps
        free.next = (a << 2) + (-b) * 3 + (c + c)

    return process


def indices(p: Pins) -> Process:
    a, b, words, singles, low, high = p.a, p.b, p.words, p.bits, 1, 3

    def process() -> None:
        words[a[2:]].next = words[b[high:low]]
        words[0].next = words[a[4:2]][5:2]
        singles[b[2:]].next = words[1][a[2:]]
        singles[int(a[0])].next = singles[a[high - 1 : low * 0]]
        words[3].next = TABLE[a[3:]] + (a[5:] == b[5:])
        words[2].next = a[2:0] + b[WIDTH:]

    return process


def variables(p: Pins) -> Process:
    a, b, c, words, singles, d, signed = p.a, p.b, p.c, p.words, p.bits, p.d, p.signed

    def process() -> None:
        total = 0
        vector = intbv(0)[4:]
        for i in range(4):
            total = total + words[i][2:]
            if singles[i]:
                vector[i] = 1
        best = a  # a signal
        cut = b[4:1]  # an intbv, which has bits of its own
        total += 2
        d.next = cut[1] and best[3]
        words[0].next = total
        words[1].next = vector
        words[2].next = concat(c, a[2:], cut)
        words[0].next = (a + ~c) % 8
        words[3].next[2] = True
        masked = a & b  # an intbv, too
        singles[0].next = masked[1]
        signed.next = ~signed

    return process


def bundles(p: Pins) -> Process:
    pins, inner = p, SimpleNamespace(p=p, size=3)

    def process() -> None:
        if pins.c and inner.p.a[inner.size]:
            pins.words[1].next = inner.p.b + 0
        pins.d.next = pins.bit or pins.joined[2] or pins.part > 3
        pins.words[0].next = pins.joined[5:1] + pins.part

    return process


def others(p: Pins) -> Process:
    a, c, count, machine, mixed, words, shadows = (
        p.a, p.c, p.count, p.state, p.mixed, p.words, p.shadows,
    )  # fmt: skip

    def process() -> None:
        count.next = count + a
        if machine == state.idle and c:
            machine.next = state.busy
        mixed[0].next = mixed[2]
        mixed[1].next = mixed[3]
        words[1].next = len(a) + int(c) + bool(a) + shadows[0]
        words[2].next = max(a, 3) % 8
        assert a >= 0

    return process


PROCESSES = (conditions, sums, indices, variables, bundles, others)


def outcome(process: Process, pins: Pins) -> tuple[list[Any], str]:
    """What signals are to become, and the error."""
    try:
        process()
    except Exception as error:
        return pins.coming(), repr(error)
    return pins.coming(), ""


@pytest.mark.sample(4)
@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("make", PROCESSES)
def test_a_compiled_process_assigns_the_same(make: Callable[[Pins], Process], quick: bool) -> None:
    with own_signals([]):
        pins = Pins()
        process = make(pins)
        compiled = quick_process(process)
        assert compiled is not process
        seen = set()
        with quick_signals(pins.every) if quick else nullcontext():
            for seed in range(300):
                pins.draw(Random(seed))
                found = outcome(compiled, pins)
                pins.draw(Random(seed))
                assert found == outcome(process, pins)
                seen.add(str(found))
        assert len(seen) > 100


def calls(process: Process) -> int:
    """How many functions of Python a process calls."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        process()
    finally:
        sys.setprofile(None)
    return count - 1


@pytest.mark.parametrize("make", [conditions, sums, indices, bundles])
def test_a_compiled_process_that_changes_nothing_calls_nothing(
    make: Callable[[Pins], Process],
) -> None:
    with own_signals([]):
        pins = Pins()
        process = make(pins)
        process()
        compiled = quick_process(process)
        assert calls(process) > 9
        assert calls(compiled) == 0


def alone(p: Pins) -> list[Process]:
    """Processes with what is not known."""
    a, c, words = p.a, p.c, p.words
    runs = 0

    def counts() -> None:
        nonlocal runs
        runs = runs + 1
        words[0].next = runs

    def gathers() -> None:
        words[0].next = sum([int(each) for each in words]) % 8

    def tries() -> None:
        try:
            words[0].next = 1 // a
        except ZeroDivisionError:
            c.next = True

    def defers() -> None:
        words[0].next = (lambda: a)()

    return [counts, gathers, tries, defers]


def test_a_process_with_what_is_not_known_stays_as_it_is() -> None:
    with own_signals([]):
        for process in alone(Pins()):
            assert quick_process(process) is process


def wrong(p: Pins) -> list[Process]:
    """Processes that fail."""
    a, signed, c, words, part, kind = p.a, p.signed, p.c, p.words, p.part, p.state
    below_all = -1

    def above() -> None:
        a.next = a + 64

    def below() -> None:
        signed.next = -21 - a

    def two() -> None:
        c.next = a + 2

    def shadow() -> None:
        part.next = 1

    def outside() -> None:
        words[a + 9].next = 1

    def back() -> None:
        a.next = a >> (a - 70)

    def zero() -> None:
        a.next = 5 % (a & 0)

    def text() -> None:
        a.next = "1"  # type: ignore[assignment]

    def order() -> None:
        words[0].next = a[1:3]

    def negative() -> None:
        words[0].next = a[3:below_all]

    def real() -> None:
        first, second = 1.0, 2.0
        a.next = first if c else second

    def reals() -> None:
        for each in (1.0,):
            a.next = each

    def other() -> None:
        kind.next = 3

    return [
        above, below, two, shadow, outside, back, zero, text, order, negative, real, reals, other,
    ]  # fmt: skip


@pytest.mark.parametrize("index", range(13))
def test_errors_are_those_of_myhdl_at_the_same_line(index: int) -> None:
    with own_signals([]):
        pins = Pins()
        process = wrong(pins)[index]
        compiled = quick_process(process)
        assert compiled is not process
        for seed in range(40):
            errors = []
            for each in (process, compiled):
                pins.draw(Random(seed))
                with quick_signals(pins.every) if seed % 2 else nullcontext():
                    with pytest.raises(Exception) as error:  # noqa: PT011 - they are compared
                        each()
                lines = [step.lineno for step in traceback.extract_tb(error.value.__traceback__)]
                errors.append((error.type, str(error.value), lines[1]))
            assert errors[0] == errors[1]


def reader(source: Any, target: Any, low: int) -> FunctionType:
    """A process of one code for whatever it is given."""

    def process() -> None:
        target.next = source[low + 2 : low] if low else source

    assert isinstance(process, FunctionType)
    return process


def test_each_kind_of_signal_and_slice_has_code_of_its_own() -> None:
    with own_signals([]):
        word, other, target, single, hit = bits(6), bits(9), bits(6), flag(), flag()
        made = [
            quick_process(reader(*each))
            for each in (
                (word, target, 1), (other, target, 1), (word, target, 2), (single, hit, 0),
            )
        ]  # fmt: skip
        codes = [process.__code__ for process in made if isinstance(process, FunctionType)]
        assert codes[0] is codes[1]
        assert len(set(map(id, codes))) == 3
        for source, value in ((word, 0b111010), (other, 0b10), (single, True)):
            source.next = value
            source._update()
        for process, value in zip(made[:3], (0b01, 0b01, 0b10), strict=True):
            process()
            assert target._next == value
        made[3]()
        assert hit._next is True


def test_names_are_those_of_the_process_whenever_they_change() -> None:
    with own_signals([]):
        first, second, target = bits(4, 3), bits(4, 5), bits(4)

        def block() -> tuple[Process, Process]:
            source = first

            def process() -> None:
                target.next = source

            def swap() -> None:
                nonlocal source
                source = second

            return process, swap

        process, swap = block()
        compiled = quick_process(process)
        assert compiled is not process
        compiled()
        assert target._next == 3
        swap()
        compiled()
        assert target._next == 5


def test_with_another_version_of_myhdl_processes_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    with own_signals([]):
        process = sums(Pins())
        monkeypatch.setattr(myhdl, "__version__", "0.12")
        assert quick_process(process) is process
