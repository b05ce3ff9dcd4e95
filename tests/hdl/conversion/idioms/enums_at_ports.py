"""Ports hold members of an enumeration; their bits are those of its encoding."""

from typing import Any

from myhdl import Signal, always, always_comb, always_seq, enum, instance

from idioms.cases import case, idiom, signal
from merp import entity

idiom("enumerations at ports")

PLAIN = enum("IDLE", "RUN", "LAST", "WAIT")
THREE = enum("IDLE", "RUN", "LAST")
HOT = enum("IDLE", "RUN", "LAST", encoding="one_hot")
COLD = enum("IDLE", "RUN", "LAST", encoding="one_cold")
TWO = enum("OFF", "ON")


def member(kind: Any, name: str = "IDLE") -> Any:
    """Give what makes a signal of an enumeration."""
    return lambda: Signal(getattr(kind, name))


@case("go=b", "busy=b", kind=PLAIN, state=member(PLAIN))
@case("go=b", "busy=b", kind=THREE, state=member(THREE, "RUN"))
@case("go=b", "busy=b", kind=HOT, state=member(HOT))
@case("go=b", "busy=b", kind=COLD, state=member(COLD, "LAST"))
@entity
def machine(clk, go, busy, state, kind):
    """A state is an output, and its enumeration a parameter."""

    @always(clk.posedge)
    def p():
        if state == kind.IDLE:
            if go:
                state.next = kind.RUN
        elif state == kind.RUN:
            state.next = kind.LAST
        elif state == kind.LAST:
            state.next = kind.IDLE
        else:
            raise ValueError("no such state")

    @always_comb
    def flag():
        busy.next = state != kind.IDLE

    return p, flag


@case("a=u8 b=u8", "y=u8", "op", op=member(PLAIN))
@entity
def operation(a, b, y, op):
    """An input chooses, in a match."""

    @always_comb
    def p():
        match op:
            case PLAIN.IDLE:
                y.next = a
            case PLAIN.RUN:
                y.next = a & b
            case PLAIN.LAST | PLAIN.WAIT:
                y.next = a ^ b

    return p


@case("x=b", "y=u2", "mode", mode=member(TWO, "OFF"), last=member(TWO, "ON"))
@entity
def of_one_bit(clk, x, y, mode, last):
    """An enumeration of two members has a single bit."""

    @always(clk.posedge)
    def p():
        last.next = mode if x else TWO.OFF
        y.next = 1 if mode == last else 2

    return p


@entity
def stage(clk, rst, before, after, kind):
    """A register of a state."""

    @always_seq(clk.posedge, reset=rst)
    def p():
        after.next = before if before != kind.RUN else kind.LAST

    return p


@case("rst=sync+", "y=u3", "first", first=member(HOT), last=member(HOT), kind=HOT)
@case("rst=async-", "y=u3", "first", first=member(PLAIN), last=member(PLAIN), kind=PLAIN)
@entity
def through_children(clk, rst, first, y, last, kind):
    """A state goes from child to child."""
    between = Signal(kind.LAST)
    one = stage(clk, rst, first, between, kind)
    other = stage(clk, rst, between, last, kind)

    @always_comb
    def p():
        y.next = 5 if between == kind.LAST else 2

    return one, other, p


@case("go=b", "y=u4", state=member(THREE), kind=THREE)
@case("go=b", "y=u4", state=member(HOT), kind=HOT)
@entity
def kept_in_variable(clk, go, y, state, kind):
    """A variable keeps a member from run to run."""
    number = signal("u4")

    @instance
    def p():
        now = kind.RUN
        while True:
            yield clk.posedge
            if go:
                now = kind.LAST if now == kind.RUN else kind.IDLE
            elif now == kind.IDLE:
                now = kind.RUN
            state.next = now
            number.next = (number + 1) % 16 if now == kind.RUN else 0

    @always_comb
    def q():
        y.next = number

    return p, q
