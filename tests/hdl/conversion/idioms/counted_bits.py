"""Bits are counted, found and outvoted."""

from myhdl import always, always_comb, modbv

from idioms.cases import case, idiom
from merp import entity

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
