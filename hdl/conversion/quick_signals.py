"""MyHDL's signals with the same meaning and fewer calls, for the length of a simulation.

Seven assignments in ten give a signal the value that it has: MyHDL notes each, and compares and
drops it in the next delta cycle. Reading a signal of many bits takes three calls. The classes here
say the same in one step, and note an assignment only if it changes something: the same values in
the same delta cycles, but none of those in which nothing happens.
"""

# ruff: noqa: D105 - the operators mean what they mean in MyHDL

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import myhdl
from myhdl import intbv

from merp.hdl.conversion.internals import (
    ASSIGNED,
    VERSION,
    AnySignal,
    ConcatSignal,
    SignalTupleWaiter,
    vectors,
)

_note = ASSIGNED.append
_new = intbv.__new__


class _Quick(AnySignal):  # type: ignore[misc]
    """What signals of one bit and of many have in common."""

    __slots__ = ()

    def _at_edge(self, waiters: list[Any], risen: bool, fallen: bool) -> None:
        """Add whoever waits for an edge, and they wait no longer; tell who traces."""
        if risen:
            waiters += self._posedgeWaiters
            self._posedgeWaiters.clear()
        elif fallen:
            waiters += self._negedgeWaiters
            self._negedgeWaiters.clear()
        if self._tracing:
            self._printVcd()


class QuickBit(_Quick):
    """A signal of one bit."""

    __slots__ = ()

    def _update(self: Any) -> Any:
        value = self._next
        if value == self._val:
            return ()
        self._val = value
        waiters = self._eventWaiters[:]
        self._eventWaiters.clear()
        if self._posedgeWaiters or self._negedgeWaiters or self._tracing:
            self._at_edge(waiters, value, not value)
        return waiters

    def _read_next(self) -> Any:
        _note(self)
        return self._next

    def _assign(self: Any, value: Any) -> None:
        if isinstance(value, AnySignal):
            value = value._val
        was = self._next
        if value is True or value is False:
            self._next = value
        else:
            self._setNextVal(value)
        if self._next != was:
            _note(self)

    next = property(_read_next, _assign)


class QuickBits(_Quick):
    """A signal of many bits. What is left out here, MyHDL's own methods do."""

    __slots__ = ()

    def _update(self) -> Any:
        held, value = self._val, self._next._val
        was = held._val
        if was == value:
            return ()
        held._val = value
        waiters = self._eventWaiters[:]
        self._eventWaiters.clear()
        if self._posedgeWaiters or self._negedgeWaiters or self._tracing:
            self._at_edge(waiters, not was, not value)
        return waiters

    def _read_next(self) -> Any:
        _note(self)
        return self._next

    def _assign(self, value: Any) -> None:
        if type(value) is not int:
            if isinstance(value, AnySignal):
                value = value._val
            if isinstance(value, intbv):
                value = value._val
            elif not isinstance(value, int):
                self._setNextVal(value)  # refuses it
        held = self._next
        if held._val != value:
            held._val = value
            held._handleBounds()
            _note(self)

    next = property(_read_next, _assign)

    def __bool__(self) -> bool:
        return bool(self._val._val)

    def __int__(self) -> int:
        return int(self._val._val)

    __index__ = __int__

    def __getitem__(self, key: Any) -> Any:
        value = self._val
        if type(key) is slice:
            high, low = key.start, key.stop or 0
            if type(high) is type(low) is int and 0 <= low < high:
                part = _new(intbv)
                part._min, part._max = 0, 1 << high - low
                part._val = (value._val & (1 << high) - 1) >> low
                part._nrbits = high - low
                return part
        elif type(key) is int:
            return bool(value._val >> key & 1)
        return value[key]

    # An integer leaves what it does not know to the other side, a signal or an intbv.

    def __add__(self, other: Any) -> Any:
        return self._val._val + other

    def __sub__(self, other: Any) -> Any:
        return self._val._val - other

    def __eq__(self, other: object) -> Any:
        return self._val._val == other

    def __ne__(self, other: object) -> Any:
        return self._val._val != other

    def __lt__(self, other: Any) -> Any:
        return self._val._val < other

    def __le__(self, other: Any) -> Any:
        return self._val._val <= other

    def __gt__(self, other: Any) -> Any:
        return self._val._val > other

    def __ge__(self, other: Any) -> Any:
        return self._val._val >= other

    __hash__ = AnySignal.__hash__


def _joins(signal: Any) -> Iterator[list[Any]]:
    """Assign a concatenation at every change of a part: all of it in one number, not bit by bit."""
    parts = []
    fixed, low = signal._initval, signal._nrbits
    for part in signal._args:
        width = 1 if isinstance(part, bool) else len(part)
        low -= width
        mask = (1 << width) - 1
        if isinstance(part, AnySignal):
            parts.append((part, mask, low))
            fixed &= ~(mask << low)
    assign = AnySignal.next.fset
    while True:
        value = fixed
        for part, mask, low in parts:
            value |= (int(part._val) & mask) << low
        assign(signal, value)
        yield signal._sigargs


_digits = vectors.bin


def quick_digits(number: Any, width: int = 0) -> str:
    """The binary digits of a number, as MyHDL's ``bin`` gives them one by one.

    MyHDL asks for them whenever a process makes a variable with bounds, to count them.
    """
    if type(number) is int and number >= 0:
        return format(number, f"0{width}b")
    return _digits(number, width)


@contextmanager
def quick_signals(signals: Sequence[Any]) -> Iterator[None]:
    """Have ``signals`` take the quicker class of their kind; behind the block all are as before.

    Signals of another kind stay as they are: shadows, delayed ones, enumerations; and so do all
    where MyHDL is not the version that these classes were written for.
    """
    if myhdl.__version__ != VERSION:
        yield
        return
    kinds = {bool: QuickBit, intbv: QuickBits}
    plain = (signal for signal in signals if type(signal) is AnySignal)
    changed = [signal for signal in plain if signal._type in kinds]
    for signal in changed:
        signal.__class__ = kinds[signal._type]
    joined = [(signal, signal._waiter) for signal in signals if type(signal) is ConcatSignal]
    for signal, _ in joined:
        signal._waiter = SignalTupleWaiter(_joins(signal))
    vectors.bin = quick_digits
    try:
        yield
    finally:
        vectors.bin = _digits
        for signal, waiter in joined:
            signal._waiter = waiter
        for signal in changed:
            signal.__class__ = AnySignal
