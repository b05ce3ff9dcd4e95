"""What must be known of a signal to read and assign it without its methods."""

from __future__ import annotations

from typing import Any, NamedTuple

from myhdl import intbv

from merp.hdl.conversion.internals import AnySignal, ConcatSignal, SliceSignal
from merp.hdl.conversion.quick_signals import (
    QuickBit,
    QuickBits,
    QuickConcat,
    QuickSlice,
    QuickSliceBit,
)

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
    """The kind of a signal; None for anything else, and for signals that have ways of their own."""
    assignable = type(value) in _ASSIGNABLE
    if not assignable and type(value) not in _SHADOWS:
        return None
    if value._type in (bool, intbv):
        return SignalKind(word=value._type is intbv, assignable=assignable)
    return None
