"""MyHDL's signals with the same meaning and fewer calls, for the duration of a simulation.

Seven assignments in ten give a signal the value that it already has. MyHDL records each of them,
and compares and drops it in the next delta cycle. Reading a signal of many bits takes three calls.
The classes here do the same in one step, and record an assignment only if it changes the value. The
values in each delta cycle are the same, but delta cycles without a change do not occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import myhdl
from myhdl import intbv

from merp.hdl.conversion.base.internals import (
    ASSIGNED,
    VERSION,
    AnySignal,
    ConcatSignal,
    SliceSignal,
    event_waiters,
    vectors,
)

_note = ASSIGNED.append
_new = intbv.__new__


class Watch:
    """A permanent waiter of a signal: it notes which processes each change concerns.

    If it is the only waiter, a quick signal calls it directly; else MyHDL resumes it like any
    other.

    Attributes:
        clocked, following: processes that the signal concerns; a change notes them as waiting, or
            due.
    """

    __slots__ = ("_due", "_rearm", "_runner", "clocked", "following", "note")

    hasRun = 0  # MyHDL removes waiters that have run from its lists

    def __init__(self, signal: Any, waiting: set[Any], due: set[Any], runner: Any) -> None:
        """Initialise; ``runner`` is resumed in the same delta cycle if anything is due."""
        self.clocked: set[Any] = set()
        self.following: set[Any] = set()
        self.note = waiting.update
        self._due, self._runner = due, runner
        self._rearm = event_waiters(signal).append

    def arm(self) -> None:
        """Wait for the next change of the signal."""
        self._rearm(self)

    def changed(self) -> tuple[Any, ...]:
        """Note the processes concerned; return the waiters to resume for them."""
        self.note(self.clocked)
        if not self.following:
            return ()
        resumed = bool(self._due)
        self._due.update(self.following)
        return () if resumed else (self._runner,)

    def next(self, waiters: list[Any], actives: Any, exc: Any) -> None:
        """Handle a change of the signal on which other waiters wait, too."""
        self._rearm(self)
        waiters[:0] = self.changed()  # MyHDL takes them from the end


class _Quick:
    """Common behaviour of signals of one bit and of many bits."""

    __slots__ = ()

    def _woken(self: Any) -> Any:
        """Return and remove the waiters for this change."""
        waiting = self._eventWaiters
        if len(waiting) == 1:
            watch = waiting[0]
            if type(watch) is Watch:
                if watch.following:
                    return watch.changed()
                watch.note(watch.clocked)
                return ()
        woken = waiting[:]
        waiting.clear()
        return woken

    def _at_edge(self: Any, risen: bool, fallen: bool) -> list[Any]:
        """Return the waiters, including waiters for an edge; notify the tracer."""
        woken = list(self._woken())
        if risen:
            woken += self._posedgeWaiters
            self._posedgeWaiters.clear()
        elif fallen:
            woken += self._negedgeWaiters
            self._negedgeWaiters.clear()
        if self._tracing:
            self._printVcd()
        return woken


class _Bit(_Quick):
    """Updating of a single bit."""

    __slots__ = ()

    def _update(self: Any) -> Any:
        value = self._next
        if value == self._val:
            return ()
        self._val = value
        if self._posedgeWaiters or self._negedgeWaiters or self._tracing:
            return self._at_edge(value, not value)
        return self._woken()


class _Word(_Quick):
    """Updating and reading of a word; MyHDL's own methods do the rest."""

    __slots__ = ()

    def _update(self: Any) -> Any:
        held, value = self._val, self._next._val
        was = held._val
        if was == value:
            return ()
        held._val = value
        if self._posedgeWaiters or self._negedgeWaiters or self._tracing:
            return self._at_edge(not was, not value)
        return self._woken()

    def __bool__(self: Any) -> bool:
        return bool(self._val._val)

    def __int__(self: Any) -> int:
        return int(self._val._val)

    __index__ = __int__

    def __getitem__(self: Any, key: Any) -> Any:
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

    # An integer leaves an unknown operand to the other side, a signal or an intbv.

    def __add__(self: Any, other: Any) -> Any:
        return self._val._val + other

    def __sub__(self: Any, other: Any) -> Any:
        return self._val._val - other

    def __eq__(self: Any, other: object) -> Any:
        return self._val._val == other

    def __ne__(self: Any, other: object) -> Any:
        return self._val._val != other

    def __lt__(self: Any, other: Any) -> Any:
        return self._val._val < other

    def __le__(self: Any, other: Any) -> Any:
        return self._val._val <= other

    def __gt__(self: Any, other: Any) -> Any:
        return self._val._val > other

    def __ge__(self: Any, other: Any) -> Any:
        return self._val._val >= other

    __hash__ = AnySignal.__hash__


class QuickBit(_Bit, AnySignal):  # type: ignore[misc]
    """A signal of one bit."""

    __slots__ = ()

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


class QuickBits(_Word, AnySignal):  # type: ignore[misc]
    """A signal of many bits."""

    __slots__ = ()

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
                self._setNextVal(value)  # raises the error
        held = self._next
        if held._val != value:
            held._val = value
            low, high = held._min, held._max
            if low is None or high is None or not low <= value < high:
                held._handleBounds()  # raises the error, or wraps the value
            _note(self)

    next = property(_read_next, _assign)


class QuickSliceBit(_Bit, SliceSignal):  # type: ignore[misc]
    """A bit of another signal."""

    __slots__ = ()


class QuickSlice(_Word, SliceSignal):  # type: ignore[misc]
    """Bits of another signal."""

    __slots__ = ()


class QuickConcat(_Word, ConcatSignal):  # type: ignore[misc]
    """The bits of several signals."""

    __slots__ = ()


_KINDS = {
    (AnySignal, bool): QuickBit,
    (AnySignal, intbv): QuickBits,
    (SliceSignal, bool): QuickSliceBit,
    (SliceSignal, intbv): QuickSlice,
    (ConcatSignal, intbv): QuickConcat,
}


NOW, NEXT, NUMBER = "_val", "_next", "_val"
"""Attributes: the current and the next value of a signal, and the integer of an intbv."""

_ASSIGNABLE = (AnySignal, QuickBit, QuickBits)
_SHADOWS = (SliceSignal, ConcatSignal, QuickSliceBit, QuickSlice, QuickConcat)


class SignalKind(NamedTuple):
    """The kind of a signal.

    Attributes:
        word: it holds an intbv, else a bool.
        assignable: it is no shadow of other signals.
    """

    word: bool
    assignable: bool


def signal_kind(value: Any) -> SignalKind | None:
    """Return the kind of a signal; None for other values and for signals with own methods."""
    assignable = type(value) in _ASSIGNABLE
    if not assignable and type(value) not in _SHADOWS:
        return None
    if value._type in (bool, intbv):
        return SignalKind(word=value._type is intbv, assignable=assignable)
    return None


def ones(signal: Any) -> int | None:
    """Return a word of ones; None if an inversion would not stay within its bits."""
    kind = signal_kind(signal)
    if kind is None or not kind.word:
        return None
    held = signal._val
    return (1 << held._nrbits) - 1 if held._nrbits and held._min >= 0 else None


_digits = vectors.bin


def quick_digits(number: Any, width: int = 0) -> str:
    """Return the binary digits of a number, as MyHDL's ``bin`` does, but faster.

    MyHDL calls it to count the bits whenever a process makes a variable with bounds.
    """
    if type(number) is int and number >= 0:
        return format(number, f"0{width}b")
    return _digits(number, width)


@contextmanager
def quick_signals(signals: Sequence[Any]) -> Iterator[None]:
    """Give ``signals`` the faster class of their kind, until the context ends.

    Signals of other kinds keep their class: delayed signals, enumerations, tristates. If the
    version of MyHDL differs from the version for which these classes were written, all signals keep
    theirs.
    """
    if myhdl.__version__ != VERSION:
        yield
        return
    plain = [signal for signal in signals if (type(signal), signal._type) in _KINDS]
    changed = [(signal, type(signal)) for signal in plain]
    for signal, kind in changed:
        signal.__class__ = _KINDS[kind, signal._type]
    vectors.bin = quick_digits
    try:
        yield
    finally:
        vectors.bin = _digits
        for signal, kind in changed:
            signal.__class__ = kind
