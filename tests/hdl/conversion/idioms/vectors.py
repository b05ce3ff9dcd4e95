"""Vectors of any bounds and widths wrap, are joined and are indexed from both ends."""

from myhdl import Signal, always, always_comb, concat, intbv, modbv

from idioms.cases import case, idiom
from merp import entity

idiom("modbv")


@case("a=u8", "y=m8")
@case("a=s5", "y=m-16..16")
@case("a=u3", "y=m4@5")
@entity
def wrapping_sum(clk, a, y):
    """A sum wraps in its signal."""

    @always(clk.posedge)
    def p():
        y.next = y + a

    return p


@case("a=u8 b=u8", "y=u8 z=s4")
@entity
def wrapping_variables(a, b, y, z):
    """Variables wrap, signed ones too."""

    @always_comb
    def p():
        v = modbv(0)[8:]
        v[:] = a * b
        v += 200
        y.next = v
        w = modbv(0, min=-8, max=8)
        w[:] = a - b
        z.next = w

    return p


@case("a=m4", "y=u5 z=b")
@entity
def wrapping_inputs(a, y, z):
    """A sum of a modbv does not wrap by itself."""

    @always_comb
    def p():
        y.next = a + 1
        z.next = a + 1 == 16 or a - 1 < 0

    return p


idiom("modbv with odd bounds")


@case("a=0..5", "y=m0..10")
@case("a=0..5", "y=m-3..11")
@case("a=s4", "y=m-3..11")
@entity
def wraps_in_bounds(clk, a, y):
    """A sum wraps in bounds that are no power of two."""

    @always(clk.posedge)
    def p():
        y.next = y + a

    return p


idiom("concat")


@case("a=u8 b=u4 x=b", "y=u8 z=u9")
@case("a=u8 b=s4 x=b", "y=u8 z=u9")
@entity
def concat_of_parts(a, b, x, y, z):
    """Slices, bits, strings and bools are put together."""

    @always_comb
    def p():
        y.next = concat(a[4:], b)
        z.next = concat(x, a[7:4], "010", True, a[0])

    return p


@case("a=u4 b=s4", "y=u9 z=u10")
@entity
def concat_of_constants(clk, a, b, y, z):
    """Constant vectors and strings stand in front and behind."""
    k = intbv(5)[3:]

    @always(clk.posedge)
    def p():
        y.next = concat("10", a, k)
        z.next = concat(False, intbv(2)[3:], b, not a[1], a > b)

    return p


@case("a=u4 b=u4 x=b", "y=u4 z=u9")
@entity
def concat_in_expression(a, b, x, y, z):
    """A concatenation is compared, added, sliced, and is an index."""
    t = (5, 3, 9, 12, 0, 7, 2, 8)

    @always_comb
    def p():
        z.next = concat(a, b) + concat(b, "0011")
        if concat(a, x) > 20:
            y.next = concat(a, b)[6:2]
        else:
            y.next = t[concat(x, b[2:])]

    return p


idiom("odd bounds")


@case("a=-3..11 b=-3..11", "y=-6..21 z=-13..14")
@case("a=5..7 b=-100..-90", "y=-95..-84 z=95..107")
@case("a=-1..1 b=-5..3", "y=-6..3 z=-3..6")
@entity
def sum_and_difference(a, b, y, z):
    """The bounds of the outputs are those of the values."""

    @always_comb
    def p():
        y.next = a + b
        z.next = a - b

    return p


@case("x=b", "y=-3..11 z=-3..11")
@entity
def counts_in_bounds(clk, x, y, z):
    """Counters go up and down within odd bounds."""

    @always(clk.posedge)
    def p():
        if y == 10:
            y.next = -3
        else:
            y.next = y + 1
        if x:
            z.next = z + 1 if z < 10 else z
        elif z > -3:
            z.next = z - 1

    return p


@case("a=-3..11 b=2..9", "y=u6 z=u5")
@entity
def bounds_in_index(a, b, y, z):
    """A signal with odd bounds chooses an entry and names a bit."""
    t = (5, 3, 9, 12, 0, 7, 2, 8, 41, 33, 20, 19, 17, 55)

    @always_comb
    def p():
        y.next = t[a + 3]
        z.next = a[b - 2] if b < 7 else a[5:]

    return p


idiom("index by an expression")


@case("a=u2 b=u2", "y=u4 z=u4")
@entity
def tuple_by_expression(a, b, y, z):
    """Sums, differences and products choose an entry."""
    t = (5, 3, 9, 12, 0, 7, 2, 8, 15, 1)

    @always_comb
    def p():
        y.next = t[a + b] ^ t[a * b]
        z.next = t[a - b + 3]

    return p


@case("a=u3 b=u3 d=u5", "y=u5")
@case("a=u3 b=u3 d=u5", "y=-3..32")
@entity
def memory_by_expression(clk, a, b, d, y):
    """Expressions choose the word that is written and the one that is read."""
    words = [Signal(intbv(i)[5:]) for i in range(8)]

    @always(clk.posedge)
    def p():
        words[(a + b) % 8].next = d
        y.next = words[7 - a]

    return p


@case("a=u3 b=u3", "y=u3")
@entity
def index_of_index(a, b, y):
    """An entry chooses an entry."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)
    words = [Signal(intbv(7 - i)[3:]) for i in range(8)]

    @always_comb
    def p():
        y.next = t[t[a] ^ b] if t[a] > b else words[t[b]]

    return p


idiom("negative index")


@case("s=u2", "y=u4 z=u4")
@entity
def index_below_zero(s, y, z):
    """An index below zero counts from the end."""
    t = (5, 3, 9, 12)

    @always_comb
    def p():
        y.next = t[s - 1]
        z.next = t[-1] ^ t[-1 - s]

    return p


@case("s=s3", "y=u4")
@entity
def signed_index(clk, s, y):
    """A signed index counts from both ends."""
    t = (5, 3, 9, 12)

    @always(clk.posedge)
    def p():
        y.next = t[s]

    return p


@case("s=u2 d=u4", "y=u4 z=u4")
@entity
def memory_below_zero(clk, s, d, y, z):
    """An index of a memory below zero counts from the end."""
    words = [Signal(intbv(i)[4:]) for i in range(4)]

    @always(clk.posedge)
    def p():
        words[s - 1].next = d
        y.next = words[-1]
        z.next = words[s - 2]

    return p


@case("a=u2", "y=u3")
@entity
def odd_table_from_end(a, y):
    """A table of five numbers is read from its end."""
    table = (1, 2, 4, 6, 7)

    @always_comb
    def p():
        y.next = table[a - 1]

    return p


idiom("width one")


@case("a=u1 b=u1", "y=u1 z=u2 w=b")
@case("a=u1 b=b", "y=u1 z=u2 w=b")
@case("a=b b=u1", "y=u1 z=u2 w=b")
@entity
def vectors_of_one_bit(a, b, y, z, w):
    """Vectors of one bit are operands beside bits."""

    @always_comb
    def p():
        y.next = a ^ b
        z.next = a + b
        w.next = a == b

    return p


@case("a=u1 b=s1 c=u4", "y=u1 z=s5")
@entity
def one_bit_in_condition(clk, a, b, c, y, z):
    """Vectors of one bit are conditions, indices and values."""
    t = (9, -6)

    @always(clk.posedge)
    def p():
        y.next = not a
        if a and not b:
            z.next = t[a]
        elif b < 0:
            z.next = b - c[1:]
        else:
            z.next = t[c[a]]

    return p


@case("a=b b=u1", "y=b z=u1 w=u1")
@entity
def bits_and_vectors(a, b, y, z, w):
    """Bits are assigned to vectors of one bit, and the other way."""

    @always_comb
    def p():
        y.next = b
        z.next = a
        w.next = a and b[0]

    return p


idiom("width 70")


@case("a=u70 b=u70", "y=u71 z=s71")
@case("a=s70 b=s70", "y=s72 z=s71")
@entity
def wide_sum(a, b, y, z):
    """Sums and differences have 70 bits and more."""

    @always_comb
    def p():
        y.next = a + b
        z.next = a - b

    return p


@case("a=u70 b=u4 s=u7", "y=u74 z=u70 w=b")
@entity
def wide_shift(clk, a, b, s, y, z, w):
    """Wide vectors are multiplied, shifted and indexed."""

    @always(clk.posedge)
    def p():
        y.next = a * b
        z.next = (a >> s) | (b << 66)
        w.next = a[s] if s < 70 else a[69]

    return p


@case("a=u70 b=s70", "y=u3 z=u70")
@entity
def wide_in_condition(a, b, y, z):
    """Wide vectors are compared, sliced and negated."""

    @always_comb
    def p():
        if a == b:
            y.next = 1
        elif -b > a:
            y.next = 2
        elif a[70:35] < a[35:]:
            y.next = 3
        else:
            y.next = a[70:67]
        z.next = ~a if b < 0 else concat(a[35:], a[70:35])

    return p
