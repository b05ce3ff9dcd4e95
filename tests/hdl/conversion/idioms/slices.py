"""Bits and slices are taken of signals, variables and expressions, and seen as signed."""

from myhdl import always, always_comb, concat, intbv

from idioms.cases import case, idiom
from merp import entity

idiom("constant slices")


@case("a=u8", "y=u4 z=u3 w=b")
@case("a=s8", "y=u4 z=u3 w=b")
@case("a=-100..90", "y=u4 z=u3 w=b")
@entity
def parts_of_vector(a, y, z, w):
    """The outputs are slices and a bit; a slice of a negative number is positive."""

    @always_comb
    def p():
        y.next = a[8:4]
        z.next = a[3:]
        w.next = a[7]

    return p


@case("a=u8", "y=u5 z=u9")
@case("a=s8", "y=s5 z=s9")
@entity
def upper_part(clk, a, y, z):
    """A slice without an upper end keeps the sign."""

    @always(clk.posedge)
    def p():
        y.next = a[:3]
        z.next = a[:1] + a[:]

    return p


@case("a=u8 b=u4", "y=u5 z=u3", n=4)
@entity
def slices_in_expression(a, b, y, z, n):
    """Slices are operands, conditions and indices."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        y.next = a[n + 2 : n] + a[n:] + a[7]
        if a[6:3] == b[3:]:
            z.next = a[0] + a[n - 1]
        elif b[n - 1] and not a[2]:
            z.next = t[b[3:]]
        else:
            z.next = a[3:1]

    return p


idiom("bit that a signal names")


@case("a=u8 s=u3", "y=b")
@case("a=s8 s=u3", "y=b")
@case("a=-3..11 s=0..5", "y=b")
@entity
def bit_by_signal(a, s, y):
    """A signal names the bit."""

    @always_comb
    def p():
        y.next = a[s]

    return p


@case("a=u8 s=u2 r=u2", "y=u4 z=u3")
@entity
def bit_by_expression(clk, a, s, r, y, z):
    """Expressions name bits, which are operands and conditions."""

    @always(clk.posedge)
    def p():
        y.next = a[s + r] + a[7 - s] + (a[s + 4] << 1)
        if a[s] and a[r] != a[s * 2]:
            z.next = 5
        else:
            z.next = a[s ^ r]

    return p


@case("a=u8 s=u4", "y=b")
@case("a=s8 s=u4", "y=b")
@entity
def bit_beyond_width(a, s, y):
    """Beyond the width there are zeros, or copies of the sign."""

    @always_comb
    def p():
        y.next = a[s]

    return p


idiom("slice that a signal names")


@case("a=u8 s=u2", "y=u4")
@case("a=s8 s=u2", "y=u4")
@entity
def slice_by_signal(a, s, y):
    """A signal names the lower end of a slice of four."""

    @always_comb
    def p():
        y.next = a[s + 4 : s]

    return p


@case("a=u8 s=u3", "y=u8")
@entity
def low_bits_by_signal(clk, a, s, y):
    """A signal names how many low bits are taken."""

    @always(clk.posedge)
    def p():
        y.next = a[s + 1 :]

    return p


@case("a=u16 s=u2", "y=u4 z=b")
@entity
def digit_by_signal(a, s, y, z):
    """A signal names a digit of four bits, in a condition, too."""

    @always_comb
    def p():
        y.next = a[s * 4 + 4 : s * 4]
        z.next = 0
        if a[s * 4 + 4 : s * 4] > 9:
            z.next = 1

    return p


idiom("variable of bits")


@case("a=u8 b=u4", "y=u8 z=b")
@case("a=s8 b=u4", "y=u8 z=b")
@entity
def parts_of_variable(a, b, y, z):
    """Slices and bits of a variable are read and written."""

    @always_comb
    def p():
        v = intbv(0)[8:]
        v[:] = (a + b) & 0xFF
        y.next = v[4:] + v[7]
        z.next = v[5]
        if v[8:6] == 2:
            y.next = v[6:1]

    return p


@case("a=u8 s=u3 x=b", "y=u8")
@entity
def written_by_signal(clk, a, s, x, y):
    """A signal names the bit of a variable that is written."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        v[s] = x
        v[4:2] = a[8:6]
        v[0] = not v[s]
        y.next = v

    return p


@case("a=-3..11 b=-3..11", "y=s6 z=b")
@entity
def variable_with_bounds(a, b, y, z):
    """A variable has bounds of its own."""

    @always_comb
    def p():
        v = intbv(0, min=-6, max=22)
        v[:] = a + b
        y.next = v - 1
        z.next = v[2] ^ v[5] if v < 0 else v[3]

    return p


idiom("slice of an expression")


@case("a=u8 b=u8", "y=u8 z=u4")
@case("a=s8 b=s6", "y=u8 z=u4")
@case("a=-3..11 b=s6", "y=u8 z=u4")
@entity
def low_part_of_expression(a, b, y, z):
    """The low bits of expressions are taken."""

    @always_comb
    def p():
        y.next = intbv(a + b)[8:]
        z.next = intbv(a - b)[4:]

    return p


@case("a=u8 b=u8", "y=u8 z=u4")
@case("a=s8 b=u8", "y=u8 z=u4")
@entity
def middle_of_expression(clk, a, b, y, z):
    """Middle bits of expressions are taken."""

    @always(clk.posedge)
    def p():
        y.next = intbv(a * b)[12:4]
        z.next = intbv(a + b + 1)[8:4]

    return p


@case("a=u8 b=u8", "y=u3 z=b")
@entity
def slice_of_expression_in_condition(a, b, y, z):
    """A slice of an expression stands in a condition and in an index."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        if intbv(a + b)[9:7] == 1:
            y.next = 2
        else:
            y.next = t[intbv(a - b)[6:3]]
        z.next = intbv(a + b)[8]

    return p


idiom("parts of parts")


@case("a=u8", "y=u3 z=b")
@case("a=s8", "y=u3 z=b")
@entity
def slice_of_slice(a, y, z):
    """Slices and bits of slices are taken."""

    @always_comb
    def p():
        y.next = a[7:2][4:1]
        z.next = a[6:1][3]

    return p


@case("a=u8 b=s4 s=u2", "y=u4 z=b")
@entity
def slice_of_shifted(clk, a, b, s, y, z):
    """Parts of shifted, masked and joined vectors are taken."""

    @always(clk.posedge)
    def p():
        y.next = (a >> s)[5:1]
        z.next = (a ^ b)[s] or concat(a[2:], b)[s + 1]

    return p


@case("a=u8 b=u8", "y=u3")
@entity
def slice_of_slice_in_condition(a, b, y):
    """Parts of parts are compared and are an index."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        if a[8:3][2:] == b[5:][5:3]:
            y.next = 1
        elif (a & b)[6:3] > 4:
            y.next = ~a[6:2][3:]
        else:
            y.next = t[(a | b)[7:1][4:1]]

    return p


idiom("signed view")


@case("a=u8", "y=s8 z=s4")
@case("a=s8", "y=s8 z=s4")
@entity
def seen_as_signed(a, y, z):
    """The bits of a vector and of a slice are taken as signed."""

    @always_comb
    def p():
        y.next = a.signed()
        z.next = a[6:2].signed()

    return p


@case("a=u8 b=u4", "y=s9 z=u2")
@entity
def signed_in_expression(clk, a, b, y, z):
    """Signed views are operands and are compared."""

    @always(clk.posedge)
    def p():
        y.next = a.signed() + b.signed() * a[2:].signed()
        z.next = 0
        if a.signed() < b:
            z.next = 1
        elif a[4:].signed() == -1:
            z.next = 2

    return p


@case("a=u4 b=u4", "y=s8 z=s5")
@entity
def signed_expression(a, b, y, z):
    """The low bits of an expression are taken as signed."""

    @always_comb
    def p():
        y.next = concat(a, b).signed()
        z.next = intbv(a + b)[5:].signed()

    return p
