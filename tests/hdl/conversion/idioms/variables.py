"""A variable is bound again, to other bounds or to a truth, and changed by operators."""

from myhdl import always, always_comb, instance, intbv

from idioms.cases import case, idiom
from merp import entity

idiom("integer variables")


@case("a=u4 b=u4", "y=s9")
@case("a=s4 b=u4", "y=s9")
@entity
def rebound_variable(a, b, y):
    """A variable is bound again, with other bounds each time."""

    @always_comb
    def p():
        x = a + b
        if x > 20:
            x = x - a * 2
        x = x * 3
        x = 9 - x
        y.next = x

    return p


@case("a=u4 b=s4 x=b", "y=s6 z=u4")
@entity
def variable_of_branches(clk, a, b, x, y, z):
    """Branches bind a variable to unlike things, or to a signal."""

    @always(clk.posedge)
    def p():
        if x:
            v = a
        elif a > 9:
            v = b
        else:
            v = -7
        y.next = v + 1
        w = a[2:]
        w = w + 1
        w = w << 1
        z.next = w

    return p


@case("a=u4 b=u4", "y=u4 z=u4 w=u3")
@entity
def swapped_variables(a, b, y, z, w):
    """Variables are exchanged, compared and an index."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        low, high = a, b
        if low > high:
            low, high = high, low
        y.next = low
        z.next = high
        distance = high - low
        if distance < 8:
            w.next = t[distance]
        else:
            w.next = 0

    return p


idiom("truths as variables")


@case("a=u4 b=s4", "y=b z=u3")
@entity
def rebound_truth(a, b, y, z):
    """A truth is bound again and negated."""

    @always_comb
    def p():
        less = a < b
        same = a == b
        if not less:
            less = b < -3
        y.next = not less or same
        z.next = less + same * 2 + 3

    return p


@case("a=u6", "y=b z=b")
@entity
def flags_of_loop(clk, a, y, z):
    """A loop sets and flips flags."""

    @always(clk.posedge)
    def p():
        parity = False
        seen = False
        for i in range(6):
            parity = parity != a[i]
            if a[i] and parity:
                seen = True
        y.next = parity
        z.next = seen

    return p


@case("a=u4 x=b", "y=u4")
@entity
def truth_from_bits(a, x, y):
    """Variables are bits, slices and expressions of bits."""
    t = (4, 13)

    @always_comb
    def p():
        first = a[0]
        second = a[1] ^ a[2]
        third = x and first
        if second:
            third = not third
        if third and not first:
            y.next = t[second]
        else:
            y.next = t[third] - first

    return p


idiom("augmented assignment")


@case("a=u4 b=u4", "y=s9 z=u4")
@case("a=s4 b=u4", "y=s9 z=u4")
@entity
def augmented_numbers(a, b, y, z):
    """Numbers are changed by each operator."""

    @always_comb
    def p():
        x = a + 0
        x += b
        x -= 3
        x *= -2
        x //= 3
        x <<= 2
        y.next = x
        w = a + b
        w %= 11
        w >>= 1
        w |= 8
        w ^= 5
        w &= 13
        z.next = w

    return p


@case("a=u4 b=u4", "y=u8")
@entity
def augmented_vector(clk, a, b, y):
    """A vector is changed by each operator, within its bounds."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        v += b
        v <<= 2
        v -= a
        v ^= 0x55
        v //= 3
        v *= 2
        v |= b
        v &= 0xFE
        v >>= 1
        y.next = v

    return p


@case("a=u4 b=s4", "y=s8 z=u3")
@entity
def augmented_in_branches(a, b, y, z):
    """Branches and loops change a variable."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        total = 5
        if a > 7:
            total += b * 2
        elif b < 0:
            total -= a
        for i in range(3):
            if a[i]:
                total += t[i]
            else:
                total -= i
        y.next = total
        place = 7
        place -= a[3:]
        z.next = t[place]

    return p


idiom("values of signals that are kept")


@case("x=b", "y=b")
@entity
def kept_value(clk, x, y):
    """A variable keeps the value of a bit from run to run."""

    @instance
    def p():
        before = False
        while True:
            yield clk.posedge
            y.next = x and not before
            before = x.val

    return p


@case("x=b a=u3", "y=u4")
@entity
def kept_truth(clk, x, a, y):
    """A variable keeps whether a number is not zero."""

    @instance
    def p():
        was_any = True
        while True:
            yield clk.posedge
            y.next = a + 1 if was_any else 0
            was_any = bool(a) and bool(x)

    return p


@case("x=b a=u4", "y=u5")
@entity
def kept_choice(clk, x, a, y):
    """A variable keeps one of two numbers, and one of two values."""

    @instance
    def p():
        step, before = 1, 0
        while True:
            yield clk.posedge
            y.next = step + before
            step = 3 if x else 2
            before = int(a) if x else 9

    return p
