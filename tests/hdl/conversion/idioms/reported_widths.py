"""What lies between operands and target is wider than these, as bugs that were reported."""

from myhdl import always, always_comb

from idioms.cases import case, idiom
from merp import entity

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
