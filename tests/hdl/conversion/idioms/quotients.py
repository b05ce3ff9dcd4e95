"""A quotient is floored, and a rest has the sign of the divisor."""

from myhdl import always, always_comb

from idioms.cases import case, idiom
from merp import entity

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
