"""Where a process goes on: match, loops with steps, break and continue."""

from myhdl import Signal, always, always_comb, downrange, enum, intbv

from idioms.cases import case, idiom
from merp import entity

idiom("match")


@case("a=u4 b=u4", "y=u4")
@case("a=s4 b=u4", "y=u4")
@case("a=-3..11 b=u4", "y=u4")
@entity
def match_of_numbers(a, b, y):
    """The cases are numbers, alternatives and the rest."""

    @always_comb
    def p():
        match a:
            case 0:
                y.next = b
            case 1 | 2 | 7:
                y.next = 15 - b
            case -1:
                y.next = 3
            case _:
                y.next = 9

    return p


@case("a=u3 b=u3 x=b", "y=u4")
@entity
def match_of_expression(clk, a, b, x, y):
    """The subjects are a sum, a slice and a bit, and nothing happens without a case."""

    @always(clk.posedge)
    def p():
        match a + b:
            case 9 | 14:
                y.next = 1
            case 8:
                match a[2:]:
                    case 1:
                        y.next = 2
                    case 3:
                        y.next = 3
            case 0 | 3:
                match x:
                    case 0:
                        y.next = 5
                    case 1:
                        y.next = 6

    return p


@case("a=u2 x=b", "y=u4")
@entity
def match_of_members(clk, a, x, y):
    """The cases are members of an enumeration."""
    kinds = enum("load", "shift", "hold")
    kind = Signal(kinds.hold)

    @always(clk.posedge)
    def p():
        match kind:
            case kinds.load:
                y.next = a
                kind.next = kinds.shift
            case kinds.shift | kinds.hold:
                y.next = ((y << 1) & 15) | x
                kind.next = kinds.load if x else kinds.hold
            case _:
                y.next = y ^ 5

    return p


@case("a=u3 x=b", "y=u3 z=u3")
@case("a=s3 x=b", "y=u3 z=u3")
@entity
def match_with_guards(a, x, y, z):
    """Conditions guard the cases, and a variable of the cases is an index."""
    t = (5, 3, 1, 6, 0, 7, 2, 4)

    @always_comb
    def p():
        place = 2
        y.next = 0
        match a:
            case 3 if x:
                y.next = 4
            case 1 | 3 if not x or a > 2:
                y.next = 5
                place = 6
            case -1 | 2:
                place = 7
        z.next = t[place]

    return p


idiom("loops with steps")


@case("a=u8", "y=u8 z=u8")
@case("a=s8", "y=u8 z=u8")
@entity
def pairs_of_bits(a, y, z):
    """Every second bit is taken, upwards and downwards."""

    @always_comb
    def p():
        y.next = 0
        z.next = 0
        for i in range(0, 8, 2):
            y.next[i] = a[i + 1]
            y.next[i + 1] = a[i]
        for i in range(7, 0, -3):
            z.next[i] = a[i - 1]

    return p


@case("a=u8", "y=u8 z=u4")
@entity
def loops_of_downrange(clk, a, y, z):
    """Loops go down by downrange."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        for i in downrange(8):
            v[i] = a[7 - i]
        y.next = v
        n = 0
        for i in downrange(8, 3):
            if a[i]:
                n = i
        z.next = n

    return p


@case("a=u8 b=u8", "y=u12")
@entity
def nested_loops(a, b, y):
    """The inner loop begins at the outer variable."""

    @always_comb
    def p():
        total = 0
        for i in range(4):
            for j in range(i, 8, 3):
                total += (a[i] & b[j]) << (i + j)
        y.next = total

    return p


idiom("break and continue")


@case("a=u8", "y=u4 z=u4")
@case("a=s8", "y=u4 z=u4")
@entity
def run_of_ones(a, y, z):
    """A loop ends at the first zero, another one skips bits."""

    @always_comb
    def p():
        n = 0
        for i in range(8):
            if not a[i]:
                break
            n += 1
        y.next = n
        m = 0
        for i in range(8):
            if i == 3 or a[i]:
                continue
            m = m + 1
        z.next = m

    return p


@case("a=u8 b=u3", "y=u8")
@entity
def loop_until_signal(clk, a, b, y):
    """A loop ends where a signal says, after some work."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        for i in range(8):
            if i == b:
                v[i] = 0
                break
            if not a[i]:
                continue
            v[i] = a[7 - i]
        y.next = v

    return p


@case("a=u4 b=u4", "y=u4 z=u3")
@entity
def break_of_inner_loop(a, b, y, z):
    """Only the inner loop ends, and its variable lives on."""

    @always_comb
    def p():
        found = 0
        last = 0
        for i in range(4):
            for j in range(4):
                if a[i] and b[j]:
                    found += 1
                    break
                last = j
            if found == 3:
                break
        y.next = found
        z.next = last + found

    return p


idiom("powers of two as indices")


@case("a=u5", "y=u3")
@case("a=s9", "y=u3")
@entity
def powers_as_indices(a, y):
    """The variable of a loop is an exponent."""

    @always_comb
    def p():
        for i in range(3):
            y.next[i] = a[1 << i]

    return p


@case("a=u4", "y=u9")
@entity
def powers_as_targets(a, y):
    """Bits at powers of two are assigned."""

    @always_comb
    def p():
        y.next = 0
        for i in range(4):
            y.next[2**i] = a[i]

    return p
