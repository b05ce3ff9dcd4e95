"""Truths, labels, large constants, quotients and results of helpers are numbers, as reported."""

from myhdl import Signal, always, always_comb, intbv

from idioms.cases import case, idiom
from merp import entity

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
