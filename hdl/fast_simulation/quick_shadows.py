"""Slices and concatenations of signals as processes that follow their parts.

MyHDL updates each shadow signal with a generator behind a waiter, at every change. The update is a
shift and a mask of integers, so the scheduler of the processes of a design can run it instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import myhdl

from merp.hdl.conversion.base.internals import ASSIGNED, VERSION, ConcatSignal, SliceSignal
from merp.hdl.fast_simulation.quick_signals import signal_kind

_note = ASSIGNED.append


class Follower(NamedTuple):
    """A process that assigns a shadow signal, and the signals whose changes trigger it."""

    parts: tuple[Any, ...]
    process: Callable[[], None]


@contextmanager
def followers(signals: Iterable[Any]) -> Iterator[list[Follower]]:
    """Yield followers for the shadow signals in ``signals``, which stop updating themselves.

    Shadow signals are slices and concatenations. All followers must run once when the simulation
    begins. When the context ends, the signals behave as before.
    """
    taken: list[tuple[Any, Any]] = []
    found = []
    if myhdl.__version__ == VERSION:
        for signal in signals:
            made = {SliceSignal: _slice, ConcatSignal: _concatenation}.get(type(signal))
            follower = made and made(signal)
            if follower:
                found.append(follower)
                taken.append((signal, signal._waiter))
                del signal._waiter  # makes MyHDL ask
    try:
        yield found
    finally:
        for signal, waiter in taken:
            signal._waiter = waiter


def _slice(shadow: Any) -> Follower | None:
    source, left, right = shadow._sig, shadow._left, shadow._right
    kind = signal_kind(source)
    if kind is None or not kind.word or not isinstance(left, int):
        return None
    if right is None:

        def index() -> None:
            bit = source._val._val >> left & 1 == 1
            if shadow._next != bit:
                shadow._next = bit
                _note(shadow)

        return Follower((source,), index)

    mask = (1 << left - right) - 1

    def cut() -> None:
        word = source._val._val >> right & mask
        if shadow._next._val != word:
            shadow._next._val = word
            _note(shadow)

    return Follower((source,), cut)


def _concatenation(shadow: Any) -> Follower | None:
    words, bits = [], []
    fixed, low = shadow._initval, shadow._nrbits
    parts = tuple(shadow._sigargs)
    kinds = [signal_kind(part) for part in parts]
    if None in kinds:
        return None
    for part in shadow._args:
        width = 1 if isinstance(part, bool) else len(part)
        low -= width
        mask = (1 << width) - 1
        kind = signal_kind(part)
        if kind is None:  # a constant
            continue
        fixed &= ~(mask << low)
        if kind.word:
            words.append((part, mask, low))
        else:
            bits.append((part, low))

    def join() -> None:
        word = fixed
        for part, mask, low in words:
            word |= (part._val._val & mask) << low
        for part, low in bits:
            if part._val:
                word |= 1 << low
        if shadow._next._val != word:
            shadow._next._val = word
            _note(shadow)

    return Follower(parts, join)
