"""A result is saturated, rounded or averaged."""

from myhdl import always, always_comb

from idioms.cases import case, idiom, signal
from merp import entity

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
