"""Slices and concatenations as processes, against MyHDL's own."""

from __future__ import annotations

from random import Random
from typing import Any

from myhdl import ConcatSignal, Signal, intbv

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.internals import ASSIGNED
from merp.hdl.conversion.own_signals import own_signals
from merp.hdl.conversion.quick_shadows import followers


def shadows(word: Any, signed: Any, single: Any) -> list[Any]:
    """Shadows of every kind, some of them of others."""
    part = word(6, 2)
    return [
        part, part(3, 1), part(0), word(7), signed(4, 1), signed(5),
        ConcatSignal(signed, True, single, "0110", part, intbv(5)[3:]),
    ]  # fmt: skip


def own_value(shadow: Any) -> Any:
    """What MyHDL would assign to a shadow."""
    next(shadow._genfuncIndex() if shadow._type is bool else _generator(shadow))
    return shadow._next


def _generator(shadow: Any) -> Any:
    return shadow.genfunc() if isinstance(shadow, ConcatSignal) else shadow._genfuncSlice()


def test_a_shadow_follows_as_in_myhdl() -> None:
    with own_signals([]):
        word, signed, single = bits(8), Signal(intbv(0, min=-32, max=32)), flag()
        made = shadows(word, signed, single)
        random = Random(0)
        with followers([word, signed, single, *made]) as found:
            assert len(found) == len(made)
            for _ in range(200):
                word._val._val, signed._val._val = random.randrange(256), random.randrange(-32, 32)
                single._val = random.random() < 0.5
                for shadow, follower in zip(made, found, strict=True):
                    follower.process()
                    value = shadow._next if shadow._type is bool else shadow._next._val
                    assert value == own_value(shadow)
                    assert type(value) is (bool if shadow._type is bool else int)
                    del ASSIGNED[:]
                    follower.process()
                    assert not ASSIGNED  # nothing has changed
                    shadow._val = shadow._next  # for those of it


def test_who_follows_has_no_waiter_until_all_is_over() -> None:
    with own_signals([]):
        made = shadows(bits(8), bits(6), flag())
        waiters = [shadow._waiter for shadow in made]
        with followers(made):
            assert not any(hasattr(shadow, "_waiter") for shadow in made)
        assert [shadow._waiter for shadow in made] == waiters


def test_a_shadow_of_what_has_ways_of_its_own_follows_by_itself() -> None:
    with own_signals([]):
        word = Signal(intbv(0)[8:], delay=3)
        late = word(4, 2)
        joined = ConcatSignal(late, word)
        with followers([late, joined]) as found:
            assert not found
            assert late._waiter
            assert joined._waiter
