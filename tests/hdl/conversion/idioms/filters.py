"""What filters have: counters, sums of products, distances and leading zeros."""

from myhdl import always, always_comb, downrange, intbv

from idioms.cases import case, idiom, signal
from merp import entity

idiom("counters with wrap")


@case("x=b", "y=0..10 z=u1", n=10)
@case("x=b", "y=0..7 z=u1", n=7)
@entity
def counter_by_rest(clk, x, y, z, n):
    """The rest wraps a counter, and a comparison tells of its end."""

    @always(clk.posedge)
    def p():
        if x:
            y.next = (y + 1) % n
        z.next = y == n - 1

    return p


@case("x=b up=b", "y=0..10", n=10)
@case("x=b up=b", "y=u4@9", n=10)
@entity
def counter_both_ways(clk, x, up, y, n):
    """A counter wraps at both ends."""

    @always(clk.posedge)
    def p():
        if x:
            if up:
                y.next = 0 if y == n - 1 else y + 1
            else:
                y.next = n - 1 if not y else y - 1

    return p


@case("x=b", "y=0..6 z=0..4 w=b", inner=6, outer=4)
@entity
def nested_counters(clk, x, y, z, w, inner, outer):
    """The end of a counter moves another one on."""

    @always(clk.posedge)
    def p():
        w.next = False
        if y + 1 < inner:
            y.next = y + 1
        else:
            y.next = 0
            if z < outer - 1 and x:
                z.next = z + 1
            else:
                z.next = 0
                w.next = True

    return p


idiom("sum of products")


@case("x=s8", "y=s13", taps=(-3, 7, 12, -5))
@case("x=u8", "y=s13", taps=(9, -1, -4))
@entity
def filter_of_list(clk, x, y, taps):
    """A loop multiplies the words of a list with the entries of a tuple."""
    n = len(taps)
    line = [signal("s8" if x.min < 0 else "u8") for _ in range(n)]

    @always(clk.posedge)
    def p():
        total = 0
        for i in range(n):
            total += taps[i] * line[i]
        y.next = total
        line[0].next = x
        for i in range(1, n):
            line[i].next = line[i - 1]

    return p


@case("a=s4 b=s4 c=s4", "y=s9 z=s5")
@entity
def filter_of_signals(a, b, c, y, z):
    """Products with entries are added and shifted."""
    t = (5, -11, 2)

    @always_comb
    def p():
        y.next = t[0] * a + t[1] * b + t[2] * c
        z.next = (t[0] * a + t[1] * b + t[2] * c + 8) >> 4

    return p


@case("x=s6 s=u2 clear=b", "y=s12")
@entity
def filter_in_turns(clk, x, s, clear, y):
    """A signal chooses the coefficient, and the sum saturates."""
    t = (-7, 31, -32, 0)

    @always(clk.posedge)
    def p():
        if clear:
            y.next = t[s] * x
        elif -2048 <= y + t[s] * x < 2048:
            y.next = y + t[s] * x
        else:
            y.next = -2048 if y < 0 else 2047

    return p


idiom("absolute difference")


@case("a=u8 b=u8", "y=u8")
@case("a=s8 b=s8", "y=u8")
@case("a=-3..11 b=s4", "y=u5")
@entity
def distance(a, b, y):
    """The larger one is subtracted from."""

    @always_comb
    def p():
        y.next = a - b if a > b else b - a

    return p


@case("a=u4 b=u4 c=u4", "y=u6")
@entity
def sum_of_distances(clk, a, b, c, y):
    """Magnitudes of differences are added."""

    @always(clk.posedge)
    def p():
        y.next = abs(a - b) + abs(b - c) + abs(c - a - 1)

    return p


@case("a=u4 b=s4", "y=u2 z=u5")
@entity
def distance_in_condition(a, b, y, z):
    """A variable with a sign is turned, compared and assigned."""

    @always_comb
    def p():
        d = a - b
        if d < 0:
            d = -d
        z.next = d
        y.next = 0
        if d > 9:
            y.next = 1
        elif abs(a + b) == d:
            y.next = 2

    return p


idiom("leading zeros")


@case("a=u8", "y=u4")
@case("a=s8", "y=u4")
@entity
def zeros_by_loop(a, y):
    """A loop counts up to the first one."""

    @always_comb
    def p():
        n = 0
        for i in downrange(8):
            if a[i]:
                break
            n += 1
        y.next = n

    return p


@case("a=u8", "y=u4 z=u8")
@entity
def zeros_by_halves(clk, a, y, z):
    """Halves of the vector are looked at, and the vector is normalized."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        n = 0
        if a == 0:
            n = 8
        else:
            if v[8:4] == 0:
                n += 4
                v[:] = v[4:] << 4
            if v[8:6] == 0:
                n += 2
                v[:] = v[6:] << 2
            if not v[7]:
                n += 1
                v[:] = v[7:] << 1
        y.next = n
        z.next = v

    return p


@case("a=u6 b=u6", "y=u4 z=u6")
@entity
def zeros_by_helper(a, b, y, z):
    """A helper counts for sums, and what it finds shifts."""

    def zeros(v):
        for i in range(7):
            if v >> (6 - i):
                return i
        return 7

    @always_comb
    def p():
        y.next = zeros(a + b)
        z.next = (a << zeros(a) - 1) & 63 if a > 0 else zeros(b)

    return p
