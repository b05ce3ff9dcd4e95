"""Statements without hardware of their own: imports, errors, waiting at the end of a loop."""

from myhdl import always, always_comb, instance

from idioms.cases import case, idiom
from merp import entity

idiom("imports within processes")


@case("a=u4", "y=u8")
@case("a=u6", "y=u8")
@entity
def imports_module(a, y):
    """A module is imported, and a number of it used."""

    @always_comb
    def p():
        import sys
        import token as numbers

        y.next = a + numbers.NAME if sys.maxsize > 9 else a

    return p


@case("a=u4", "y=u8")
@entity
def imports_name(clk, a, y):
    """A name is imported and goes by another one; the other import is for nothing."""

    @always(clk.posedge)
    def p():
        import types  # noqa: F401
        from operator import index
        from token import NUMBER as TWO

        y.next = index(a) * TWO

    return p


idiom("errors that are raised")


@case("a=u2 b=u4", "y=u4")
@entity
def raises_otherwise(a, b, y):
    """The last branch raises an error; the one before it needs no test."""

    @always_comb
    def p():
        if a == 0:
            y.next = b
        elif a == 1:
            y.next = b ^ 15
        elif a <= 3:
            y.next = b & 3
        else:
            raise ValueError(a)

    return p


@case("a=u2 b=u4", "y=u4")
@entity
def raises_in_match(clk, a, b, y):
    """A match raises an error for what never comes."""

    @always(clk.posedge)
    def p():
        match a:
            case 0 | 2:
                y.next = b
            case 1:
                y.next = y ^ b
            case 3:
                y.next = 0
            case _:
                raise ValueError

    return p


@case("a=0..12 b=u4", "y=u5")
@entity
def raises_first(clk, a, b, y):
    """An error that is raised first, in a helper, and behind an assignment."""

    def checked(value):
        if value > 11:
            raise ValueError(value)
        return value + 1

    @always(clk.posedge)
    def p():
        if a >= 12:
            raise ValueError
        elif b == 0:
            y.next = checked(a)
        elif b < 16:
            y.next = b
        else:
            y.next = 0
            raise ValueError("too large")

    return p


idiom("waiting at the end of a loop")


@case("a=b b=b", "y=b")
@case("a=u4 b=u4", "y=u4")
@entity
def waits_behind(a, b, y):
    """A process runs, then waits for all that it reads."""

    @instance
    def p():
        while True:
            y.next = a | b
            yield a, b

    return p


@case("a=u4 b=u3", "y=u5 z=b")
@entity
def waits_behind_branches(a, b, y, z):
    """A process with a variable and branches."""

    @instance
    def p():
        while True:
            v = a + b
            if v > 9:
                y.next = v - 9
            else:
                y.next = v
            z.next = v > 3 and a[0]
            yield a, b

    return p


idiom("slices of a named length")


@case("a=u32 n=0..24", "y=u8", size=8)
@case("a=u16 n=0..13", "y=u3", size=3)
@entity
def moving_slice(a, n, y, size):
    """The length of a slice that moves is a name."""

    @always_comb
    def p():
        y.next = a[n + size : n]

    return p


@case("a=u12 n=u2", "y=u4")
@entity
def length_of_signal(clk, a, n, y):
    """The length comes before the place, and is that of a signal."""
    width = len(y)

    @always(clk.posedge)
    def p():
        y.next = a[width + n : n]

    return p
