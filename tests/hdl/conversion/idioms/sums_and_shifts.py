"""Widths follow from bounds: sums, differences, products and shifts lose no bit."""

from myhdl import always, always_comb

from idioms.cases import case, idiom
from merp import entity

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
