"""Minus and inversion make signed numbers, which stand beside unsigned ones."""

from myhdl import always, always_comb, concat

from idioms.cases import case, idiom
from merp import entity

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


idiom("shifts of signed numbers beyond their width")


@case("a=s8", "y=s8", n=7)
@case("a=s8", "y=s8", n=8)
@case("a=-3..11", "y=s4", n=12)
@entity
def shifted_far(a, y, n):
    """Nothing but the sign is left."""

    @always_comb
    def p():
        y.next = a >> n

    return p
