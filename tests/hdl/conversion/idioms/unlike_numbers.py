"""Numbers of unlike bounds meet in comparisons, in sums, in choices and in targets."""

from myhdl import always, always_comb, intbv

from idioms.cases import case, idiom, signal
from merp import entity

idiom("comparison with constants")


@case("a=u4", "y=u3", n=7)
@case("a=s4", "y=u3", n=7)
@case("a=-3..11", "y=u3", n=12)
@entity
def against_constants(a, y, n):
    """Constants are negative, out of bounds, or expressions of a parameter."""

    @always_comb
    def p():
        y.next = 0
        if a == n - 1:
            y.next = 1
        elif a < -2:
            y.next = 2
        elif a == -1:
            y.next = 3
        elif a > n - 5:
            y.next = 4
        elif a != 20:
            y.next = 5

    return p


@case("a=u4 b=s4", "y=b z=b w=b", n=8)
@entity
def comparisons_assigned(clk, a, b, y, z, w, n):
    """Comparisons of expressions with constants are assigned."""

    @always(clk.posedge)
    def p():
        y.next = a > -1
        z.next = a - n >= -n // 2
        w.next = b * 2 <= 1 - n

    return p


@case("a=u4 b=s4", "y=u4")
@entity
def comparison_chooses(a, b, y):
    """A comparison with a negative constant chooses and counts."""

    @always_comb
    def p():
        y.next = a if b < -3 else (b >= -1) + (a <= 15) + (-5 < b)

    return p


idiom("constants beyond 2**63")


@case("a=u64", "y=u65", k=2**63)
@case("a=s65", "y=s66", k=-(2**63) - 1)
@case("a=u70", "y=u71", k=2**70 - 1)
@entity
def plus_large_constant(clk, a, y, k):
    """A constant of more than 63 bits is added."""

    @always(clk.posedge)
    def p():
        y.next = a + k

    return p


@case("a=u70", "y=u70 z=u3")
@entity
def masked_by_large(a, y, z):
    """Masks and limits have more than 63 bits."""

    @always_comb
    def p():
        y.next = (a & 0xFFFF_FFFF_0000_0000_F) ^ 0x1_0000_0000_0000_0000
        if a >= 2**69:
            z.next = 4
        elif a > 0x7FFF_FFFF_FFFF_FFFF:
            z.next = 2
        elif a < 5:
            z.next = 1
        else:
            z.next = 0

    return p


@case("a=s40 s=u1", "y=s75")
@entity
def large_factors(a, s, y):
    """Factors beyond 2**31 stand in a tuple and in the text."""
    t = (-(2**33), 2**33 + 1)

    @always_comb
    def p():
        y.next = a * t[s] if a < 0 else a * 0x1_2345_6789

    return p


idiom("conditional expressions")


@case("a=u8 b=s4 x=b", "y=s9")
@case("a=b b=u3 x=b", "y=u3")
@case("a=-3..11 b=20..30 x=b", "y=-3..30")
@entity
def chosen_of_two(a, b, x, y):
    """The branches have unequal bounds."""

    @always_comb
    def p():
        y.next = a if x else b

    return p


@case("a=u4 b=s4 x=b", "y=s11 z=u10")
@entity
def choice_in_expression(clk, a, b, x, y, z):
    """A choice is an operand, and branches are constants and choices."""

    @always(clk.posedge)
    def p():
        y.next = (a if x else b) * (300 >> 3) - (a if a > b else -1)
        z.next = a if x else (7 if b < 0 else 300 + b)

    return p


@case("a=u4 b=s4 x=b", "y=u4")
@entity
def choice_in_condition(a, b, x, y):
    """A choice stands in a condition and in an index."""
    t = (5, 3, 9, 12, 0, 7, 2, 8)

    @always_comb
    def p():
        if (a if x else b) > 3:
            y.next = 15
        else:
            y.next = t[0 if b < 0 else (b if x else a & 7)]

    return p


idiom("unlike targets")


@case("a=u4 b=s5 x=b", "y=u4 z=s3 w=b")
@case("a=-3..11 b=s4 x=b", "y=u4 z=s3 w=b")
@entity
def sign_of_target(a, b, x, y, z, w):
    """Conditions make numbers fit targets with other bounds, and bits take numbers."""

    @always_comb
    def p():
        y.next = a if a >= 0 else 0
        z.next = 3
        if -4 <= b and b < 4:
            z.next = b
        w.next = a & 1

    return p


@case("a=u4 b=s4", "y=u6 z=s9 w=b")
@entity
def bits_and_numbers(clk, a, b, y, z, w):
    """Vectors take truths, bits take rests, and numbers go to wider vectors."""

    @always(clk.posedge)
    def p():
        y.next = a > b
        z.next = b
        w.next = (a - b) % 2
        if b < 0:
            y.next = a[0]
            z.next = a[3]
        elif a[1]:
            z.next = True
            w.next = b >> 3

    return p


@case("a=u3 b=s4", "y=s9 z=b")
@entity
def targets_within(a, b, y, z):
    """Variables and inner signals take numbers of another sign."""
    inner = signal("s9")
    small = signal("u3")

    @always_comb
    def p():
        v = intbv(0, min=-9, max=12)
        v[:] = a
        v -= b >> 1
        inner.next = v
        small.next = b[3:]

    @always_comb
    def q():
        y.next = inner - small
        z.next = inner == small or small > -1 + a

    return p, q
