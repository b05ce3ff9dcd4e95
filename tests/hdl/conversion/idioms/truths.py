"""Numbers are truths and truths are numbers, by themselves and joined."""

from myhdl import always, always_comb

from idioms.cases import case, idiom
from merp import entity

idiom("bool and int")


@case("a=u4 b=s4 x=b", "y=u6 z=b")
@case("a=s3 b=u5 x=b", "y=s6 z=b")
@entity
def conversions(a, b, x, y, z):
    """Numbers of bits, and truth of numbers."""

    @always_comb
    def p():
        y.next = int(a) + int(x) + int(a[2])
        z.next = bool(a) and not bool(b - 1)

    return p


@case("a=u4 b=u4 x=b", "y=u5 z=u2")
@entity
def comparisons_as_numbers(clk, a, b, x, y, z):
    """Comparisons are numbers."""

    @always(clk.posedge)
    def p():
        y.next = (int(x) << 3) + int(a > b) * 5
        z.next = (a > b) + (a == 3) + bool(a[3:1])

    return p


@case("a=u4 b=u4", "y=u4 z=b")
@entity
def conversions_in_condition(a, b, y, z):
    """Converted values are compared and choose an entry."""
    t = (6, 11, 3)

    @always_comb
    def p():
        z.next = bool(a & b) != bool(a | b)
        if bool(a) == bool(b):
            y.next = t[int(a[0]) + int(b[0])]
        else:
            y.next = t[bool(a ^ 7)]

    return p


idiom("numbers as conditions")


@case("a=u4 b=u4", "y=u3")
@case("a=s4 b=u3", "y=u3")
@case("a=b b=s2", "y=u3")
@entity
def numbers_decide(a, b, y):
    """Vectors, sums, differences and masks are conditions."""

    @always_comb
    def p():
        if not a:
            y.next = 1
        elif a - b:
            y.next = 2
        elif a & 4:
            y.next = 3
        elif a + b:
            y.next = 4
        else:
            y.next = 5

    return p


@case("a=u4 b=s4", "y=b z=u3 w=b")
@entity
def numbers_negated(clk, a, b, y, z, w):
    """Vectors and expressions are negated and choose."""

    @always(clk.posedge)
    def p():
        y.next = not a
        z.next = 5 if a[3:1] else (3 if not (a + b) else 6)
        w.next = not (a * b) or not a[0]

    return p


@case("a=u4 b=s4", "y=u3")
@entity
def numbers_joined(a, b, y):
    """Vectors are joined in conditions."""

    @always_comb
    def p():
        if a and b:
            y.next = 1
        elif a or b + 1:
            y.next = 2
        elif not (a or b):
            y.next = 3
        else:
            y.next = 4

    return p


idiom("and, or and not")


@case("a=u4 b=s4 x=b w=b", "y=b z=b")
@case("a=s3 b=u3 x=b w=b", "y=b z=b")
@entity
def joined_conditions(a, b, x, w, y, z):
    """Bits and comparisons are joined."""

    @always_comb
    def p():
        y.next = (x and w) or (not x and a > b)
        z.next = not (a == b or x) and (w or b > 1)

    return p


@case("a=u4 x=b w=b", "y=b z=u3")
@entity
def joined_bits(clk, a, x, w, y, z):
    """Bits of vectors are joined, and what comes out is a number."""

    @always(clk.posedge)
    def p():
        y.next = a[0] and (a[1] or not a[2]) and x
        z.next = (x and w) + (x or w) + (not x)

    return p


@case("a=u4 b=u4 x=b", "y=u3")
@entity
def joined_in_index(a, b, x, y):
    """Joined comparisons choose an entry and decide."""
    t = (5, 2)

    @always_comb
    def p():
        if (x and a < b) or (not x and a[3] != b[3]):
            y.next = t[a[0] and b[0]]
        elif not (a[0] and not b[0]):
            y.next = 7
        else:
            y.next = t[not x]

    return p


idiom("and, or of vectors")


@case("a=u4 b=s4", "y=s5 z=s5")
@case("a=s3 b=u4", "y=s5 z=s5")
@entity
def operand_that_decides(a, b, y, z):
    """The output is the operand that decides, and no truth."""

    @always_comb
    def p():
        y.next = a and b
        z.next = a or b

    return p


@case("a=u4 b=u4 x=b", "y=u6 z=u4")
@entity
def operands_in_expression(clk, a, b, x, y, z):
    """The operand that decides is added, or a bit stands for a number."""

    @always(clk.posedge)
    def p():
        y.next = (a and b) + (a or 9) + 3
        z.next = (x and a) or b

    return p


@case("a=u3 b=u3", "y=u3")
@entity
def operand_in_condition(a, b, y):
    """The operand that decides is compared and is an index."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        if (a or b) > 4:
            y.next = t[a and b]
        else:
            y.next = a[2:] or b

    return p


idiom("operators on bits")


@case("a=u4 b=s4 x=b w=b", "y=b z=b")
@case("a=s3 b=u3 x=b w=b", "y=b z=b")
@entity
def bits_by_operators(a, b, x, w, y, z):
    """Operators join bits and comparisons."""

    @always_comb
    def p():
        y.next = x & (a > b) | (w ^ x)
        z.next = (a == b) ^ (a < 2) ^ bool(b)

    return p


@case("a=u4 x=b w=b", "y=u4 z=u3")
@entity
def bits_beside_vectors(clk, a, x, w, y, z):
    """Operators join bits with vectors, bits of vectors and constants."""

    @always(clk.posedge)
    def p():
        y.next = (a ^ x) & ~a[3:] | (w << 2)
        z.next = (x | 4) ^ a[1] ^ (w & a[2])

    return p


@case("a=u4 b=u4 x=b", "y=u3")
@entity
def operators_bind_tightly(a, b, x, y):
    """Operators bind more tightly than comparisons, as they do in Python."""
    t = (6, 3)

    @always_comb
    def p():
        if a & 3 == b:
            y.next = 1
        elif x ^ a[0] == b[0] | 0:
            y.next = t[x & a[1]]
        elif a | 8 > b + 6 and not x ^ b[1]:
            y.next = 4
        else:
            y.next = 5

    return p


idiom("chained comparisons")


@case("a=u4 b=u4 c=u4", "y=b z=b")
@case("a=u4 b=s4 c=u3", "y=b z=b")
@entity
def chains_assigned(a, b, c, y, z):
    """Chains of comparisons are assigned."""

    @always_comb
    def p():
        y.next = a < b < c
        z.next = 1 < a <= 9 != b

    return p


@case("a=s4 b=u4", "y=u3", n=6)
@case("a=-3..11 b=u4", "y=u3", n=3)
@entity
def chains_decide(clk, a, b, y, n):
    """Chains of comparisons decide."""

    @always(clk.posedge)
    def p():
        if -3 <= a < n - 1:
            y.next = 1
        elif 0 <= a + b <= 20 - n:
            y.next = 2
        elif a == b == 7:
            y.next = 3
        else:
            y.next = 4

    return p


@case("a=u4 b=u4 c=u4", "y=u4 z=u2")
@entity
def chains_choose(a, b, c, y, z):
    """Chains of comparisons choose an entry and are summands."""
    t = (3, 14)

    @always_comb
    def p():
        y.next = a if b < a < c else t[a <= c < b]
        z.next = (a < b < c) + (0 < c < 9) + (a > c > b)

    return p


idiom("negated comparisons")


@case("a=u3 b=u3", "y=u4")
@case("a=s3 b=s3", "y=u4")
@case("a=s3 b=u3", "y=u4")
@entity
def not_compared(a, b, y):
    """Each order is negated; equal operands tell it from its reverse."""

    @always_comb
    def p():
        y.next = 0
        if not a < b:
            y.next[0] = 1
        if not a <= b:
            y.next[1] = 1
        y.next[2] = not a > b
        y.next[3] = not a >= b

    return p


idiom("in and not in")


@case("a=u4 b=u4", "y=b z=b")
@case("a=s4 b=u3", "y=b z=b")
@case("a=-3..11 b=s5", "y=b z=b")
@entity
def membership_assigned(a, b, y, z):
    """Membership in tuples of constants is assigned."""

    @always_comb
    def p():
        y.next = a in (1, -2, 5)
        z.next = a + b not in (3, 5, 12, -1)

    return p


@case("a=u4 b=u4", "y=u3", n=6)
@entity
def membership_decides(clk, a, b, y, n):
    """Membership in a named tuple, and of a slice, decides."""
    odd = (1, 3, 5, 7, 9, 11, 13, 15)

    @always(clk.posedge)
    def p():
        if a in odd and b not in odd:
            y.next = 1
        elif a[3:] not in (0, 7, n - 2):
            y.next = 2
        elif b in (n, n + 1):
            y.next = 3
        else:
            y.next = 4

    return p


@case("a=u3 b=u3 x=b", "y=u4 z=u2")
@entity
def membership_chooses(a, b, x, y, z):
    """Membership chooses an entry and is a summand."""
    t = (2, 13)

    @always_comb
    def p():
        y.next = t[a in (2, 6)] if x in (False,) else t[a * b in (0, 12)]
        z.next = (a in (1, 2)) + (b not in (1, 2)) + (a not in (2, 3))

    return p
