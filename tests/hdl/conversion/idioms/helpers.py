"""Helpers return from many places, have variables, call each other and assign signals."""

from typing import Any

from myhdl import always, always_comb, intbv, modbv

from idioms.cases import case, idiom
from merp import entity

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
