"""Small MyHDL blocks whose meaning in Python a converter easily loses, by idiom.

Each idiom has several variations: other widths and bounds, clocked and combinational, in
conditions, in indices and in assignments. Every block simulates under any legal stimulus, so that
its hardware must follow the simulation. ``REFUSED`` holds blocks that no hardware can follow.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from myhdl import (
    ConcatSignal,
    ResetSignal,
    Signal,
    always,
    always_comb,
    always_seq,
    concat,
    delay,
    downrange,
    enum,
    instance,
    intbv,
    modbv,
)
from side_by_side import Design

from merp import entity

DESIGNS: dict[str, list[Design]] = {}
"""The designs of each idiom; the hardware of every one equals its simulation."""

REFUSED: dict[str, Design] = {}
"""Designs without hardware by name; the comment ``# refused`` marks the statement."""

_idiom = ""


def idiom(name: str) -> None:
    """Begin an idiom: the cases that follow are its variations."""
    global _idiom
    _idiom = name
    DESIGNS[name] = []


def signal(kind: str) -> Any:
    """Make a signal of a kind.

    ``b`` is a bit, ``u8`` unsigned, ``s8`` signed, ``m8`` a modbv, ``-3..11`` has these bounds
    as min and max, ``m-3..11`` wraps in them, ``sync+`` and ``async-`` are resets and their
    active level. ``u8@5`` begins with 5; without it, a signal begins with 0 or its minimum.
    """
    kind, _, first = kind.partition("@")
    if kind == "b":
        return Signal(bool(int(first or 0)))
    if kind[:-1] in ("sync", "async"):
        active = kind[-1] == "+"
        return ResetSignal(not active, active=active, isasync=kind[:-1] == "async")
    vector: Any = modbv if kind[0] == "m" else intbv
    bounds = kind.lstrip("m")
    if ".." in bounds:
        low, high = map(int, bounds.split(".."))
    else:
        width = int(bounds.lstrip("us"))
        low, high = (-(1 << width - 1), 1 << width - 1) if kind[0] == "s" else (0, 1 << width)
    value = int(first) if first else 0 if low <= 0 < high else low
    return Signal(vector(value, min=low, max=high))


def _design(
    block: Any, name: str, inputs: str, outputs: str, driven: str, others: dict[str, Any]
) -> Design:
    kinds = dict(port.split("=") for port in (inputs + " " + outputs).split())
    if "clk" in inspect.signature(block.func).parameters:
        kinds = {"clk": "b", **kinds}

    def make() -> dict[str, Any]:
        made = {port: signal(kind) for port, kind in kinds.items()}
        return made | {key: each() if callable(each) else each for key, each in others.items()}

    names = [port.split("=")[0] for port in inputs.split()] + driven.split()
    return Design(name, block, make, tuple(names))


def case(
    inputs: str, outputs: str, driven: str = "", /, **others: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make an entity a variation of the idiom; those of one entity are counted upwards.

    ``inputs`` and ``outputs`` name the ports with their kinds. ``others`` are parameters, and
    bundles that functions make; ``driven`` names the ports of bundles that are inputs.
    """

    def add(block: Any) -> Any:
        number = 1 + sum(each.function is block for each in DESIGNS[_idiom])
        name = f"{block.func.__name__}_{number}"
        DESIGNS[_idiom].append(_design(block, name, inputs, outputs, driven, others))
        return block

    return add


def refused(
    inputs: str, outputs: str, /, **others: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add an entity to those that have no hardware."""

    def add(block: Any) -> Any:
        name = block.func.__name__
        REFUSED[name] = _design(block, name, inputs, outputs, "", others)
        return block

    return add


# What the reported bugs are about.

idiom("bool of a vector")


@case("a=u3", "y=u4")
@case("a=s3", "y=s4")
@entity
def int_and_bool(clk, a, y):
    """The output is the number, plus one unless it is zero."""

    @always(clk.posedge)
    def p():
        y.next = int(a) + bool(a)

    return p


@case("a=u5 b=s4", "y=u2")
@entity
def sum_of_bools(a, b, y):
    """The output counts the inputs that are not zero."""

    @always_comb
    def p():
        y.next = bool(a) + bool(b)

    return p


@case("a=u4 x=b", "y=u4")
@entity
def bool_equals_bit(a, x, y):
    """The condition compares the truth of a vector with a bit."""

    @always_comb
    def p():
        if bool(a) == x:
            y.next = a
        else:
            y.next = 9

    return p


@case("a=u4", "y=s5")
@entity
def bool_as_index(clk, a, y):
    """The truth of a vector chooses an entry."""
    t = (-7, 12)

    @always(clk.posedge)
    def p():
        y.next = t[bool(a & 12)]

    return p


idiom("label of an expression")


@case("", "y=u3", n=6)
@case("", "y=u3", n=2)
@entity
def label_minus_one(clk, y, n):
    """The counter goes back at the parameter less one."""
    ct = Signal(intbv(0)[3:])

    @always(clk.posedge)
    def p():
        if ct == 0:
            ct.next = 1
            y.next = 1
        elif ct == n - 1:
            ct.next = 0
            y.next = 2
        else:
            ct.next = ct + 1
            y.next = 3

    return p


@case("a=u4", "y=u3", n=3)
@entity
def labels_of_many_kinds(a, y, n):
    """Each label is another expression of the parameter."""

    @always_comb
    def p():
        if a == n - 1:
            y.next = 1
        elif a == n * 2:
            y.next = 2
        elif a == n**2:
            y.next = 3
        elif a == (n << 2) | 1:
            y.next = 4
        elif a == 8 // n:
            y.next = 5
        else:
            y.next = 0

    return p


@case("a=s4 x=b", "y=s4", n=3)
@case("a=-4..6 x=b", "y=s4", n=4)
@entity
def negative_labels(a, x, y, n):
    """The labels are negative, and stand within another condition."""

    @always_comb
    def p():
        y.next = 7
        if x:
            if a == -n:
                y.next = 1
            elif a == 1 - n:
                y.next = 2
            elif a == n - 1:
                y.next = -3

    return p


idiom("constants from 2**31")


@case("a=u32", "y=b", limit=0xC0000000)
@case("a=u40", "y=b", limit=0x80_0000_0000)
@case("a=s33", "y=b", limit=-0x80000001)
@entity
def at_least(clk, a, y, limit):
    """The output tells whether the input reaches a constant."""

    @always(clk.posedge)
    def p():
        if a >= limit:
            y.next = 1
        else:
            y.next = 0

    return p


@case("a=u32", "y=u33")
@case("a=s32", "y=s33")
@entity
def plus_two_to_31(a, y):
    """The sum has a constant that is no integer of VHDL."""

    @always_comb
    def p():
        y.next = a + 0x80000000

    return p


@case("a=u32 s=u2", "y=u32")
@entity
def large_entries(clk, a, s, y):
    """The entries of a tuple exceed 2**31, and stand in an expression."""
    t = (0xFFFFFFFF, 0x80000000, 1, 0xDEADBEEF)

    @always(clk.posedge)
    def p():
        y.next = (a ^ t[s]) & 0xF000000F

    return p


idiom("floor division")


@case("a=s8", "q=s8 r=u3")
@case("a=-3..11", "q=s8 r=u3")
@entity
def quotient_and_rest(clk, a, q, r):
    """The quotient is floored and the rest is positive."""

    @always(clk.posedge)
    def p():
        q.next = a // 4
        r.next = a % 4

    return p


@case("a=u6 b=u6", "y=s5")
@entity
def divided_difference(a, b, y):
    """A difference is divided."""

    @always_comb
    def p():
        y.next = (a - b) // 8

    return p


@case("a=s5", "y=u3")
@entity
def quotient_in_condition(a, y):
    """The conditions compare quotients."""

    @always_comb
    def p():
        if a // 2 == -1:
            y.next = 1
        elif a // 8 < 0:
            y.next = 2
        elif a % 8 > 5:
            y.next = 3
        else:
            y.next = 0

    return p


@case("a=s4", "y=u5")
@entity
def quotient_as_index(clk, a, y):
    """A quotient chooses an entry."""
    t = (3, 1, 4, 15, 9, 26, 5, 3)

    @always(clk.posedge)
    def p():
        y.next = t[a // 2 + 4]

    return p


idiom("helper called with a sum")


@case("a=u8 b=u8", "y=u8")
@case("a=u9 b=u3", "y=u8")
@entity
def clipped_sum(clk, a, b, y):
    """A local function clips a sum."""

    def clip(v):
        r = intbv(0)[8:]
        if v > 255:
            r[:] = 255
        else:
            r[:] = v
        return r

    @always(clk.posedge)
    def p():
        y.next = clip(a + b)

    return p


@case("a=s6 b=s6", "y=s6")
@entity
def clipped_product(a, b, y):
    """A local function clips a product on both sides."""

    def clip(v):
        if v > 31:
            return 31
        elif v < -32:
            return -32
        return v

    @always_comb
    def p():
        y.next = clip(a * b)

    return p


@case("a=u4 b=u4", "y=b z=u6")
@entity
def helper_in_condition(a, b, y, z):
    """A condition and a sum call a local function with expressions."""

    def double(v):
        return v + v

    @always_comb
    def p():
        y.next = 0
        if double(a - b) > 9:
            y.next = 1
        z.next = double(a[3:]) + double(a[3:] + b)

    return p


idiom("product and mask")


@case("a=u8 b=u8", "y=u8")
@case("a=s8 b=u4", "y=u8")
@case("a=s4 b=s9", "y=u8")
@entity
def masked_product(clk, a, b, y):
    """The output is the low byte of a product."""

    @always(clk.posedge)
    def p():
        y.next = (a * b) & 0xFF

    return p


@case("a=u5 b=s5", "y=u2")
@entity
def masked_product_in_condition(a, b, y):
    """The conditions take bits of a product."""

    @always_comb
    def p():
        if (a * b) & 1:
            y.next = 1
        elif (a * b) & 0x1F0 == 0x10:
            y.next = 2
        else:
            y.next = 0

    return p


@case("a=u4 b=s4", "y=u7")
@entity
def masked_product_as_index(a, b, y):
    """The low bits of a product choose an entry."""
    t = (31, 41, 59, 26, 53, 58, 97, 93)

    @always_comb
    def p():
        y.next = t[(a * b) & 7] | ((a * b) & 8)

    return p


idiom("product then shift")


@case("a=u8 b=u8", "y=u8")
@case("a=s8 b=s8", "y=s9")
@case("a=u8 b=s6", "y=s6")
@entity
def high_part_of_product(clk, a, b, y):
    """The output is the high part of a product."""

    @always(clk.posedge)
    def p():
        y.next = (a * b) >> 8

    return p


@case("a=s6 b=u6 s=u4", "y=s12")
@entity
def product_shifted_by_signal(a, b, s, y):
    """A signal shifts a product."""

    @always_comb
    def p():
        y.next = (a * b) >> s

    return p


@case("a=u8 b=u8", "y=u4")
@entity
def shifted_product_in_condition(a, b, y):
    """A condition and an index shift a product."""
    t = (7, 11, 2, 13)

    @always_comb
    def p():
        if (a * b) >> 8 > 100:
            y.next = t[(a * b) >> 14]
        else:
            y.next = 0

    return p


idiom("rounded average")


@case("a=u8 b=u8", "y=u8")
@case("a=s8 b=s8", "y=s8")
@case("a=-3..11 b=s3", "y=s4")
@entity
def average_of_two(clk, a, b, y):
    """The average of two is rounded."""

    @always(clk.posedge)
    def p():
        y.next = (a + b + 1) >> 1

    return p


@case("a=u4 b=u4 c=u4 d=s4", "y=s5")
@entity
def average_of_four(a, b, c, d, y):
    """The average of four is rounded."""

    @always_comb
    def p():
        y.next = (a + b + c + d + 2) // 4

    return p


@case("a=u3 b=u3 c=u3", "y=u2")
@entity
def average_in_condition(a, b, c, y):
    """The condition compares two averages."""

    @always_comb
    def p():
        if (a + b + 1) >> 1 > (b + c + 1) >> 1:
            y.next = 1
        else:
            y.next = ((a + c + 1) >> 1) & 2

    return p


idiom("saturating sum")


@case("a=s8 b=s8", "y=s8", low=-128, high=127)
@case("a=s4 b=s6", "y=s4", low=-8, high=7)
@case("a=-3..11 b=-3..11", "y=-3..11", low=-3, high=10)
@entity
def saturating_add(clk, a, b, y, low, high):
    """The sum stays at the bounds."""

    @always(clk.posedge)
    def p():
        if a + b > high:
            y.next = high
        elif a + b < low:
            y.next = low
        else:
            y.next = a + b

    return p


@case("a=u6 b=u6", "y=u6")
@entity
def saturating_subtract(a, b, y):
    """The difference stays at zero."""

    @always_comb
    def p():
        y.next = 0 if a - b < 0 else a - b

    return p


@case("a=u4 b=u4 c=u4", "y=u4")
@entity
def saturating_index(a, b, c, y):
    """A sum of three stays at the last entry."""
    t = (5, 9, 1, 12, 3, 8)

    @always_comb
    def p():
        y.next = t[a + b + c if a + b + c < 5 else 5]

    return p


idiom("shift of a constant")


@case("s=u2", "y=u4")
@case("s=0..6", "y=u6")
@entity
def one_hot(s, y):
    """The output is a single one."""

    @always_comb
    def p():
        y.next = 1 << s

    return p


@case("s=u4", "y=u15", n=9)
@entity
def thermometer(clk, s, y, n):
    """The output has as many ones as the input says."""

    @always(clk.posedge)
    def p():
        if s == 15:
            y.next = (1 << n) - 1
        else:
            y.next = (1 << s) - 1

    return p


@case("s=u3 r=u2", "y=s11 z=u8")
@entity
def constants_both_ways(s, r, y, z):
    """Signals and sums of signals shift negative and large constants."""

    @always_comb
    def p():
        y.next = -3 << s
        z.next = 0x1FE >> (s + r + 1)

    return p


@case("a=u8 s=u3", "y=u2")
@entity
def shifted_mask_in_condition(a, s, y):
    """The condition takes the bit that a signal names."""

    @always_comb
    def p():
        y.next = 0
        if a & (1 << s):
            y.next = 1
        elif a > 1 << s:
            y.next = 2

    return p


idiom("sum then shift")


@case("a=u16 b=u16", "y=u16")
@case("a=s8 b=s8", "y=s8")
@case("a=u8 b=s8", "y=s9")
@entity
def halved_sum(clk, a, b, y):
    """The output is half of a sum."""

    @always(clk.posedge)
    def p():
        y.next = (a + b) >> 1

    return p


@case("a=u4 b=u4 s=u2", "y=s6")
@entity
def difference_shifted_by_signal(a, b, s, y):
    """A signal shifts a difference."""

    @always_comb
    def p():
        y.next = (a - b) >> s

    return p


@case("a=u3 b=u3", "y=u4 z=u3")
@entity
def shifted_sum_in_index(a, b, y, z):
    """Half of a sum chooses an entry and a bit, and decides."""
    t = (1, 2, 4, 8, 11, 13, 14, 7)

    @always_comb
    def p():
        y.next = t[(a + b) >> 1]
        z.next = a[(a + b) >> 3]
        if (a + b) >> 2 == 3:
            z.next = 5

    return p


idiom("tuple in an expression")


@case("a=u4 s=u2", "y=u5")
@case("a=s4 s=u2", "y=s6")
@entity
def entry_plus_signal(a, s, y):
    """An entry of a tuple is added."""
    t = (2, 5, 9, 14)

    @always_comb
    def p():
        y.next = a + t[s]

    return p


@case("a=u4 s=u2", "y=s9")
@entity
def product_of_entries(clk, a, s, y):
    """Entries of two tuples stand in one expression."""
    t = (-2, 5, -9, 14)
    u = (3, -1, 0, 8)

    @always(clk.posedge)
    def p():
        y.next = t[s] * u[3 - s] - t[s] + a

    return p


@case("a=u4 s=0..3", "y=u2")
@entity
def entry_in_condition(a, s, y):
    """The conditions compare with entries."""
    t = (2, 5, 9)

    @always_comb
    def p():
        if a < t[s]:
            y.next = 1
        elif a == t[s] + 1:
            y.next = 2
        else:
            y.next = 0

    return p


# Widths follow from bounds.

idiom("sums")


@case("a=u8 b=u8", "y=u9")
@case("a=u8 b=s8", "y=s10")
@case("a=-3..11 b=2..9", "y=-1..20")
@case("a=b b=u2", "y=u3")
@case("a=u1 b=s1", "y=-1..2")
@entity
def sum_of_two(a, b, y):
    """The output is a sum."""

    @always_comb
    def p():
        y.next = a + b

    return p


@case("a=u3 b=s5 c=b", "y=s7")
@entity
def sum_of_many(clk, a, b, c, y):
    """The output is a sum of unlike summands and constants."""

    @always(clk.posedge)
    def p():
        y.next = (a + 3) + (b + c) + (a - -5)

    return p


@case("a=u3 b=u3 c=u2", "y=u2")
@entity
def sums_compared(a, b, c, y):
    """The conditions compare sums."""

    @always_comb
    def p():
        if a + b == c + 7:
            y.next = 1
        elif a + b > 9:
            y.next = 2
        elif a + b + c >= a + 5:
            y.next = 3
        else:
            y.next = 0

    return p


idiom("differences")


@case("a=u8 b=u8", "y=s9")
@case("a=s4 b=u6", "y=s8")
@case("a=b b=b", "y=s2")
@case("a=-8..-2 b=5..7", "y=-14..-6")
@entity
def difference_of_two(a, b, y):
    """The output is a difference."""

    @always_comb
    def p():
        y.next = a - b

    return p


@case("a=u4 b=u4", "y=u4 z=u4")
@entity
def guarded_difference(clk, a, b, y, z):
    """A condition keeps a difference positive, a mask wraps another."""

    @always(clk.posedge)
    def p():
        if a >= b:
            y.next = a - b
        else:
            y.next = b - a - 1
        z.next = (a - b) & 15

    return p


@case("a=u3 b=u3", "y=u3")
@entity
def differences_compared(a, b, y):
    """The conditions compare differences, an index takes one."""
    t = (6, 1, 4, 0, 2, 7, 5, 3)

    @always_comb
    def p():
        if a - b < -4:
            y.next = 1
        elif a - b > 2:
            y.next = t[(a - b) & 7]
        elif a - 3 < b - 5:
            y.next = 5
        else:
            y.next = t[b - a + 2]

    return p


idiom("products")


@case("a=u8 b=u8", "y=u16")
@case("a=s8 b=s8", "y=s16")
@case("a=u8 b=s5", "y=s13")
@case("a=b b=s5", "y=s5")
@case("a=-3..11 b=-3..11", "y=-30..101")
@entity
def product_of_two(a, b, y):
    """The output is a product."""

    @always_comb
    def p():
        y.next = a * b

    return p


@case("a=u6", "y=s9 z=u12", k=-3)
@case("a=s6", "y=s9 z=u12", k=5)
@entity
def product_with_constant(clk, a, y, z, k):
    """The outputs are a multiple and a square."""

    @always(clk.posedge)
    def p():
        y.next = a * k
        z.next = a * a

    return p


@case("a=u4 b=u4 c=s4", "y=u2 z=s13")
@entity
def products_compared(a, b, c, y, z):
    """The conditions compare products and sums of products."""

    @always_comb
    def p():
        z.next = a * b * c + a
        if a * b > 100:
            y.next = 1
        elif a * c < b * -2:
            y.next = 2
        else:
            y.next = 0

    return p


idiom("shifts by a constant")


@case("a=u8", "y=u11 z=u5")
@case("a=s8", "y=s11 z=s5")
@case("a=-3..11", "y=s8 z=s2")
@entity
def shifted_both_ways(a, y, z):
    """The outputs are shifted to the left and to the right."""

    @always_comb
    def p():
        y.next = a << 3
        z.next = a >> 3

    return p


@case("a=u4", "y=u6 z=u4", n=4)
@entity
def shifted_twice(clk, a, y, z, n):
    """Shifts follow one another, and keep all bits."""

    @always(clk.posedge)
    def p():
        y.next = (a << n) >> 2
        z.next = ((a << 2) & 15) | (a >> (n - 2))

    return p


@case("a=u6 b=s6", "y=u2")
@entity
def shifts_compared(a, b, y):
    """The conditions compare shifted values."""

    @always_comb
    def p():
        if a << 2 > 200:
            y.next = 1
        elif b >> 3 == -1:
            y.next = 2
        elif a << 1 == b << 3:
            y.next = 3
        else:
            y.next = 0

    return p


idiom("shifts by a signal")


@case("a=u8 s=u3", "y=u15 z=u8")
@case("a=s8 s=u3", "y=s15 z=s8")
@case("a=s5 s=u4", "y=s20 z=s5")
@entity
def shifted_by_signal(a, s, y, z):
    """A signal shifts to the left and to the right, by more than the width, too."""

    @always_comb
    def p():
        y.next = a << s
        z.next = a >> s

    return p


@case("a=u6 s=u2 r=u2", "y=u6")
@entity
def shifted_by_expression(clk, a, s, r, y):
    """Expressions shift, and what is shifted is one."""

    @always(clk.posedge)
    def p():
        y.next = (((a + 1) << (s + r)) >> (s + 1)) & 63

    return p


@case("a=u6 s=u2", "y=u4")
@entity
def shifted_in_condition(a, s, y):
    """A signal shifts in a condition and in an index."""
    t = (1, 3, 5, 7, 9, 11, 13, 15)

    @always_comb
    def p():
        if a << s >= 128:
            y.next = 2
        else:
            y.next = t[(a >> s) & 7]

    return p


idiom("constant shifted by a signal")


@case("s=u3", "y=u8")
@case("s=u4", "y=u8")
@entity
def constant_to_the_right(s, y):
    """A signal shifts a constant to the right."""

    @always_comb
    def p():
        y.next = 0xB5 >> s

    return p


@case("s=u5", "y=s34 z=s4")
@entity
def negative_constant(clk, s, y, z):
    """A signal shifts negative constants."""

    @always(clk.posedge)
    def p():
        y.next = -3 << s
        z.next = -7 >> s

    return p


@case("s=u6 a=u8", "y=u64 z=u2")
@entity
def large_constant(s, a, y, z):
    """A signal shifts constants beyond 2**31."""

    @always_comb
    def p():
        y.next = (1 << s) | (2**40 >> s)
        z.next = 0
        if 1 << s > 2**33:
            z.next = 1
        elif 3 << s == a:
            z.next = 2

    return p


idiom("division by a power of two")


@case("a=u8", "y=u6 z=s7")
@case("a=s8", "y=s6 z=s7")
@entity
def quarter(a, y, z):
    """The quotients are floored."""

    @always_comb
    def p():
        y.next = a // 4
        z.next = a // -4

    return p


@case("a=u4 b=u5", "y=s6 z=s3")
@entity
def divided_sums(clk, a, b, y, z):
    """Sums and differences are divided."""

    @always(clk.posedge)
    def p():
        y.next = (a - b + 1) // 2
        z.next = -(a + b) // 16

    return p


@case("a=s6", "y=u3", n=8)
@entity
def division_in_condition(a, y, n):
    """A condition and an index divide by a parameter."""
    t = (3, 0, 5, 6, 2, 7, 1, 4)

    @always_comb
    def p():
        if a // n == -1:
            y.next = 1
        else:
            y.next = t[a // n + 4]

    return p


idiom("division by other constants")


@case("a=u8", "y=u7 z=s8")
@case("a=s8", "y=s7 z=s8")
@case("a=-3..11", "y=s4 z=s5")
@entity
def thirds(a, y, z):
    """The quotients are floored."""

    @always_comb
    def p():
        y.next = a // 3
        z.next = a // -3

    return p


@case("a=u7", "y=u4 z=u4")
@entity
def decimal_digits(clk, a, y, z):
    """The outputs are the digits of a number."""

    @always(clk.posedge)
    def p():
        y.next = a // 10
        z.next = a - a // 10 * 10

    return p


@case("a=s5 b=s5", "y=u2")
@entity
def quotients_compared(a, b, y):
    """The conditions compare quotients of expressions."""

    @always_comb
    def p():
        if (a + b) // 5 == -1:
            y.next = 1
        elif a // 7 > b // -6:
            y.next = 2
        else:
            y.next = 0

    return p


idiom("division by a signal")


@case("a=u8 b=1..16", "y=u8")
@case("a=s8 b=1..16", "y=s8")
@case("a=s8 b=-8..0", "y=s9")
@case("a=u8 b=-8..0", "y=s9")
@entity
def divided_by_signal(a, b, y):
    """A signal that is never zero divides."""

    @always_comb
    def p():
        y.next = a // b

    return p


@case("b=1..16", "y=u7 z=s8")
@case("b=-9..0", "y=s8 z=u7")
@entity
def constant_divided(clk, b, y, z):
    """A signal divides constants."""

    @always(clk.posedge)
    def p():
        y.next = 100 // b
        z.next = -100 // b

    return p


@case("a=s5 b=s4", "y=s6 z=u2")
@entity
def guarded_division(a, b, y, z):
    """A condition keeps the divisor from zero."""

    @always_comb
    def p():
        y.next = 0
        z.next = 0
        if b != 0:
            y.next = a // b
            if a // b > 3:
                z.next = 1
            elif (a + 1) // b < -3:
                z.next = 2

    return p


idiom("rest of a power of two")


@case("a=u8", "y=u3 z=s4")
@case("a=s8", "y=u3 z=s4")
@entity
def rest_of_eight(a, y, z):
    """The rest has the sign of the divisor."""

    @always_comb
    def p():
        y.next = a % 8
        z.next = a % -8

    return p


@case("a=u4 b=u4", "y=u4 z=u4")
@entity
def rest_of_expression(clk, a, b, y, z):
    """Sums and differences wrap by their rest."""

    @always(clk.posedge)
    def p():
        y.next = (a + b) % 16
        z.next = (a - b) % 16

    return p


@case("a=s6 b=u3", "y=u3", n=8)
@entity
def rest_in_index(a, b, y, n):
    """A condition and an index take the rest by a parameter."""
    t = (3, 0, 5, 6, 2, 7, 1, 4)

    @always_comb
    def p():
        if a % n == n - 1:
            y.next = 6
        else:
            y.next = t[(b - a) % n]

    return p


idiom("rest of other constants")


@case("a=u8", "y=u4 z=s4")
@case("a=s8", "y=u4 z=s4")
@case("a=-3..11", "y=u4 z=s4")
@entity
def rest_of_ten(a, y, z):
    """The rest has the sign of the divisor."""

    @always_comb
    def p():
        y.next = a % 10
        z.next = a % -3

    return p


@case("", "y=0..5", n=5, step=3)
@case("", "y=0..7", n=7, step=-2)
@entity
def steps_around(clk, y, n, step):
    """A counter goes around in steps."""

    @always(clk.posedge)
    def p():
        y.next = (y + step) % n

    return p


@case("a=u5 b=s5", "y=u2")
@entity
def rests_compared(a, b, y):
    """The conditions compare rests."""

    @always_comb
    def p():
        if (a - b) % 3 == 2:
            y.next = 1
        elif b % 5 > a % 6:
            y.next = 2
        else:
            y.next = 0

    return p


idiom("rest of a signal")


@case("a=u8 b=1..16", "y=u4")
@case("a=s8 b=1..16", "y=u4")
@case("a=s8 b=-8..0", "y=-7..1")
@case("a=u8 b=-8..0", "y=-7..1")
@entity
def rest_of_signal(a, b, y):
    """A signal that is never zero divides."""

    @always_comb
    def p():
        y.next = a % b

    return p


@case("b=1..16", "y=u4 z=u4")
@entity
def rest_of_constant(clk, b, y, z):
    """A signal divides constants."""

    @always(clk.posedge)
    def p():
        y.next = 100 % b
        z.next = -100 % b

    return p


@case("a=s5 b=s4", "y=s4 z=u2")
@entity
def guarded_rest(a, b, y, z):
    """A condition keeps the divisor from zero."""

    @always_comb
    def p():
        y.next = a % b if b != 0 else 0
        z.next = 0
        if b > 0:
            if a % b == b - 1:
                z.next = 1
            elif (a - 1) % (b + 1) == 2:
                z.next = 2

    return p


idiom("unary minus")


@case("a=u8", "y=s9")
@case("a=s8", "y=s9")
@case("a=-3..11", "y=-10..4")
@case("a=b", "y=s2")
@case("a=s1", "y=u1")
@entity
def negated(a, y):
    """The output is the negated input."""

    @always_comb
    def p():
        y.next = -a

    return p


@case("a=u4 b=s4", "y=s7 z=s10")
@entity
def negated_expression(clk, a, b, y, z):
    """Expressions are negated, and negated values are operands."""

    @always(clk.posedge)
    def p():
        y.next = -(a + b) - -b
        z.next = -a * b - -a + (-b >> 1)

    return p


@case("a=u3 b=s4", "y=u4")
@entity
def negated_in_condition(a, b, y):
    """A condition and an index negate."""
    t = (5, 3, 9, 12, 0, 7, 2, 8)

    @always_comb
    def p():
        if -a == b:
            y.next = 1
        elif -b > a:
            y.next = 4
        else:
            y.next = t[-a & 7]

    return p


idiom("inverted vectors")


@case("a=u8", "y=u8")
@case("a=s8", "y=s8")
@case("a=u1", "y=u1")
@case("a=0..11", "y=u4")
@case("a=-3..11", "y=-11..3")
@entity
def inverted(a, y):
    """The output is the inverted input, within its width if it is unsigned."""

    @always_comb
    def p():
        y.next = ~a

    return p


@case("a=u8 b=s5", "y=u4 z=u9 w=s10")
@entity
def inverted_parts(clk, a, b, y, z, w):
    """Slices and concatenations are inverted, and inverted values are operands."""

    @always(clk.posedge)
    def p():
        y.next = ~a[6:2]
        z.next = ~concat(a[4:], b)
        w.next = ~a + ~b + ~a[3:]

    return p


@case("a=u4 b=u4", "y=u3")
@entity
def inverted_in_condition(a, b, y):
    """A condition and an index invert."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        if ~a == b:
            y.next = 1
        elif a & ~b > 3:
            y.next = 2
        else:
            y.next = t[~a[3:]]

    return p


idiom("inverted expressions")


@case("a=u4 b=u4", "y=s6")
@case("a=s4 b=u3", "y=s5")
@case("a=b b=b", "y=s3")
@entity
def inverted_sum(a, b, y):
    """An inverted sum is negative."""

    @always_comb
    def p():
        y.next = ~(a + b)

    return p


@case("a=u4 b=u4", "y=s5 z=u4")
@entity
def inverted_conjunction(clk, a, b, y, z):
    """An inverted conjunction is negative without a mask."""

    @always(clk.posedge)
    def p():
        y.next = ~(a & b)
        z.next = ~(a ^ b) & 15

    return p


@case("a=u4 b=u4", "y=u3")
@entity
def inverted_expression_in_condition(a, b, y):
    """A condition and an index invert an expression."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        if ~(a | b) < -12:
            y.next = 1
        else:
            y.next = t[~(a - b) & 7]

    return p


idiom("signed beside unsigned")


@case("a=u8 b=s8", "y=u3")
@case("a=u3 b=s8", "y=u3")
@case("a=b b=s2", "y=u3")
@case("a=-3..11 b=u4", "y=u3")
@entity
def order_of_two(a, b, y):
    """The output tells the order of two inputs."""

    @always_comb
    def p():
        y.next = 0
        if a < b:
            y.next = 1
        elif a == b:
            y.next = 2
        elif a - 1 <= b:
            y.next = 3

    return p


@case("a=u4 b=s4 c=s5", "y=b z=b w=b")
@entity
def orders_assigned(clk, a, b, c, y, z, w):
    """Comparisons of sums are assigned."""

    @always(clk.posedge)
    def p():
        y.next = a + b > c
        z.next = a + b != c + a
        w.next = b - a >= c - 3

    return p


@case("a=u4 b=s4", "y=s7")
@entity
def orders_as_numbers(a, b, y):
    """Comparisons are summands and choose an entry."""
    t = (-50, 40)

    @always_comb
    def p():
        y.next = (a > b) + (a >= -b) + t[b <= a]

    return p


idiom("comparison with constants")


@case("a=u4", "y=u3", n=7)
@case("a=s4", "y=u3", n=7)
@case("a=-3..11", "y=u3", n=12)
@entity
def against_constants(a, y, n):
    """Constants are negative, out of bounds, or expressions of a parameter."""

    @always_comb
    def p():
        y.next = 0
        if a == n - 1:
            y.next = 1
        elif a < -2:
            y.next = 2
        elif a == -1:
            y.next = 3
        elif a > n - 5:
            y.next = 4
        elif a != 20:
            y.next = 5

    return p


@case("a=u4 b=s4", "y=b z=b w=b", n=8)
@entity
def comparisons_assigned(clk, a, b, y, z, w, n):
    """Comparisons of expressions with constants are assigned."""

    @always(clk.posedge)
    def p():
        y.next = a > -1
        z.next = a - n >= -n // 2
        w.next = b * 2 <= 1 - n

    return p


@case("a=u4 b=s4", "y=u4")
@entity
def comparison_chooses(a, b, y):
    """A comparison with a negative constant chooses and counts."""

    @always_comb
    def p():
        y.next = a if b < -3 else (b >= -1) + (a <= 15) + (-5 < b)

    return p


idiom("constants beyond 2**63")


@case("a=u64", "y=u65", k=2**63)
@case("a=s65", "y=s66", k=-(2**63) - 1)
@case("a=u70", "y=u71", k=2**70 - 1)
@entity
def plus_large_constant(clk, a, y, k):
    """A constant of more than 63 bits is added."""

    @always(clk.posedge)
    def p():
        y.next = a + k

    return p


@case("a=u70", "y=u70 z=u3")
@entity
def masked_by_large(a, y, z):
    """Masks and limits have more than 63 bits."""

    @always_comb
    def p():
        y.next = (a & 0xFFFF_FFFF_0000_0000_F) ^ 0x1_0000_0000_0000_0000
        if a >= 2**69:
            z.next = 4
        elif a > 0x7FFF_FFFF_FFFF_FFFF:
            z.next = 2
        elif a < 5:
            z.next = 1
        else:
            z.next = 0

    return p


@case("a=s40 s=u1", "y=s75")
@entity
def large_factors(a, s, y):
    """Factors beyond 2**31 stand in a tuple and in the text."""
    t = (-(2**33), 2**33 + 1)

    @always_comb
    def p():
        y.next = a * t[s] if a < 0 else a * 0x1_2345_6789

    return p


idiom("conditional expressions")


@case("a=u8 b=s4 x=b", "y=s9")
@case("a=b b=u3 x=b", "y=u3")
@case("a=-3..11 b=20..30 x=b", "y=-3..30")
@entity
def chosen_of_two(a, b, x, y):
    """The branches have unequal bounds."""

    @always_comb
    def p():
        y.next = a if x else b

    return p


@case("a=u4 b=s4 x=b", "y=s11 z=u10")
@entity
def choice_in_expression(clk, a, b, x, y, z):
    """A choice is an operand, and branches are constants and choices."""

    @always(clk.posedge)
    def p():
        y.next = (a if x else b) * (300 >> 3) - (a if a > b else -1)
        z.next = a if x else (7 if b < 0 else 300 + b)

    return p


@case("a=u4 b=s4 x=b", "y=u4")
@entity
def choice_in_condition(a, b, x, y):
    """A choice stands in a condition and in an index."""
    t = (5, 3, 9, 12, 0, 7, 2, 8)

    @always_comb
    def p():
        if (a if x else b) > 3:
            y.next = 15
        else:
            y.next = t[0 if b < 0 else (b if x else a & 7)]

    return p


idiom("unlike targets")


@case("a=u4 b=s5 x=b", "y=u4 z=s3 w=b")
@case("a=-3..11 b=s4 x=b", "y=u4 z=s3 w=b")
@entity
def sign_of_target(a, b, x, y, z, w):
    """Conditions make numbers fit targets with other bounds, and bits take numbers."""

    @always_comb
    def p():
        y.next = a if a >= 0 else 0
        z.next = 3
        if -4 <= b and b < 4:
            z.next = b
        w.next = a & 1

    return p


@case("a=u4 b=s4", "y=u6 z=s9 w=b")
@entity
def bits_and_numbers(clk, a, b, y, z, w):
    """Vectors take truths, bits take rests, and numbers go to wider vectors."""

    @always(clk.posedge)
    def p():
        y.next = a > b
        z.next = b
        w.next = (a - b) % 2
        if b < 0:
            y.next = a[0]
            z.next = a[3]
        elif a[1]:
            z.next = True
            w.next = b >> 3

    return p


@case("a=u3 b=s4", "y=s9 z=b")
@entity
def targets_within(a, b, y, z):
    """Variables and inner signals take numbers of another sign."""
    inner = signal("s9")
    small = signal("u3")

    @always_comb
    def p():
        v = intbv(0, min=-9, max=12)
        v[:] = a
        v -= b >> 1
        inner.next = v
        small.next = b[3:]

    @always_comb
    def q():
        y.next = inner - small
        z.next = inner == small or small > -1 + a

    return p, q


idiom("constant slices")


@case("a=u8", "y=u4 z=u3 w=b")
@case("a=s8", "y=u4 z=u3 w=b")
@case("a=-100..90", "y=u4 z=u3 w=b")
@entity
def parts_of_vector(a, y, z, w):
    """The outputs are slices and a bit; a slice of a negative number is positive."""

    @always_comb
    def p():
        y.next = a[8:4]
        z.next = a[3:]
        w.next = a[7]

    return p


@case("a=u8", "y=u5 z=u9")
@case("a=s8", "y=s5 z=s9")
@entity
def upper_part(clk, a, y, z):
    """A slice without an upper end keeps the sign."""

    @always(clk.posedge)
    def p():
        y.next = a[:3]
        z.next = a[:1] + a[:]

    return p


@case("a=u8 b=u4", "y=u5 z=u3", n=4)
@entity
def slices_in_expression(a, b, y, z, n):
    """Slices are operands, conditions and indices."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        y.next = a[n + 2 : n] + a[n:] + a[7]
        if a[6:3] == b[3:]:
            z.next = a[0] + a[n - 1]
        elif b[n - 1] and not a[2]:
            z.next = t[b[3:]]
        else:
            z.next = a[3:1]

    return p


idiom("bit that a signal names")


@case("a=u8 s=u3", "y=b")
@case("a=s8 s=u3", "y=b")
@case("a=-3..11 s=0..5", "y=b")
@entity
def bit_by_signal(a, s, y):
    """A signal names the bit."""

    @always_comb
    def p():
        y.next = a[s]

    return p


@case("a=u8 s=u2 r=u2", "y=u4 z=u3")
@entity
def bit_by_expression(clk, a, s, r, y, z):
    """Expressions name bits, which are operands and conditions."""

    @always(clk.posedge)
    def p():
        y.next = a[s + r] + a[7 - s] + (a[s + 4] << 1)
        if a[s] and a[r] != a[s * 2]:
            z.next = 5
        else:
            z.next = a[s ^ r]

    return p


@case("a=u8 s=u4", "y=b")
@case("a=s8 s=u4", "y=b")
@entity
def bit_beyond_width(a, s, y):
    """Beyond the width there are zeros, or copies of the sign."""

    @always_comb
    def p():
        y.next = a[s]

    return p


idiom("slice that a signal names")


@case("a=u8 s=u2", "y=u4")
@case("a=s8 s=u2", "y=u4")
@entity
def slice_by_signal(a, s, y):
    """A signal names the lower end of a slice of four."""

    @always_comb
    def p():
        y.next = a[s + 4 : s]

    return p


@case("a=u8 s=u3", "y=u8")
@entity
def low_bits_by_signal(clk, a, s, y):
    """A signal names how many low bits are taken."""

    @always(clk.posedge)
    def p():
        y.next = a[s + 1 :]

    return p


@case("a=u16 s=u2", "y=u4 z=b")
@entity
def digit_by_signal(a, s, y, z):
    """A signal names a digit of four bits, in a condition, too."""

    @always_comb
    def p():
        y.next = a[s * 4 + 4 : s * 4]
        z.next = 0
        if a[s * 4 + 4 : s * 4] > 9:
            z.next = 1

    return p


idiom("variable of bits")


@case("a=u8 b=u4", "y=u8 z=b")
@case("a=s8 b=u4", "y=u8 z=b")
@entity
def parts_of_variable(a, b, y, z):
    """Slices and bits of a variable are read and written."""

    @always_comb
    def p():
        v = intbv(0)[8:]
        v[:] = (a + b) & 0xFF
        y.next = v[4:] + v[7]
        z.next = v[5]
        if v[8:6] == 2:
            y.next = v[6:1]

    return p


@case("a=u8 s=u3 x=b", "y=u8")
@entity
def written_by_signal(clk, a, s, x, y):
    """A signal names the bit of a variable that is written."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        v[s] = x
        v[4:2] = a[8:6]
        v[0] = not v[s]
        y.next = v

    return p


@case("a=-3..11 b=-3..11", "y=s6 z=b")
@entity
def variable_with_bounds(a, b, y, z):
    """A variable has bounds of its own."""

    @always_comb
    def p():
        v = intbv(0, min=-6, max=22)
        v[:] = a + b
        y.next = v - 1
        z.next = v[2] ^ v[5] if v < 0 else v[3]

    return p


idiom("slice of an expression")


@case("a=u8 b=u8", "y=u8 z=u4")
@case("a=s8 b=s6", "y=u8 z=u4")
@case("a=-3..11 b=s6", "y=u8 z=u4")
@entity
def low_part_of_expression(a, b, y, z):
    """The low bits of expressions are taken."""

    @always_comb
    def p():
        y.next = intbv(a + b)[8:]
        z.next = intbv(a - b)[4:]

    return p


@case("a=u8 b=u8", "y=u8 z=u4")
@case("a=s8 b=u8", "y=u8 z=u4")
@entity
def middle_of_expression(clk, a, b, y, z):
    """Middle bits of expressions are taken."""

    @always(clk.posedge)
    def p():
        y.next = intbv(a * b)[12:4]
        z.next = intbv(a + b + 1)[8:4]

    return p


@case("a=u8 b=u8", "y=u3 z=b")
@entity
def slice_of_expression_in_condition(a, b, y, z):
    """A slice of an expression stands in a condition and in an index."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        if intbv(a + b)[9:7] == 1:
            y.next = 2
        else:
            y.next = t[intbv(a - b)[6:3]]
        z.next = intbv(a + b)[8]

    return p


idiom("parts of parts")


@case("a=u8", "y=u3 z=b")
@case("a=s8", "y=u3 z=b")
@entity
def slice_of_slice(a, y, z):
    """Slices and bits of slices are taken."""

    @always_comb
    def p():
        y.next = a[7:2][4:1]
        z.next = a[6:1][3]

    return p


@case("a=u8 b=s4 s=u2", "y=u4 z=b")
@entity
def slice_of_shifted(clk, a, b, s, y, z):
    """Parts of shifted, masked and joined vectors are taken."""

    @always(clk.posedge)
    def p():
        y.next = (a >> s)[5:1]
        z.next = (a ^ b)[s] or concat(a[2:], b)[s + 1]

    return p


@case("a=u8 b=u8", "y=u3")
@entity
def slice_of_slice_in_condition(a, b, y):
    """Parts of parts are compared and are an index."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        if a[8:3][2:] == b[5:][5:3]:
            y.next = 1
        elif (a & b)[6:3] > 4:
            y.next = ~a[6:2][3:]
        else:
            y.next = t[(a | b)[7:1][4:1]]

    return p


idiom("signed view")


@case("a=u8", "y=s8 z=s4")
@case("a=s8", "y=s8 z=s4")
@entity
def seen_as_signed(a, y, z):
    """The bits of a vector and of a slice are taken as signed."""

    @always_comb
    def p():
        y.next = a.signed()
        z.next = a[6:2].signed()

    return p


@case("a=u8 b=u4", "y=s9 z=u2")
@entity
def signed_in_expression(clk, a, b, y, z):
    """Signed views are operands and are compared."""

    @always(clk.posedge)
    def p():
        y.next = a.signed() + b.signed() * a[2:].signed()
        z.next = 0
        if a.signed() < b:
            z.next = 1
        elif a[4:].signed() == -1:
            z.next = 2

    return p


@case("a=u4 b=u4", "y=s8 z=s5")
@entity
def signed_expression(a, b, y, z):
    """The low bits of an expression are taken as signed."""

    @always_comb
    def p():
        y.next = concat(a, b).signed()
        z.next = intbv(a + b)[5:].signed()

    return p


idiom("modbv")


@case("a=u8", "y=m8")
@case("a=s5", "y=m-16..16")
@case("a=u3", "y=m4@5")
@entity
def wrapping_sum(clk, a, y):
    """A sum wraps in its signal."""

    @always(clk.posedge)
    def p():
        y.next = y + a

    return p


@case("a=u8 b=u8", "y=u8 z=s4")
@entity
def wrapping_variables(a, b, y, z):
    """Variables wrap, signed ones too."""

    @always_comb
    def p():
        v = modbv(0)[8:]
        v[:] = a * b
        v += 200
        y.next = v
        w = modbv(0, min=-8, max=8)
        w[:] = a - b
        z.next = w

    return p


@case("a=m4", "y=u5 z=b")
@entity
def wrapping_inputs(a, y, z):
    """A sum of a modbv does not wrap by itself."""

    @always_comb
    def p():
        y.next = a + 1
        z.next = a + 1 == 16 or a - 1 < 0

    return p


idiom("modbv with odd bounds")


@case("a=0..5", "y=m0..10")
@case("a=0..5", "y=m-3..11")
@case("a=s4", "y=m-3..11")
@entity
def wraps_in_bounds(clk, a, y):
    """A sum wraps in bounds that are no power of two."""

    @always(clk.posedge)
    def p():
        y.next = y + a

    return p


idiom("concat")


@case("a=u8 b=u4 x=b", "y=u8 z=u9")
@case("a=u8 b=s4 x=b", "y=u8 z=u9")
@entity
def concat_of_parts(a, b, x, y, z):
    """Slices, bits, strings and bools are put together."""

    @always_comb
    def p():
        y.next = concat(a[4:], b)
        z.next = concat(x, a[7:4], "010", True, a[0])

    return p


@case("a=u4 b=s4", "y=u9 z=u10")
@entity
def concat_of_constants(clk, a, b, y, z):
    """Constant vectors and strings stand in front and behind."""
    k = intbv(5)[3:]

    @always(clk.posedge)
    def p():
        y.next = concat("10", a, k)
        z.next = concat(False, intbv(2)[3:], b, not a[1], a > b)

    return p


@case("a=u4 b=u4 x=b", "y=u4 z=u9")
@entity
def concat_in_expression(a, b, x, y, z):
    """A concatenation is compared, added, sliced, and is an index."""
    t = (5, 3, 9, 12, 0, 7, 2, 8)

    @always_comb
    def p():
        z.next = concat(a, b) + concat(b, "0011")
        if concat(a, x) > 20:
            y.next = concat(a, b)[6:2]
        else:
            y.next = t[concat(x, b[2:])]

    return p


idiom("odd bounds")


@case("a=-3..11 b=-3..11", "y=-6..21 z=-13..14")
@case("a=5..7 b=-100..-90", "y=-95..-84 z=95..107")
@case("a=-1..1 b=-5..3", "y=-6..3 z=-3..6")
@entity
def sum_and_difference(a, b, y, z):
    """The bounds of the outputs are those of the values."""

    @always_comb
    def p():
        y.next = a + b
        z.next = a - b

    return p


@case("x=b", "y=-3..11 z=-3..11")
@entity
def counts_in_bounds(clk, x, y, z):
    """Counters go up and down within odd bounds."""

    @always(clk.posedge)
    def p():
        if y == 10:
            y.next = -3
        else:
            y.next = y + 1
        if x:
            z.next = z + 1 if z < 10 else z
        elif z > -3:
            z.next = z - 1

    return p


@case("a=-3..11 b=2..9", "y=u6 z=u5")
@entity
def bounds_in_index(a, b, y, z):
    """A signal with odd bounds chooses an entry and names a bit."""
    t = (5, 3, 9, 12, 0, 7, 2, 8, 41, 33, 20, 19, 17, 55)

    @always_comb
    def p():
        y.next = t[a + 3]
        z.next = a[b - 2] if b < 7 else a[5:]

    return p


idiom("index by an expression")


@case("a=u2 b=u2", "y=u4 z=u4")
@entity
def tuple_by_expression(a, b, y, z):
    """Sums, differences and products choose an entry."""
    t = (5, 3, 9, 12, 0, 7, 2, 8, 15, 1)

    @always_comb
    def p():
        y.next = t[a + b] ^ t[a * b]
        z.next = t[a - b + 3]

    return p


@case("a=u3 b=u3 d=u5", "y=u5")
@case("a=u3 b=u3 d=u5", "y=-3..32")
@entity
def memory_by_expression(clk, a, b, d, y):
    """Expressions choose the word that is written and the one that is read."""
    words = [Signal(intbv(i)[5:]) for i in range(8)]

    @always(clk.posedge)
    def p():
        words[(a + b) % 8].next = d
        y.next = words[7 - a]

    return p


@case("a=u3 b=u3", "y=u3")
@entity
def index_of_index(a, b, y):
    """An entry chooses an entry."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)
    words = [Signal(intbv(7 - i)[3:]) for i in range(8)]

    @always_comb
    def p():
        y.next = t[t[a] ^ b] if t[a] > b else words[t[b]]

    return p


idiom("negative index")


@case("s=u2", "y=u4 z=u4")
@entity
def index_below_zero(s, y, z):
    """An index below zero counts from the end."""
    t = (5, 3, 9, 12)

    @always_comb
    def p():
        y.next = t[s - 1]
        z.next = t[-1] ^ t[-1 - s]

    return p


@case("s=s3", "y=u4")
@entity
def signed_index(clk, s, y):
    """A signed index counts from both ends."""
    t = (5, 3, 9, 12)

    @always(clk.posedge)
    def p():
        y.next = t[s]

    return p


@case("s=u2 d=u4", "y=u4 z=u4")
@entity
def memory_below_zero(clk, s, d, y, z):
    """An index of a memory below zero counts from the end."""
    words = [Signal(intbv(i)[4:]) for i in range(4)]

    @always(clk.posedge)
    def p():
        words[s - 1].next = d
        y.next = words[-1]
        z.next = words[s - 2]

    return p


idiom("width one")


@case("a=u1 b=u1", "y=u1 z=u2 w=b")
@case("a=u1 b=b", "y=u1 z=u2 w=b")
@case("a=b b=u1", "y=u1 z=u2 w=b")
@entity
def vectors_of_one_bit(a, b, y, z, w):
    """Vectors of one bit are operands beside bits."""

    @always_comb
    def p():
        y.next = a ^ b
        z.next = a + b
        w.next = a == b

    return p


@case("a=u1 b=s1 c=u4", "y=u1 z=s5")
@entity
def one_bit_in_condition(clk, a, b, c, y, z):
    """Vectors of one bit are conditions, indices and values."""
    t = (9, -6)

    @always(clk.posedge)
    def p():
        y.next = not a
        if a and not b:
            z.next = t[a]
        elif b < 0:
            z.next = b - c[1:]
        else:
            z.next = t[c[a]]

    return p


@case("a=b b=u1", "y=b z=u1 w=u1")
@entity
def bits_and_vectors(a, b, y, z, w):
    """Bits are assigned to vectors of one bit, and the other way."""

    @always_comb
    def p():
        y.next = b
        z.next = a
        w.next = a and b[0]

    return p


idiom("width 70")


@case("a=u70 b=u70", "y=u71 z=s71")
@case("a=s70 b=s70", "y=s72 z=s71")
@entity
def wide_sum(a, b, y, z):
    """Sums and differences have 70 bits and more."""

    @always_comb
    def p():
        y.next = a + b
        z.next = a - b

    return p


@case("a=u70 b=u4 s=u7", "y=u74 z=u70 w=b")
@entity
def wide_shift(clk, a, b, s, y, z, w):
    """Wide vectors are multiplied, shifted and indexed."""

    @always(clk.posedge)
    def p():
        y.next = a * b
        z.next = (a >> s) | (b << 66)
        w.next = a[s] if s < 70 else a[69]

    return p


@case("a=u70 b=s70", "y=u3 z=u70")
@entity
def wide_in_condition(a, b, y, z):
    """Wide vectors are compared, sliced and negated."""

    @always_comb
    def p():
        if a == b:
            y.next = 1
        elif -b > a:
            y.next = 2
        elif a[70:35] < a[35:]:
            y.next = 3
        else:
            y.next = a[70:67]
        z.next = ~a if b < 0 else concat(a[35:], a[70:35])

    return p


# What Python means.

idiom("bool and int")


@case("a=u4 b=s4 x=b", "y=u6 z=b")
@case("a=s3 b=u5 x=b", "y=s6 z=b")
@entity
def conversions(a, b, x, y, z):
    """Numbers of bits, and truth of numbers."""

    @always_comb
    def p():
        y.next = int(a) + int(x) + int(a[2])
        z.next = bool(a) and not bool(b - 1)

    return p


@case("a=u4 b=u4 x=b", "y=u5 z=u2")
@entity
def comparisons_as_numbers(clk, a, b, x, y, z):
    """Comparisons are numbers."""

    @always(clk.posedge)
    def p():
        y.next = (int(x) << 3) + int(a > b) * 5
        z.next = (a > b) + (a == 3) + bool(a[3:1])

    return p


@case("a=u4 b=u4", "y=u4 z=b")
@entity
def conversions_in_condition(a, b, y, z):
    """Converted values are compared and choose an entry."""
    t = (6, 11, 3)

    @always_comb
    def p():
        z.next = bool(a & b) != bool(a | b)
        if bool(a) == bool(b):
            y.next = t[int(a[0]) + int(b[0])]
        else:
            y.next = t[bool(a ^ 7)]

    return p


idiom("numbers as conditions")


@case("a=u4 b=u4", "y=u3")
@case("a=s4 b=u3", "y=u3")
@case("a=b b=s2", "y=u3")
@entity
def numbers_decide(a, b, y):
    """Vectors, sums, differences and masks are conditions."""

    @always_comb
    def p():
        if not a:
            y.next = 1
        elif a - b:
            y.next = 2
        elif a & 4:
            y.next = 3
        elif a + b:
            y.next = 4
        else:
            y.next = 5

    return p


@case("a=u4 b=s4", "y=b z=u3 w=b")
@entity
def numbers_negated(clk, a, b, y, z, w):
    """Vectors and expressions are negated and choose."""

    @always(clk.posedge)
    def p():
        y.next = not a
        z.next = 5 if a[3:1] else (3 if not (a + b) else 6)
        w.next = not (a * b) or not a[0]

    return p


@case("a=u4 b=s4", "y=u3")
@entity
def numbers_joined(a, b, y):
    """Vectors are joined in conditions."""

    @always_comb
    def p():
        if a and b:
            y.next = 1
        elif a or b + 1:
            y.next = 2
        elif not (a or b):
            y.next = 3
        else:
            y.next = 4

    return p


idiom("and, or and not")


@case("a=u4 b=s4 x=b w=b", "y=b z=b")
@case("a=s3 b=u3 x=b w=b", "y=b z=b")
@entity
def joined_conditions(a, b, x, w, y, z):
    """Bits and comparisons are joined."""

    @always_comb
    def p():
        y.next = (x and w) or (not x and a > b)
        z.next = not (a == b or x) and (w or b > 1)

    return p


@case("a=u4 x=b w=b", "y=b z=u3")
@entity
def joined_bits(clk, a, x, w, y, z):
    """Bits of vectors are joined, and what comes out is a number."""

    @always(clk.posedge)
    def p():
        y.next = a[0] and (a[1] or not a[2]) and x
        z.next = (x and w) + (x or w) + (not x)

    return p


@case("a=u4 b=u4 x=b", "y=u3")
@entity
def joined_in_index(a, b, x, y):
    """Joined comparisons choose an entry and decide."""
    t = (5, 2)

    @always_comb
    def p():
        if (x and a < b) or (not x and a[3] != b[3]):
            y.next = t[a[0] and b[0]]
        elif not (a[0] and not b[0]):
            y.next = 7
        else:
            y.next = t[not x]

    return p


idiom("and, or of vectors")


@case("a=u4 b=s4", "y=s5 z=s5")
@case("a=s3 b=u4", "y=s5 z=s5")
@entity
def operand_that_decides(a, b, y, z):
    """The output is the operand that decides, and no truth."""

    @always_comb
    def p():
        y.next = a and b
        z.next = a or b

    return p


@case("a=u4 b=u4 x=b", "y=u6 z=u4")
@entity
def operands_in_expression(clk, a, b, x, y, z):
    """The operand that decides is added, or a bit stands for a number."""

    @always(clk.posedge)
    def p():
        y.next = (a and b) + (a or 9) + 3
        z.next = (x and a) or b

    return p


@case("a=u3 b=u3", "y=u3")
@entity
def operand_in_condition(a, b, y):
    """The operand that decides is compared and is an index."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        if (a or b) > 4:
            y.next = t[a and b]
        else:
            y.next = a[2:] or b

    return p


idiom("operators on bits")


@case("a=u4 b=s4 x=b w=b", "y=b z=b")
@case("a=s3 b=u3 x=b w=b", "y=b z=b")
@entity
def bits_by_operators(a, b, x, w, y, z):
    """Operators join bits and comparisons."""

    @always_comb
    def p():
        y.next = x & (a > b) | (w ^ x)
        z.next = (a == b) ^ (a < 2) ^ bool(b)

    return p


@case("a=u4 x=b w=b", "y=u4 z=u3")
@entity
def bits_beside_vectors(clk, a, x, w, y, z):
    """Operators join bits with vectors, bits of vectors and constants."""

    @always(clk.posedge)
    def p():
        y.next = (a ^ x) & ~a[3:] | (w << 2)
        z.next = (x | 4) ^ a[1] ^ (w & a[2])

    return p


@case("a=u4 b=u4 x=b", "y=u3")
@entity
def operators_bind_tightly(a, b, x, y):
    """Operators bind more tightly than comparisons, as they do in Python."""
    t = (6, 3)

    @always_comb
    def p():
        if a & 3 == b:
            y.next = 1
        elif x ^ a[0] == b[0] | 0:
            y.next = t[x & a[1]]
        elif a | 8 > b + 6 and not x ^ b[1]:
            y.next = 4
        else:
            y.next = 5

    return p


idiom("chained comparisons")


@case("a=u4 b=u4 c=u4", "y=b z=b")
@case("a=u4 b=s4 c=u3", "y=b z=b")
@entity
def chains_assigned(a, b, c, y, z):
    """Chains of comparisons are assigned."""

    @always_comb
    def p():
        y.next = a < b < c
        z.next = 1 < a <= 9 != b

    return p


@case("a=s4 b=u4", "y=u3", n=6)
@case("a=-3..11 b=u4", "y=u3", n=3)
@entity
def chains_decide(clk, a, b, y, n):
    """Chains of comparisons decide."""

    @always(clk.posedge)
    def p():
        if -3 <= a < n - 1:
            y.next = 1
        elif 0 <= a + b <= 20 - n:
            y.next = 2
        elif a == b == 7:
            y.next = 3
        else:
            y.next = 4

    return p


@case("a=u4 b=u4 c=u4", "y=u4 z=u2")
@entity
def chains_choose(a, b, c, y, z):
    """Chains of comparisons choose an entry and are summands."""
    t = (3, 14)

    @always_comb
    def p():
        y.next = a if b < a < c else t[a <= c < b]
        z.next = (a < b < c) + (0 < c < 9) + (a > c > b)

    return p


idiom("in and not in")


@case("a=u4 b=u4", "y=b z=b")
@case("a=s4 b=u3", "y=b z=b")
@case("a=-3..11 b=s5", "y=b z=b")
@entity
def membership_assigned(a, b, y, z):
    """Membership in tuples of constants is assigned."""

    @always_comb
    def p():
        y.next = a in (1, -2, 5)
        z.next = a + b not in (3, 5, 12, -1)

    return p


@case("a=u4 b=u4", "y=u3", n=6)
@entity
def membership_decides(clk, a, b, y, n):
    """Membership in a named tuple, and of a slice, decides."""
    odd = (1, 3, 5, 7, 9, 11, 13, 15)

    @always(clk.posedge)
    def p():
        if a in odd and b not in odd:
            y.next = 1
        elif a[3:] not in (0, 7, n - 2):
            y.next = 2
        elif b in (n, n + 1):
            y.next = 3
        else:
            y.next = 4

    return p


@case("a=u3 b=u3 x=b", "y=u4 z=u2")
@entity
def membership_chooses(a, b, x, y, z):
    """Membership chooses an entry and is a summand."""
    t = (2, 13)

    @always_comb
    def p():
        y.next = t[a in (2, 6)] if x in (False,) else t[a * b in (0, 12)]
        z.next = (a in (1, 2)) + (b not in (1, 2)) + (a not in (2, 3))

    return p


idiom("max and min")


@case("a=u4 b=u4", "y=u4 z=u4")
@case("a=u4 b=s4", "y=u4 z=s4")
@case("a=-3..11 b=-9..4", "y=-3..11 z=-9..4")
@entity
def larger_and_smaller(a, b, y, z):
    """The outputs are the larger and the smaller one."""

    @always_comb
    def p():
        y.next = max(a, b)
        z.next = min(a, b)

    return p


@case("a=u4 b=s4 c=u3", "y=s7 z=u5")
@entity
def extremes_of_expressions(clk, a, b, c, y, z):
    """Expressions and constants are compared, and extremes are operands."""

    @always(clk.posedge)
    def p():
        y.next = max(a, -b, c + 3) - min(a + c, 9) * 2
        z.next = min(max(a - b, 0), 17) + max(c, 5)

    return p


@case("a=u3 b=u3", "y=u3")
@entity
def extremes_in_index(a, b, y):
    """Extremes are compared and are indices."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        if max(a, b) - min(a, b) > 3:
            y.next = t[min(a + b, 7)]
        else:
            y.next = t[max(a, b)]

    return p


idiom("abs")


@case("a=s8 b=u8", "y=u8 z=u9")
@case("a=-3..11 b=s4", "y=u4 z=u9")
@entity
def magnitudes(a, b, y, z):
    """The outputs are magnitudes of an input and of a difference."""

    @always_comb
    def p():
        y.next = abs(a)
        z.next = abs(a - b)

    return p


@case("a=s4 b=s4", "y=s7 z=u7")
@entity
def magnitudes_in_expression(clk, a, b, y, z):
    """Magnitudes are operands."""

    @always(clk.posedge)
    def p():
        y.next = abs(a) - abs(b) * 3
        z.next = abs(a * b) + abs(-5)

    return p


@case("a=s4 b=u4", "y=u4")
@entity
def magnitudes_compared(a, b, y):
    """Magnitudes are compared and are indices."""
    t = (5, 3, 9, 12, 0, 7, 2, 8, 15)

    @always_comb
    def p():
        if abs(a + b) >= 12:
            y.next = abs(a)
        else:
            y.next = t[abs(a)]

    return p


idiom("len")


@case("a=u5 b=u3", "y=u6 z=u5")
@case("a=s6 b=s4", "y=s8 z=u5")
@entity
def lengths_as_numbers(a, b, y, z):
    """Lengths are numbers."""

    @always_comb
    def p():
        y.next = a + len(b)
        z.next = len(a) * len(b[2:]) - len(concat("01", b)) + b[0]

    return p


@case("a=u5", "y=u5 z=b")
@case("a=u9", "y=u9 z=b")
@entity
def lengths_as_bounds(clk, a, y, z):
    """Lengths are bounds of loops and of slices."""

    @always(clk.posedge)
    def p():
        for i in range(len(a)):
            y.next[i] = a[len(a) - 1 - i]
        z.next = a[len(a) - 1]

    return p


@case("a=u5 b=u3", "y=u3")
@entity
def lengths_compared(a, b, y):
    """Lengths stand in conditions and in indices."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        v = intbv(0)[3:]
        v[:] = a[len(v) :]
        if a > len(a) * 3:
            y.next = v
        elif a >= 1 << len(b):
            y.next = 6
        else:
            y.next = t[len(b) - a[2:]]

    return p


idiom("constant vectors")

CONSTANT = intbv(9)[4:]


@case("a=u4", "y=u5 z=u4 w=u4")
@case("a=s4", "y=s6 z=u4 w=u4")
@entity
def constant_operand(a, y, z, w):
    """Constant vectors of the block and of the module are operands."""
    k = intbv(6)[4:]

    @always_comb
    def p():
        y.next = a + CONSTANT
        z.next = (a ^ k) & 15
        w.next = ~k & a

    return p


@case("a=u4", "y=u7 z=b")
@entity
def parts_of_constant(clk, a, y, z):
    """Slices and bits of a constant vector, and of one with a sign."""
    k = intbv(0xB5)[8:]
    m = intbv(-6, min=-8, max=8)

    @always(clk.posedge)
    def p():
        y.next = k[7:3] + a + len(k) - m
        z.next = k[a[3:]] and m[3]

    return p


@case("a=u4", "y=u5")
@entity
def constant_decides(a, y):
    """Constant vectors are compared and shift."""
    k = intbv(3)[3:]

    @always_comb
    def p():
        if a == CONSTANT:
            y.next = 31
        elif a - k < 0:
            y.next = a << k - 1
        else:
            y.next = a >> k

    return p


idiom("constant tuples")


@case("a=u4 s=u2", "y=s9", t=(3, -7, 0, 12))
@case("a=s4 s=0..3", "y=s9", t=(-8, 15, 6))
@entity
def signed_entries(a, s, y, t):
    """Entries with signs are added, multiplied and negated."""

    @always_comb
    def p():
        y.next = t[s] * a - t[s] + (-t[s] >> 1)

    return p


@case("a=u4 s=u2", "y=u4 z=s4", t=(1, 3, 7, 15), u=(-1, -2, -4, -8))
@entity
def masks_of_tuple(clk, a, s, y, z, t, u):
    """Entries are masks, and are masked."""

    @always(clk.posedge)
    def p():
        y.next = a & t[s] & t[(s + 1) & 3]
        z.next = u[s] | (t[s] & 6)

    return p


@case(
    "a=u4 s=u2 r=u1",
    "y=u3 z=b",
    t=((1, 9), (-3, 4), (15, 0), (7, 8)),
    bits=(True, False, True, True),
)
@entity
def tuple_of_tuples(a, s, r, y, z, t, bits):
    """Entries of tuples of tuples decide, and entries are truths."""

    @always_comb
    def p():
        z.next = bits[s] and a[s]
        y.next = 0
        for i in range(4):
            if i == s:
                if t[i][0] < a:
                    y.next = 1 + i
                elif a == t[i][1]:
                    y.next = 6
        if t[3][1] + r == a:
            y.next = 7

    return p


idiom("expressions as bounds of loops")


@case("a=u8", "y=u8", n=8)
@case("a=u6", "y=u6", n=6)
@entity
def bounds_of_parameter(a, y, n):
    """Neighbours are combined by a loop up to the parameter less one."""

    @always_comb
    def p():
        for i in range(n - 1):
            y.next[i] = a[i] ^ a[i + 1]
        y.next[n - 1] = a[n - 1]

    return p


@case("a=u8", "y=u6", n=3)
@case("a=s8", "y=u6", n=2)
@entity
def loop_from_expression(clk, a, y, n):
    """The bounds and the step of a loop are expressions."""

    @always(clk.posedge)
    def p():
        total = 0
        for i in range(n // 2, 2 * n, 1):
            total += a[i + 1]
        for i in range(len(a) - 1, n, -n):
            total += a[i] * i
        y.next = total

    return p


@case("a=u4", "y=u4", n=4)
@entity
def label_in_loop(a, y, n):
    """Labels within a loop depend on its variable."""

    @always_comb
    def p():
        y.next = 0
        for i in range(1, n):
            if a == i * n - 1:
                y.next = i
            elif a == n + i:
                y.next = 15 - i

    return p


idiom("members of enumerations")


@case("x=b", "y=u3")
@entity
def keywords_as_states(clk, x, y):
    """The states are named like keywords and with underscores."""
    states = enum("begin", "in_", "_x", "signal", "End")
    state = Signal(states.begin)

    @always(clk.posedge)
    def p():
        if state == states.begin:
            if x:
                state.next = states.in_
            y.next = 1
        elif state == states.in_:
            state.next = states._x
            y.next = 2
        elif state == states._x:
            state.next = states.signal if x else states.begin
            y.next = 3
        elif state == states.signal:
            state.next = states.End
            y.next = 4
        else:
            state.next = states.begin
            y.next = 5

    return p


@case("x=b reset=sync+", "y=u2 z=b")
@case("x=b reset=async-", "y=u2 z=b")
@entity
def enumeration_with_code(clk, reset, x, y, z):
    """The states have a code with one bit each; outputs follow from the state."""
    states = enum("wire", "process", "_", "a__b", encoding="one_hot")
    state = Signal(states.wire)

    @always_seq(clk.posedge, reset=reset)
    def step():
        if state == states.wire:
            state.next = states.process
        elif state in (states.process, states._):
            if x:
                state.next = states.a__b
            else:
                state.next = states._
        else:
            state.next = states.wire

    @always_comb
    def show():
        z.next = state != states.wire
        if state == states.process:
            y.next = 1
        elif state == states._:
            y.next = 2
        elif state == states.a__b:
            y.next = 3
        else:
            y.next = 0

    return step, show


@case("x=b", "y=u2")
@entity
def states_in_match(clk, x, y):
    """A match statement names the states, a variable holds the next one."""
    states = enum("type", "port_", "loop", "__z")
    state = Signal(states.loop)

    @always(clk.posedge)
    def p():
        following = states.loop
        match state:
            case states.loop:
                y.next = 0
                following = states.type
            case states.type | states.port_:
                y.next = 1
                if x:
                    following = states.__z
                else:
                    following = states.port_
            case _:
                y.next = 3
        state.next = following

    return p


idiom("helper with several returns")


@case("a=u5 b=s5", "y=u4 z=s5")
@entity
def returns_everywhere(a, b, y, z):
    """A helper returns from several places, and expressions call it."""

    def level(v):
        if v < 0:
            return 0
        if v > 15:
            return 15
        return v

    @always_comb
    def p():
        y.next = level(a + b)
        z.next = level(b) - level(-b)

    return p


@case("a=u4 b=u4", "y=b z=s5")
@entity
def returns_of_many_kinds(clk, a, b, y, z):
    """Helpers return truths, comparisons and numbers with signs."""

    def near(v, w):
        if v == w:
            return True
        return abs(v - w) < 3

    def order(v, w):
        if v > w:
            return 7
        elif v < w:
            return -9
        else:
            return 0

    @always(clk.posedge)
    def p():
        y.next = near(a, b) and not near(a, 3)
        z.next = order(a + 1, b) + near(a, b) * 2

    return p


@case("a=u3 b=u3", "y=u3")
@entity
def returns_in_index(a, b, y):
    """A helper decides, is an index, and has defaults."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    def middle(v, low=2, high=5):
        if v < low:
            return low
        elif v <= high:
            return v
        return high

    @always_comb
    def p():
        if middle(a + b, high=9) > 6:
            y.next = t[middle(a)]
        else:
            y.next = t[middle(b - a, 0, 3)]

    return p


idiom("return within a loop")


@case("a=u8", "y=u4")
@case("a=s8", "y=u4")
@entity
def first_one(a, y):
    """A helper returns the first bit that is set."""

    def first(v):
        for i in range(8):
            if v[i]:
                return i
        return 8

    @always_comb
    def p():
        y.next = first(a)

    return p


@case("a=u8 b=u8", "y=s5")
@entity
def first_difference(clk, a, b, y):
    """A helper returns the highest place where two vectors differ."""
    middle = intbv(0x40)[8:]

    def place(v, w):
        for i in range(7, -1, -1):
            if v[i] != w[i]:
                return i
        return -1

    @always(clk.posedge)
    def p():
        y.next = place(a, b) - place(b, middle)

    return p


@case("a=u6", "y=u3 z=b")
@entity
def first_in_tuple(a, y, z):
    """A helper returns the first threshold, in a condition, too."""
    steps = (2, 5, 11, 23, 47)

    def level(v):
        for i in range(len(steps)):
            if v < steps[i]:
                return i
        return len(steps)

    @always_comb
    def p():
        y.next = level(a + 1)
        z.next = 0
        if level(a) > 3 or level(a * 2) == 1:
            z.next = 1

    return p


idiom("helper with variables")


@case("a=u8", "y=u8")
@entity
def swapped_nibbles(a, y):
    """A helper fills a vector by slices."""

    def swapped(v):
        r = intbv(0)[8:]
        r[8:4] = v[4:]
        r[4:] = v[8:4]
        return r

    @always_comb
    def p():
        y.next = swapped(a)

    return p


@case("a=u6 b=u6", "y=u4 z=u6")
@entity
def counted_and_mirrored(clk, a, b, y, z):
    """Helpers have a counter and a vector whose width is that of the argument."""

    def ones(v):
        n = 0
        for i in range(6):
            if v[i]:
                n += 1
        return n

    def mirrored(v):
        r = intbv(0)[6:]
        for i in range(6):
            r[i] = v[5 - i]
        return r

    @always(clk.posedge)
    def p():
        y.next = ones(a) + ones(b & 0x15)
        z.next = mirrored(a) ^ mirrored(mirrored(b))

    return p


@case("a=s6 b=u6", "y=s8 z=b")
@entity
def variables_of_helper(a, b, y, z):
    """A helper rebinds a variable and wraps another."""

    def mixed(v, w):
        x = v - w
        if x < 0:
            x = -x
        r = modbv(0, min=-16, max=16)
        r[:] = x * 3
        return r + 1

    @always_comb
    def p():
        y.next = mixed(a, b)
        z.next = 0
        if mixed(b, a) > 0 or mixed(a + 1, b) == 4:
            z.next = 1

    return p


idiom("nested helpers")


def clamp(value: Any, low: Any, high: Any) -> Any:
    """Keep a value within bounds."""
    if value < low:
        return low
    if value > high:
        return high
    return value


def halved(value: Any) -> Any:
    """Halve a value that is kept within bounds."""
    return clamp(value, -20, 20) // 2


@case("a=s6 b=s6", "y=s8")
@entity
def helpers_of_module(a, b, y):
    """Helpers of the module call each other."""

    @always_comb
    def p():
        y.next = halved(a + b) + clamp(a, 0, b if b > 3 else 3) - clamp(halved(b), -2, 2)

    return p


@case("a=u4 b=u4 c=u4", "y=u4 z=u5")
@entity
def helpers_of_block(clk, a, b, c, y, z):
    """Helpers of the block call each other, and are called with each other's results."""

    def larger(v, w):
        return v if v > w else w

    def largest(u, v, w):
        return larger(larger(u, v), w)

    @always(clk.posedge)
    def p():
        y.next = largest(a, b, c)
        z.next = larger(largest(a, b, 3), a + c - 2)

    return p


@case("a=u4 b=u4", "y=u3")
@entity
def helper_within_helper(a, b, y):
    """A helper has a helper, which knows its variables."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    def spread(v, w):
        middle = v + w

        def capped(d):
            if middle > d:
                return d
            return middle

        return capped(7) - capped(3)

    @always_comb
    def p():
        if spread(a, b) == 4:
            y.next = t[spread(a[2:], b[2:])]
        else:
            y.next = spread(b, 0)

    return p


idiom("helper that assigns signals")


@case("a=u4 b=u4", "y=u4 z=u4")
@entity
def signals_as_arguments(clk, a, b, y, z):
    """A helper assigns the signals that it is given."""

    def sort(first, second, low, high):
        if first < second:
            low.next = first
            high.next = second
        else:
            low.next = second
            high.next = first

    @always(clk.posedge)
    def p():
        sort(a, b, y, z)

    return p


@case("a=u4 x=b", "y=u4 z=b")
@entity
def signals_of_block(clk, a, x, y, z):
    """Helpers assign and read signals of the block."""

    def clear():
        y.next = 0
        z.next = False

    def load(v):
        if v < 9:
            y.next = v + a[2:]
        z.next = v[0]

    @always(clk.posedge)
    def p():
        if x:
            clear()
        else:
            load(a)
            if y == 3:
                z.next = not z

    return p


@case("a=u4 b=s4 x=b", "y=u5 z=s5 w=u8")
@entity
def helper_assigns_parts(a, b, x, y, z, w):
    """A helper assigns expressions, and parts of signals, in a loop."""

    def copy(target, value, plus):
        if plus:
            target.next = value + 1
        else:
            target.next = value

    def place(target, value):
        for i in range(4):
            target.next[7 - i] = value[i]

    @always_comb
    def p():
        w.next = 5
        copy(y, a, x)
        copy(z, b, not x and a > 3)
        place(w, a)

    return p


idiom("constants as inputs of a child")


@entity
def child_sum(a, b, y):
    """The output is a sum."""

    @always_comb
    def p():
        y.next = a + b

    return p


@entity
def child_register(clk, d, enable, q):
    """A register keeps its input while it is enabled."""

    @always(clk.posedge)
    def p():
        if enable:
            q.next = d

    return p


class Operands:
    """A bundle of two operands and a bit.

    Attributes:
        data: the one operand.
        more: the other operand.
        valid: whether they count.
    """

    def __init__(self, data: Any, more: Any, valid: Any) -> None:
        self.data = data
        self.more = more
        self.valid = valid


@entity
def child_of_bundle(pair, y):
    """The output is a sum, unless the bundle is not valid."""

    @always_comb
    def p():
        if pair.valid:
            y.next = pair.data + pair.more
        else:
            y.next = pair.data

    return p


@case("a=u4", "y=u6 z=s6")
@case("a=s4", "y=s7 z=s6")
@entity
def numbers_as_inputs(a, y, z):
    """The children have numbers as inputs."""
    first = child_sum(a, 20, y)
    second = child_sum(-3, a, z)
    return first, second


@case("a=u4", "y=u4 z=u4")
@entity
def bits_as_inputs(clk, a, y, z):
    """The children have truths and numbers as inputs."""
    first = child_register(clk, a, True, y)
    second = child_register(clk, 11, a(0), z)
    return first, second


@case("a=u4", "y=u5 z=u5 w=u5")
@entity
def fields_as_inputs(a, y, z, w):
    """The fields of bundles are numbers and truths."""
    first = child_of_bundle(Operands(a, 9, True), y)
    second = child_of_bundle(Operands(6, a, a(3)), z)
    third = child_of_bundle(Operands(a, a, False), w)
    return first, second, third


idiom("match")


@case("a=u4 b=u4", "y=u4")
@case("a=s4 b=u4", "y=u4")
@case("a=-3..11 b=u4", "y=u4")
@entity
def match_of_numbers(a, b, y):
    """The cases are numbers, alternatives and the rest."""

    @always_comb
    def p():
        match a:
            case 0:
                y.next = b
            case 1 | 2 | 7:
                y.next = 15 - b
            case -1:
                y.next = 3
            case _:
                y.next = 9

    return p


@case("a=u3 b=u3 x=b", "y=u4")
@entity
def match_of_expression(clk, a, b, x, y):
    """The subjects are a sum, a slice and a bit, and nothing happens without a case."""

    @always(clk.posedge)
    def p():
        match a + b:
            case 9 | 14:
                y.next = 1
            case 8:
                match a[2:]:
                    case 1:
                        y.next = 2
                    case 3:
                        y.next = 3
            case 0 | 3:
                match x:
                    case 0:
                        y.next = 5
                    case 1:
                        y.next = 6

    return p


@case("a=u2 x=b", "y=u4")
@entity
def match_of_members(clk, a, x, y):
    """The cases are members of an enumeration."""
    kinds = enum("load", "shift", "hold")
    kind = Signal(kinds.hold)

    @always(clk.posedge)
    def p():
        match kind:
            case kinds.load:
                y.next = a
                kind.next = kinds.shift
            case kinds.shift | kinds.hold:
                y.next = ((y << 1) & 15) | x
                kind.next = kinds.load if x else kinds.hold
            case _:
                y.next = y ^ 5

    return p


@case("a=u3 x=b", "y=u3 z=u3")
@case("a=s3 x=b", "y=u3 z=u3")
@entity
def match_with_guards(a, x, y, z):
    """Conditions guard the cases, and a variable of the cases is an index."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        place = 2
        y.next = 0
        match a:
            case 3 if x:
                y.next = 4
            case 1 | 3 if not x or a > 2:
                y.next = 5
                place = 6
            case -1 | 2:
                place = 7
        z.next = t[place]

    return p


idiom("loops with steps")


@case("a=u8", "y=u8 z=u8")
@case("a=s8", "y=u8 z=u8")
@entity
def pairs_of_bits(a, y, z):
    """Every second bit is taken, upwards and downwards."""

    @always_comb
    def p():
        y.next = 0
        z.next = 0
        for i in range(0, 8, 2):
            y.next[i] = a[i + 1]
            y.next[i + 1] = a[i]
        for i in range(7, 0, -3):
            z.next[i] = a[i - 1]

    return p


@case("a=u8", "y=u8 z=u4")
@entity
def loops_of_downrange(clk, a, y, z):
    """Loops go down by downrange."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        for i in downrange(8):
            v[i] = a[7 - i]
        y.next = v
        n = 0
        for i in downrange(8, 3):
            if a[i]:
                n = i
        z.next = n

    return p


@case("a=u8 b=u8", "y=u12")
@entity
def nested_loops(a, b, y):
    """The inner loop begins at the outer variable."""

    @always_comb
    def p():
        total = 0
        for i in range(4):
            for j in range(i, 8, 3):
                total += (a[i] & b[j]) << (i + j)
        y.next = total

    return p


idiom("break and continue")


@case("a=u8", "y=u4 z=u4")
@case("a=s8", "y=u4 z=u4")
@entity
def run_of_ones(a, y, z):
    """A loop ends at the first zero, another one skips bits."""

    @always_comb
    def p():
        n = 0
        for i in range(8):
            if not a[i]:
                break
            n += 1
        y.next = n
        m = 0
        for i in range(8):
            if i == 3 or a[i]:
                continue
            m = m + 1
        z.next = m

    return p


@case("a=u8 b=u3", "y=u8")
@entity
def loop_until_signal(clk, a, b, y):
    """A loop ends where a signal says, after some work."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        for i in range(8):
            if i == b:
                v[i] = 0
                break
            if not a[i]:
                continue
            v[i] = a[7 - i]
        y.next = v

    return p


@case("a=u4 b=u4", "y=u4 z=u3")
@entity
def break_of_inner_loop(a, b, y, z):
    """Only the inner loop ends, and its variable lives on."""

    @always_comb
    def p():
        found = 0
        last = 0
        for i in range(4):
            for j in range(4):
                if a[i] and b[j]:
                    found += 1
                    break
                last = j
            if found == 3:
                break
        y.next = found
        z.next = last + found

    return p


idiom("population count")


@case("a=u8", "y=u4")
@case("a=s8", "y=u4")
@case("a=u5", "y=u3")
@entity
def ones_in_vector(a, y):
    """The ones are counted."""

    @always_comb
    def p():
        n = 0
        for i in range(len(a)):
            n += a[i]
        y.next = n

    return p


@case("a=u8 b=u8", "y=b z=u3")
@entity
def more_ones(clk, a, b, y, z):
    """Counts are compared and wrap."""

    @always(clk.posedge)
    def p():
        n = 0
        m = modbv(0)[3:]
        for i in range(8):
            if a[i] == b[i]:
                n = n + 1
            m += a[i]
        y.next = n > 4
        z.next = m

    return p


@case("a=u6", "y=u4")
@entity
def count_as_index(a, y):
    """The count of ones is an index."""
    t = (5, 3, 9, 12, 0, 7, 2)

    @always_comb
    def p():
        n = 0
        for i in range(6):
            n += int(a[i])
        y.next = t[n]

    return p


idiom("priority encoder")


@case("a=u8", "y=u3 z=b")
@case("a=s8", "y=u3 z=b")
@entity
def highest_request(a, y, z):
    """The highest one wins, since it comes last."""

    @always_comb
    def p():
        y.next = 0
        z.next = False
        for i in range(8):
            if a[i]:
                y.next = i
                z.next = True

    return p


@case("a=u8", "y=s4")
@entity
def lowest_request(clk, a, y):
    """The lowest one wins, and ends the loop."""

    @always(clk.posedge)
    def p():
        place = -1
        for i in range(8):
            if a[i]:
                place = i
                break
        y.next = place

    return p


@case("a=u4 s=u2", "y=u4")
@entity
def round_robin(a, s, y):
    """The request after a given one wins."""

    @always_comb
    def p():
        taken = False
        y.next = 0
        for i in range(4):
            if a[(s + i) % 4] and not taken:
                y.next[(s + i) % 4] = 1
                taken = True

    return p


idiom("majority")


@case("a=u3", "y=b")
@case("a=s3", "y=b")
@entity
def majority_of_three(a, y):
    """Two of three bits decide."""

    @always_comb
    def p():
        y.next = (a[0] and a[1]) or (a[2] and (a[0] or a[1]))

    return p


@case("a=u7 b=u7", "y=b z=b")
@entity
def majority_of_seven(clk, a, b, y, z):
    """A sum of bits is compared."""

    @always(clk.posedge)
    def p():
        n = 0
        for i in range(7):
            n += a[i] & b[i]
        y.next = n >= 4
        z.next = a[0] + a[1] + b[0] >= 2

    return p


@case("a=u4 b=u4 c=u4", "y=u4 z=u2")
@entity
def majority_of_vectors(a, b, c, y, z):
    """Each bit is that of the majority."""

    @always_comb
    def p():
        y.next = a & b | b & c | a & c
        if (a & b | b & c | a & c) > 9:
            z.next = a[0] + b[0] + c[0]
        else:
            z.next = (a > b) + (b > c)

    return p


idiom("integer variables")


@case("a=u4 b=u4", "y=s9")
@case("a=s4 b=u4", "y=s9")
@entity
def rebound_variable(a, b, y):
    """A variable is bound again, with other bounds each time."""

    @always_comb
    def p():
        x = a + b
        if x > 20:
            x = x - a * 2
        x = x * 3
        x = 9 - x
        y.next = x

    return p


@case("a=u4 b=s4 x=b", "y=s6 z=u4")
@entity
def variable_of_branches(clk, a, b, x, y, z):
    """Branches bind a variable to unlike things, or to a signal."""

    @always(clk.posedge)
    def p():
        if x:
            v = a
        elif a > 9:
            v = b
        else:
            v = -7
        y.next = v + 1
        w = a[2:]
        w = w + 1
        w = w << 1
        z.next = w

    return p


@case("a=u4 b=u4", "y=u4 z=u4 w=u3")
@entity
def swapped_variables(a, b, y, z, w):
    """Variables are exchanged, compared and an index."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        low, high = a, b
        if low > high:
            low, high = high, low
        y.next = low
        z.next = high
        distance = high - low
        if distance < 8:
            w.next = t[distance]
        else:
            w.next = 0

    return p


idiom("truths as variables")


@case("a=u4 b=s4", "y=b z=u3")
@entity
def rebound_truth(a, b, y, z):
    """A truth is bound again and negated."""

    @always_comb
    def p():
        less = a < b
        same = a == b
        if not less:
            less = b < -3
        y.next = not less or same
        z.next = less + same * 2 + 3

    return p


@case("a=u6", "y=b z=b")
@entity
def flags_of_loop(clk, a, y, z):
    """A loop sets and flips flags."""

    @always(clk.posedge)
    def p():
        parity = False
        seen = False
        for i in range(6):
            parity = parity != a[i]
            if a[i] and parity:
                seen = True
        y.next = parity
        z.next = seen

    return p


@case("a=u4 x=b", "y=u4")
@entity
def truth_from_bits(a, x, y):
    """Variables are bits, slices and expressions of bits."""
    t = (4, 13)

    @always_comb
    def p():
        first = a[0]
        second = a[1] ^ a[2]
        third = x and first
        if second:
            third = not third
        if third and not first:
            y.next = t[second]
        else:
            y.next = t[third] - first

    return p


idiom("augmented assignment")


@case("a=u4 b=u4", "y=s9 z=u4")
@case("a=s4 b=u4", "y=s9 z=u4")
@entity
def augmented_numbers(a, b, y, z):
    """Numbers are changed by each operator."""

    @always_comb
    def p():
        x = a + 0
        x += b
        x -= 3
        x *= -2
        x //= 3
        x <<= 2
        y.next = x
        w = a + b
        w %= 11
        w >>= 1
        w |= 8
        w ^= 5
        w &= 13
        z.next = w

    return p


@case("a=u4 b=u4", "y=u8")
@entity
def augmented_vector(clk, a, b, y):
    """A vector is changed by each operator, within its bounds."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        v += b
        v <<= 2
        v -= a
        v ^= 0x55
        v //= 3
        v *= 2
        v |= b
        v &= 0xFE
        v >>= 1
        y.next = v

    return p


@case("a=u4 b=s4", "y=s8 z=u3")
@entity
def augmented_in_branches(a, b, y, z):
    """Branches and loops change a variable."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        total = 5
        if a > 7:
            total += b * 2
        elif b < 0:
            total -= a
        for i in range(3):
            if a[i]:
                total += t[i]
            else:
                total -= i
        y.next = total
        place = 7
        place -= a[3:]
        z.next = t[place]

    return p


idiom("old and new values")


@case("x=b", "y=u4@3 z=u4@12")
@case("x=b", "y=s4@-3 z=s4@5")
@entity
def exchanged_registers(clk, x, y, z):
    """Registers are exchanged, and a later assignment wins."""

    @always(clk.posedge)
    def p():
        y.next = z
        z.next = y
        if x:
            y.next = y if y > z else z

    return p


@case("a=u4", "y=u4 z=u5")
@entity
def signal_and_variable(clk, a, y, z):
    """A variable has its new value at once, a signal in the next cycle."""

    @always(clk.posedge)
    def p():
        v = y + 0
        y.next = a
        v = v + y
        z.next = v
        if a == y:
            z.next = v + y - a

    return p


@case("a=u4 s=u2", "y=u4 z=u6")
@entity
def old_words(clk, a, s, y, z):
    """A memory and helpers read old values after assignments."""
    words = [signal(f"u4@{5 * i}") for i in range(4)]

    def total():
        return words[0] + words[1] + words[2] + y

    @always(clk.posedge)
    def p():
        words[s].next = a
        y.next = words[s]
        z.next = total()
        if words[s] > a:
            words[3 - s].next = words[s] - a

    return p


idiom("parts of variables assigned")


@case("a=u8 b=u4", "y=u8")
@case("a=s8 b=u4", "y=u8")
@entity
def parts_put_together(a, b, y):
    """Slices and bits are put into a variable."""

    @always_comb
    def p():
        v = intbv(0)[8:]
        v[8:5] = a[3:]
        v[5:1] = b
        v[0] = a > b
        y.next = v

    return p


@case("a=u8 b=u4", "y=u8 z=s8", n=4)
@entity
def parts_overwritten(clk, a, b, y, z, n):
    """Parts are written again, by bounds that are expressions, in a signed vector too."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        v[n:] = b ^ v[8:n]
        v[n + 2 : n] = b[2:]
        v[:6] = 2
        if v[3]:
            v[7] = not v[7]
        y.next = v
        w = intbv(0, min=-128, max=128)
        w[:] = a - 128
        w[4:2] = b[3:1]
        w[0] = b[0]
        z.next = w

    return p


@case("a=u8 s=u3 x=b", "y=u8")
@entity
def parts_by_index(a, s, x, y):
    """Loops and signals name the parts."""

    @always_comb
    def p():
        v = intbv(0)[8:]
        for i in range(0, 8, 2):
            v[i + 2 : i] = a[8 - i : 6 - i]
        v[s] = x
        v[7 - s] = a[s] and v[0]
        y.next = v

    return p


idiom("parts of signals assigned")


@case("a=u4 b=u4 x=b", "y=u8")
@case("a=s4 b=u4 x=b", "y=u8")
@entity
def next_in_parts(a, b, x, y):
    """Slices and bits of the output are assigned."""

    @always_comb
    def p():
        y.next[8:5] = a[3:]
        y.next[5:1] = b
        y.next[0] = x

    return p


@case("s=u3 a=u4 x=b", "y=u8 z=s6@-9")
@entity
def next_in_part(clk, s, a, x, y, z):
    """Some bits of registers are assigned, and the others stay."""

    @always(clk.posedge)
    def p():
        if x:
            y.next[s] = a[0]
        else:
            y.next[4:2] = a[2:]
            y.next[7] = not y[7]
        z.next[3:] = a[3:]
        if a == 9:
            z.next[4] = x

    return p


@case("a=u8 s=u2", "y=u8 z=u8")
@entity
def next_in_loop(a, s, y, z):
    """Loops and signals name the parts, and later ones overwrite earlier ones."""

    @always_comb
    def p():
        y.next = a
        y.next[s + 2] = 1
        z.next = 0
        for i in range(4):
            if i != s:
                z.next[2 * i + 2 : 2 * i] = a[i + 2 : i]
        if a > 100:
            z.next[:6] = 3

    return p


idiom("bundles")


class Link:
    """A bundle of signals with a width.

    Attributes:
        width: of the data.
        data: a vector.
        valid: a bit.
        level: a signed vector.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.data = signal(f"u{width}")
        self.valid = signal("b")
        self.level = signal("s4")


@case("", "y=s10", "link_data link_valid link_level", link=lambda: Link(8))
@case("", "y=s7", "link_data link_valid link_level", link=lambda: Link(5))
@entity
def reads_bundle(link, y):
    """Fields are operands and conditions."""

    @always_comb
    def p():
        if link.valid and link.data[2:] != 3:
            y.next = link.data + link.level
        else:
            y.next = link.level if link.data > 9 else -1

    return p


@case("", "", "source_data source_valid source_level", source=lambda: Link(4), sink=lambda: Link(4))
@entity
def bundle_to_bundle(clk, source, sink):
    """Fields of one bundle are registered in another, its width is a number."""

    @always(clk.posedge)
    def p():
        sink.valid.next = source.valid and not sink.valid
        sink.data.next = (source.data + sink.data) % (1 << source.width)
        sink.level.next[source.width - 1 :] = source.data[source.width - 1 :]

    return p


@case("a=u3 x=b", "y=u4")
@entity
def bundles_within(clk, a, x, y):
    """Bundles within the block are indexed, compared, and closed over."""
    first, second = Link(3), Link(3)
    t = (5, 3, 9, 12, 0, 7, 2, 8)

    @always(clk.posedge)
    def store():
        first.valid.next = x
        first.data.next = a
        if first.valid:
            second.data.next = first.data ^ 5

    @always_comb
    def show():
        y.next = t[second.data]
        if first.data < second.data - 2:
            y.next = first.data[2] + second.width

    return store, show


idiom("frozen dataclasses")


@dataclass(frozen=True)
class Shape:
    """Numbers of a configuration."""

    width: int
    limit: int
    taps: tuple[int, ...] = (1, -2, 5)
    wraps: bool = True


@case("a=u4", "y=u5", shape=Shape(5, 19))
@case("a=u4", "y=u5", shape=Shape(5, 30, wraps=False))
@entity
def numbers_of_dataclass(clk, a, y, shape):
    """Fields are limits, conditions and labels."""

    @always(clk.posedge)
    def p():
        if y == shape.limit - 1:
            y.next = 0 if shape.wraps else y
        elif y + a > shape.limit:
            y.next = shape.limit - 1
        elif y == 2 ** (shape.width - 1):
            y.next = 7
        else:
            y.next = y + a[2:]

    return p


@case("a=u3 s=u2", "y=s8", shape=Shape(3, 4, (7, -8, 3, 0)))
@entity
def tuple_of_dataclass(a, s, y, shape):
    """An entry of a field's tuple is an operand."""

    @always_comb
    def p():
        y.next = shape.taps[s] * a + shape.taps[0] - len(shape.taps)

    return p


@case("a=u6", "y=u6 z=b", shape=Shape(6, 2))
@entity
def bounds_of_dataclass(a, y, z, shape):
    """Fields are bounds of loops and slices, and indices."""
    shift = shape.limit + 1

    @always_comb
    def p():
        for i in range(shape.width):
            y.next[i] = a[(i + shape.limit) % shape.width]
        z.next = a[shape.width - 1] and a[shape.limit :] > 1 and a[shift]

    return p


idiom("shadow signals")


@case("a=u8 b=u4", "y=u6 z=b")
@case("a=s8 b=u4", "y=u6 z=b")
@entity
def slices_of_signals(a, b, y, z):
    """Parts of signals are operands and conditions."""
    high, low, top = a(8, 4), a(4, 0), a(7)

    @always_comb
    def p():
        y.next = high + low + b
        z.next = 0
        if top and low[2:] < high:
            z.next = 1

    return p


@case("a=u4 b=s4 x=b", "y=u10 z=s5 w=u4")
@entity
def joined_signals(clk, a, b, x, y, z, w):
    """Signals, parts of signals and constants are put together."""
    word = ConcatSignal(x, a(3, 1), "01", b, True)
    t = (5, 3, 9, 12, 0, 7, 2, 8)

    @always(clk.posedge)
    def p():
        y.next = word
        z.next = word[5:1].signed() + x
        w.next = t[word[9:6]]

    return p


@case("a=u4 x=b", "y=u4 z=u3")
@entity
def shadows_of_registers(clk, a, x, y, z):
    """Parts of a register, and of what is put together, are read."""
    state = signal("u8@5")
    high = state(8, 4)
    mixed = ConcatSignal(high, a)
    middle = mixed(6, 3)

    @always(clk.posedge)
    def p():
        if x:
            state.next = mixed
        else:
            state.next = concat(state[6:], high[2:])

    @always_comb
    def q():
        y.next = high
        z.next = middle

    return p, q


idiom("memories")


@case("address=u3 d=u8 write=b", "y=u8 z=u8")
@case("address=u3 d=s8 write=b", "y=s8 z=s8")
@entity
def memory(clk, address, d, write, y, z):
    """A memory is written and read by a signal, and read by a constant."""
    words = [signal("s8") if d.min < 0 else signal("u8") for _ in range(8)]

    @always(clk.posedge)
    def p():
        if write:
            words[address].next = d
        y.next = words[address]
        z.next = words[5]

    return p


@case("address=0..6 d=u4 write=b", "y=u4 z=u6")
@entity
def memory_with_contents(clk, address, d, write, y, z):
    """A memory of six words has contents, and constants name some of them."""
    words = [signal(f"u4@{3 * i % 16}") for i in range(6)]

    @always(clk.posedge)
    def store():
        if write:
            words[address].next = d
        else:
            words[0].next = d
            words[3].next = words[2] ^ 15

    @always_comb
    def load():
        y.next = words[address]
        z.next = words[1] + words[address] + words[5]

    return store, load


@case("x=b s=u2", "y=b z=u3")
@entity
def delay_line(clk, x, s, y, z):
    """A list of bits moves on, and a signal taps it."""
    line = [signal("b") for _ in range(4)]

    @always(clk.posedge)
    def p():
        line[0].next = x
        for i in range(1, 4):
            line[i].next = line[i - 1]

    @always_comb
    def q():
        y.next = line[s] and not line[3]
        z.next = line[0] + line[1] + line[2] + line[s]

    return p, q


@case("address=u2 other=u2 d=u4", "y=b z=u5")
@entity
def memory_in_condition(clk, address, other, d, y, z):
    """Words are compared, indexed and an index."""
    words = [signal("u4") for _ in range(4)]

    @always(clk.posedge)
    def p():
        if words[address] < d:
            words[address].next = d - words[other][2:] if d > 3 else d
        elif words[other][0]:
            words[other].next[3:1] = d[2:]
        y.next = words[address] == words[other]
        z.next = words[words[address][2:]] + words[(address + 1) % 4]

    return p


idiom("resets")


@case("x=b reset=sync+", "y=u4@3 z=b@1")
@case("x=b reset=sync-", "y=u4@3 z=b@1")
@case("x=b reset=async+", "y=u4@3 z=b@1")
@case("x=b reset=async-", "y=u4@3 z=b@1")
@entity
def reset_of_registers(clk, reset, x, y, z):
    """A reset brings back the values of the beginning."""

    @always_seq(clk.posedge, reset=reset)
    def p():
        if x:
            y.next = (y + 5) % 16
        z.next = y[3] ^ x

    return p


@case("a=u3 reset=sync-", "y=s4@-2 z=u3")
@case("a=u3 reset=async+", "y=s4@-2 z=u3")
@entity
def reset_of_states(clk, reset, a, y, z):
    """A reset brings back a state, a memory and parts of a register."""
    states = enum("first", "second")
    state = Signal(states.second)
    words = [signal(f"u3@{i + 1}") for i in range(4)]

    @always_seq(clk.posedge, reset=reset)
    def p():
        if state == states.first:
            state.next = states.second
            words[a[2:]].next = a
        else:
            state.next = states.first
            y.next[2:] = a[2:]
        z.next = words[a[2:]]

    return p


@case("x=b reset=sync+", "y=u4")
@case("x=b reset=sync-", "y=u4")
@entity
def reset_by_hand(clk, reset, x, y):
    """Processes read the reset as a bit, too."""
    active = reset.active

    @always(clk.posedge)
    def p():
        if reset == active:
            y.next = 9
        elif (x and not reset) or reset:
            y.next = y ^ 6
        else:
            y.next = y >> 1

    return p


idiom("instance with a clock")


@case("a=u4", "y=u4 z=u5")
@entity
def waits_for_clock(clk, a, y, z):
    """A process waits for the clock for ever."""

    @instance
    def p():
        while True:
            yield clk.posedge
            y.next = a
            z.next = y + a

    return p


@case("a=u4 x=b", "y=u4 z=u4")
@entity
def keeps_variables(clk, a, x, y, z):
    """Variables of a process live on, and wrap."""

    @instance
    def p():
        count = modbv(0)[4:]
        place = 3
        while True:
            yield clk.posedge
            if x:
                count += a
            place = (place + 1) % 10
            y.next = count
            z.next = place

    return p


@case("a=u4 reset=async+", "y=u4")
@entity
def waits_for_either(clk, reset, a, y):
    """A process waits for the clock and for its reset."""

    @instance
    def p():
        while True:
            yield clk.posedge, reset.posedge
            if reset:
                y.next = 6
            else:
                y.next = y ^ a

    return p


@case("a=s4", "y=s6")
@entity
def sums_until_limit(clk, a, y):
    """A variable of bits keeps a sum that starts again."""

    @instance
    def p():
        total = intbv(0, min=-30, max=30)
        while True:
            yield clk.posedge
            if -20 < total < 20:
                total[:] = total + a
            else:
                total[:] = 0
            y.next = total

    return p


# Common arithmetic.

idiom("saturation")


@case("a=s8 b=s8", "y=s6", low=-32, high=31)
@case("a=u8 b=s5", "y=u6", low=0, high=63)
@entity
def saturated_difference(a, b, y, low, high):
    """The difference stays at the bounds."""

    @always_comb
    def p():
        d = a - b
        if d > high:
            d = high
        elif d < low:
            d = low
        y.next = d

    return p


@case("a=s5 clear=b", "y=s7")
@case("a=u5 clear=b", "y=u7")
@entity
def saturated_total(clk, a, clear, y):
    """An accumulator stays at the bounds of its signal."""
    low, high = int(y.min), int(y.max) - 1

    @always(clk.posedge)
    def p():
        if clear:
            y.next = 0
        else:
            y.next = min(max(y + a, low), high)

    return p


@case("a=s6 b=s6", "y=s6 z=b")
@entity
def saturated_product(a, b, y, z):
    """A shifted product saturates and says so."""

    @always_comb
    def p():
        r = (a * b) >> 4
        z.next = not -32 <= r <= 31
        y.next = 31 if r > 31 else (-32 if r < -32 else r)

    return p


idiom("rounding")


@case("a=u8", "y=u5 z=u4")
@case("a=s8", "y=s5 z=s4")
@entity
def rounded(a, y, z):
    """Halves go up, or to the even number."""

    @always_comb
    def p():
        y.next = (a + 8) >> 4
        z.next = (a + 15 + a[5]) // 32

    return p


@case("a=s8", "y=s5 z=s5")
@entity
def rounded_to_zero(clk, a, y, z):
    """Numbers go to zero, and halves go away from it."""

    @always(clk.posedge)
    def p():
        y.next = a // 16 if a >= 0 else -(-a // 16)
        if a < 0:
            z.next = -((8 - a) >> 4)
        else:
            z.next = (a + 8) >> 4

    return p


@case("a=u6 b=u6", "y=u7 z=u2")
@entity
def rounded_product(a, b, y, z):
    """A rounded product is assigned and compared."""

    @always_comb
    def p():
        y.next = (a * b + 32) >> 6
        z.next = 0
        if (a * b + 32) >> 6 > a >> 1:
            z.next = 1
        elif (a * b) >> 6 != (a * b + 32) >> 6:
            z.next = 2

    return p


idiom("averages")


@case("a=u8", "y=u8")
@case("a=s8", "y=s8")
@entity
def moving_average(clk, a, y):
    """A fraction of the difference is added."""

    @always(clk.posedge)
    def p():
        y.next = y + ((a - y) >> 2)

    return p


@case("a=u6", "y=u6")
@case("a=s6", "y=s6")
@entity
def average_of_last_three(clk, a, y):
    """The average of the last three is not rounded."""
    last = [signal("s6" if a.min < 0 else "u6") for _ in range(2)]

    @always(clk.posedge)
    def p():
        last[0].next = a
        last[1].next = last[0]
        y.next = (a + last[0] + last[1]) // 3

    return p


@case("a=u8 b=s8", "y=s9")
@entity
def weighted_average(a, b, y):
    """Weights are constants whose sum is a power of two."""

    @always_comb
    def p():
        y.next = (3 * a + 5 * b + 4) >> 3

    return p


idiom("gray code")


@case("a=u4", "y=u4 z=u4")
@case("a=u9", "y=u9 z=u9")
@entity
def gray_and_back(a, y, z):
    """A loop decodes what is coded."""
    n = len(a)
    code = Signal(intbv(0)[n:])

    @always_comb
    def encode():
        y.next = a ^ (a >> 1)
        code.next = a ^ (a >> 1)

    @always_comb
    def decode():
        v = intbv(0)[n:]
        v[n - 1] = code[n - 1]
        for i in range(n - 2, -1, -1):
            v[i] = v[i + 1] ^ code[i]
        z.next = v

    return encode, decode


@case("x=b", "y=u4")
@entity
def gray_counter(clk, x, y):
    """A counter is coded in the same cycle."""
    n = modbv(0)[4:]
    number = Signal(n)

    @always(clk.posedge)
    def p():
        if x:
            number.next = number + 1
            y.next = ((number + 1) ^ ((number + 1) >> 1)) & 15

    return p


@case("a=u4 b=u4", "y=b z=u3")
@entity
def gray_distance(a, b, y, z):
    """Codes are compared and their difference is counted."""

    @always_comb
    def p():
        d = (a ^ (a >> 1)) ^ (b ^ (b >> 1))
        n = 0
        for i in range(4):
            if d & (1 << i):
                n += 1
        z.next = n
        y.next = a ^ (a >> 1) == b

    return p


idiom("linear feedback")


@case("x=b", "y=m8@1")
@case("x=b", "y=u8@77")
@entity
def feedback_by_concat(clk, x, y):
    """The feedback is a bit of a concatenation."""

    @always(clk.posedge)
    def p():
        if x:
            y.next = concat(y[7:], y[7] ^ y[5] ^ y[4] ^ y[3])

    return p


@case("x=b", "y=m16@1")
@entity
def feedback_by_mask(clk, x, y):
    """A mask is the feedback."""

    @always(clk.posedge)
    def p():
        if y[0]:
            y.next = (y >> 1) ^ 0xB400
        else:
            y.next = y >> 1 if x else y

    return p


@case("", "y=m7@1 z=u3")
@entity
def feedback_of_variable(clk, y, z):
    """A variable makes three steps a cycle."""

    @always(clk.posedge)
    def p():
        v = modbv(0)[7:]
        v[:] = y
        w = intbv(0)[3:]
        for i in range(3):
            b = v[6] ^ v[5]
            w[i] = b
            v <<= 1
            v[0] = b
        y.next = v
        z.next = w

    return p


idiom("check sums")


@case("d=b clear=b", "y=u8")
@entity
def check_of_bits(clk, d, clear, y):
    """A check sum takes a bit in every cycle."""

    @always(clk.posedge)
    def p():
        if clear:
            y.next = 0xFF
        elif y[7] ^ d:
            y.next = ((y << 1) & 0xFF) ^ 0x07
        else:
            y.next = (y << 1) & 0xFF

    return p


@case("d=u8", "y=u8", poly=0x07)
@case("d=u8", "y=u8", poly=0x31)
@entity
def check_of_bytes(clk, d, y, poly):
    """A check sum takes a byte in every cycle, as a number."""

    @always(clk.posedge)
    def p():
        c = y ^ d
        for _ in range(8):
            top = c & 0x80
            c = (c << 1) & 0xFF
            if top:
                c = c ^ poly
        y.next = c

    return p


@case("d=u4", "y=u16@65535")
@entity
def check_of_slices(clk, d, y):
    """A check sum is a vector that is shifted by slices."""

    @always(clk.posedge)
    def p():
        c = intbv(0)[16:]
        c[:] = y
        for i in downrange(4):
            feedback = c[15] ^ d[i]
            c[16:1] = c[15:]
            c[0] = feedback
            c[5] = c[5] ^ feedback
            c[12] = c[12] != feedback
        y.next = c

    return p


@case("d=u32", "y=u32@4294967295")
@entity
def check_of_words(clk, d, y):
    """A check sum has 32 bits, and its polynomial exceeds 2**31."""

    def step(c):
        if c & 1:
            return (c >> 1) ^ 0xEDB88320
        return c >> 1

    @always(clk.posedge)
    def p():
        y.next = step(step(y ^ d))

    return p


idiom("barrel shifter")


@case("a=u8 s=u3", "y=u8 z=u8")
@entity
def rotated_by_shifts(a, s, y, z):
    """Two shifts rotate, and a slice of twice the vector."""

    @always_comb
    def p():
        y.next = (a << s | a >> (8 - s)) & 0xFF
        z.next = (concat(a, a) >> s)[8:]

    return p


@case("a=u8 s=u3 left=b", "y=u8")
@entity
def rotated_in_stages(clk, a, s, left, y):
    """Each bit of the amount is a stage."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        for i in range(3):
            if s[i]:
                if left:
                    v[:] = concat(v[8 - (1 << i) :], v[8 : 8 - (1 << i)])
                else:
                    v[:] = concat(v[1 << i :], v[8 : 1 << i])
        y.next = v

    return p


@case("a=s8 s=u4 kind=u2", "y=s8")
@entity
def shifted_by_kind(a, s, kind, y):
    """The kind of shift is a signal's."""

    @always_comb
    def p():
        match kind:
            case 0:
                y.next = a >> s
            case 1:
                y.next = intbv(a << s)[8:].signed()
            case 2:
                y.next = (a[8:] >> s) - 128
            case _:
                y.next = -1 >> s

    return p


idiom("counters with wrap")


@case("x=b", "y=0..10 z=u1", n=10)
@case("x=b", "y=0..7 z=u1", n=7)
@entity
def counter_by_rest(clk, x, y, z, n):
    """The rest wraps a counter, and a comparison tells of its end."""

    @always(clk.posedge)
    def p():
        if x:
            y.next = (y + 1) % n
        z.next = y == n - 1

    return p


@case("x=b up=b", "y=0..10", n=10)
@case("x=b up=b", "y=u4@9", n=10)
@entity
def counter_both_ways(clk, x, up, y, n):
    """A counter wraps at both ends."""

    @always(clk.posedge)
    def p():
        if x:
            if up:
                y.next = 0 if y == n - 1 else y + 1
            else:
                y.next = n - 1 if not y else y - 1

    return p


@case("x=b", "y=0..6 z=0..4 w=b", inner=6, outer=4)
@entity
def nested_counters(clk, x, y, z, w, inner, outer):
    """The end of a counter moves another one on."""

    @always(clk.posedge)
    def p():
        w.next = False
        if y + 1 < inner:
            y.next = y + 1
        else:
            y.next = 0
            if z < outer - 1 and x:
                z.next = z + 1
            else:
                z.next = 0
                w.next = True

    return p


idiom("sum of products")


@case("x=s8", "y=s13", taps=(-3, 7, 12, -5))
@case("x=u8", "y=s13", taps=(9, -1, -4))
@entity
def filter_of_list(clk, x, y, taps):
    """A loop multiplies the words of a list with the entries of a tuple."""
    n = len(taps)
    line = [signal("s8" if x.min < 0 else "u8") for _ in range(n)]

    @always(clk.posedge)
    def p():
        total = 0
        for i in range(n):
            total += taps[i] * line[i]
        y.next = total
        line[0].next = x
        for i in range(1, n):
            line[i].next = line[i - 1]

    return p


@case("a=s4 b=s4 c=s4", "y=s9 z=s5")
@entity
def filter_of_signals(a, b, c, y, z):
    """Products with entries are added and shifted."""
    t = (5, -11, 2)

    @always_comb
    def p():
        y.next = t[0] * a + t[1] * b + t[2] * c
        z.next = (t[0] * a + t[1] * b + t[2] * c + 8) >> 4

    return p


@case("x=s6 s=u2 clear=b", "y=s12")
@entity
def filter_in_turns(clk, x, s, clear, y):
    """A signal chooses the coefficient, and the sum saturates."""
    t = (-7, 31, -32, 0)

    @always(clk.posedge)
    def p():
        if clear:
            y.next = t[s] * x
        elif -2048 <= y + t[s] * x < 2048:
            y.next = y + t[s] * x
        else:
            y.next = -2048 if y < 0 else 2047

    return p


idiom("absolute difference")


@case("a=u8 b=u8", "y=u8")
@case("a=s8 b=s8", "y=u8")
@case("a=-3..11 b=s4", "y=u5")
@entity
def distance(a, b, y):
    """The larger one is subtracted from."""

    @always_comb
    def p():
        y.next = a - b if a > b else b - a

    return p


@case("a=u4 b=u4 c=u4", "y=u6")
@entity
def sum_of_distances(clk, a, b, c, y):
    """Magnitudes of differences are added."""

    @always(clk.posedge)
    def p():
        y.next = abs(a - b) + abs(b - c) + abs(c - a - 1)

    return p


@case("a=u4 b=s4", "y=u2 z=u5")
@entity
def distance_in_condition(a, b, y, z):
    """A variable with a sign is turned, compared and assigned."""

    @always_comb
    def p():
        d = a - b
        if d < 0:
            d = -d
        z.next = d
        y.next = 0
        if d > 9:
            y.next = 1
        elif abs(a + b) == d:
            y.next = 2

    return p


idiom("leading zeros")


@case("a=u8", "y=u4")
@case("a=s8", "y=u4")
@entity
def zeros_by_loop(a, y):
    """A loop counts up to the first one."""

    @always_comb
    def p():
        n = 0
        for i in downrange(8):
            if a[i]:
                break
            n += 1
        y.next = n

    return p


@case("a=u8", "y=u4 z=u8")
@entity
def zeros_by_halves(clk, a, y, z):
    """Halves of the vector are looked at, and the vector is normalized."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        n = 0
        if a == 0:
            n = 8
        else:
            if v[8:4] == 0:
                n += 4
                v[:] = v[4:] << 4
            if v[8:6] == 0:
                n += 2
                v[:] = v[6:] << 2
            if not v[7]:
                n += 1
                v[:] = v[7:] << 1
        y.next = n
        z.next = v

    return p


@case("a=u6 b=u6", "y=u4 z=u6")
@entity
def zeros_by_helper(a, b, y, z):
    """A helper counts for sums, and what it finds shifts."""

    def zeros(v):
        for i in range(7):
            if v >> (6 - i):
                return i
        return 7

    @always_comb
    def p():
        y.next = zeros(a + b)
        z.next = (a << zeros(a) - 1) & 63 if a > 0 else zeros(b)

    return p


# What has no hardware.


@refused("a=u4", "y=u4")
@entity
def grows_without_bound(clk, a, y):
    """A variable grows from cycle to cycle."""

    @instance
    def p():
        total = 0
        while True:
            yield clk.posedge
            total = total + a  # refused
            y.next = total & 15

    return p


@refused("a=u4", "y=u4")
@entity
def divides_truly(a, y):
    """A quotient is no integer."""

    @always_comb
    def p():
        y.next = int(a / 2)  # refused

    return p


@refused("a=u4", "y=u4")
@entity
def multiplies_by_float(a, y):
    """A factor is no integer."""

    @always_comb
    def p():
        y.next = int(a * 0.75)  # refused

    return p


@refused("a=1..16 b=1..16", "y=u4")
@entity
def loops_while_data(a, b, y):
    """The data tells how often a loop runs."""

    @always_comb
    def p():
        v = a + 0
        w = b + 0
        while v != w:  # refused
            if v > w:
                v = v - w
            else:
                w = w - v
        y.next = v

    return p


@refused("a=u4", "y=u4")
@entity
def calls_itself(a, y):
    """A helper calls itself."""

    def ones(v):
        if v == 0:
            return 0
        return (v & 1) + ones(v >> 1)  # refused

    @always_comb
    def p():
        y.next = ones(a)

    return p


@refused("a=u4", "y=u4 z=u5")
@entity
def reads_next(clk, a, y, z):
    """A process reads what a signal is going to be."""

    @always(clk.posedge)
    def p():
        y.next = a
        z.next = y.next + 1  # refused

    return p


@refused("s=u2", "y=u8")
@entity
def memory_of_many_widths(s, y):
    """The words of a memory have different widths."""
    words = [signal(f"u{5 + i}@{i}") for i in range(4)]

    @always_comb
    def p():
        y.next = words[s]  # refused

    return p


@refused("a=u2 s=u1", "y=u4")
@entity
def chooses_text(a, s, y):
    """A signal chooses one of several strings."""
    names = ("01", "10")

    @always_comb
    def p():
        y.next = concat(names[s], a)  # refused

    return p


@refused("a=u4", "y=u4")
@entity
def prints(clk, a, y):
    """A process prints."""

    @always(clk.posedge)
    def p():
        y.next = a
        print("a is", a)  # refused

    return p


@refused("", "y=b")
@entity
def waits_for_time(clk, y):
    """A process waits for a time."""

    @instance
    def p():
        while True:
            yield delay(3)  # refused
            y.next = not y

    return p
