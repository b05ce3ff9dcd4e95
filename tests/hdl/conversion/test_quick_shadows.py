"""Slices and concatenations as processes, against MyHDL's own."""

from random import Random
from typing import Any

from myhdl import ConcatSignal, Signal, intbv

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.base.internals import ASSIGNED
from merp.hdl.conversion.own_signals import own_signals
from merp.hdl.fast_simulation.quick_shadows import followers


def shadows(word: Any, signed: Any, single: Any) -> list[Any]:
    """Shadows of every kind, some of them of others."""
    part = word(6, 2)
    return [
        part, part(3, 1), part(0), word(7), signed(4, 1), signed(5),
        ConcatSignal(signed, True, single, "0110", part, intbv(5)[3:]),
    ]  # fmt: skip


def own_value(shadow: Any) -> str:
    """What MyHDL assigns to a shadow."""
    if isinstance(shadow, ConcatSignal):
        next(shadow.genfunc())
    else:
        next(shadow._genfuncIndex() if isinstance(shadow.val, bool) else shadow._genfuncSlice())
    return repr(shadow._next)


def test_a_shadow_follows_as_in_myhdl() -> None:
    with own_signals([]):
        word, signed, single = bits(8), Signal(intbv(0, min=-32, max=32)), flag()
        made = shadows(word, signed, single)
        random = Random(0)
        with followers([word, signed, single, *made]) as found:
            assert len(found) == len(made)
            for _ in range(200):
                word.next, signed.next = random.randrange(256), random.randrange(-32, 32)
                single.next = random.random() < 0.5
                for source in (word, signed, single):
                    source._update()
                for shadow, follower in zip(made, found, strict=True):
                    follower.process()
                    value = repr(shadow._next)
                    assert value == own_value(shadow)
                    del ASSIGNED[:]
                    follower.process()
                    assert not ASSIGNED  # nothing has changed
                    shadow._update()  # for those of it


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
