"""Python's own functions: max and min, abs, len."""

from myhdl import always, always_comb, concat, intbv

from idioms.cases import case, idiom
from merp import entity

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
