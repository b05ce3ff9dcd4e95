"""Designs that the fuzzer of designs found to differ, made small."""

from myhdl import ResetSignal, Signal, always, always_comb, always_seq, concat, intbv

from idioms.cases import case, idiom
from merp import entity

ROM = (7, -5, 255, 4, 127, -8, 5, 31)
ODD_ROM = (3, 1, 4, 1, 5)

idiom("tables at an index with fewer bits")


@case("a=u1", "y=s10")
@case("a=u2", "y=s10")
@case("a=u3", "y=s10")
@entity
def table_at_inverse(a, y):
    """The inverse has the width of its operand, not that of the table's index."""

    @always_comb
    def p():
        y.next = ROM[~a]

    return p


@case("a=u2 b=u1", "y=u3")
@case("a=u1 b=u1", "y=u3")
@entity
def table_at_two_indices(a, b, y):
    """One table has indices of two widths."""

    @always_comb
    def p():
        y.next = ODD_ROM[a] if b else ODD_ROM[1 - b]

    return p


idiom("indices within limits before the inputs are defined")


@case("a=u6 b=u8 c=s7", "y=b")
@entity
def limited_index_of_parts(a, b, c, y):
    """An internal signal is defined later than the inputs in the first instant."""
    flag = Signal(bool(0))

    @always_comb
    def delay():
        flag.next = c[4]

    @always_comb
    def p():
        y.next = a[min(max(concat(flag, b, c), 0), 5)]

    return delay, p


@case("a=u5 b=u8 c=b", "y=b")
@case("a=u5 b=s8 c=b", "y=b")
@entity
def limited_index_of_concatenation(a, b, c, y):
    """The limits are written the other way round."""
    flag = Signal(bool(0))

    @always_comb
    def delay():
        flag.next = not c

    @always_comb
    def p():
        y.next = a[max(1, min(4, concat(flag, b[3:])))]

    return delay, p


idiom("numbers of thousands of digits")


@case("a=u3 n=u3", "y=u8")
@case("a=u3 n=u5", "y=u8")
@entity
def long_shifted_number(a, n, y):
    """A shift of a shift is a long number, of which few bits are used."""

    @always_comb
    def p():
        y.next = (((-1) << (n * 2000)) + a) % 256

    return p


@case("a=u3", "y=b")
@entity
def long_compared_number(a, y):
    """A signal is compared with a number of 15,000 bits."""

    @always_comb
    def p():
        y.next = (a << 15000) < (5 << 15000)

    return p


idiom("processes of constants")


@case("a=u3", "y=u4 z=b")
@entity
def constant_process(a, y, z):
    """The one process reads a signal, but its output never changes."""
    held = Signal(intbv(0)[4:])

    @always_comb
    def constant():
        held.next = 9 if a < 8 else 1

    @always_comb
    def p():
        y.next = held ^ a
        z.next = held == a

    return constant, p


@case("a=u3", "y=b", n=5)
@case("a=u3", "y=b", n=0)
@entity
def computed_constant_index(a, y, n):
    """An index is computed of constants alone."""

    @always_comb
    def p():
        y.next = a[(n * 3 + 1) % 3]

    return p


idiom("registers driven bit by bit")


@entity
def bit_register(clk, rst, d, q):
    """A register of a bit."""

    @always_seq(clk.posedge, reset=rst)
    def p():
        q.next = d

    return p


@case("a=u4 b=b", "y=u4", width=4)
@case("a=u4 b=b", "y=u4", width=3)
@case("a=u4 b=b", "y=u4", width=1)
@entity
def register_of_bits(clk, a, b, y, width):
    """A child reads bits of a register that is reset as a whole and then set bit by bit."""
    rst = ResetSignal(0, active=1, isasync=False)
    held = Signal(intbv(5)[4:])
    flags = [Signal(bool(0)) for _ in range(width)]
    outs = [Signal(bool(0)) for _ in range(width)]

    @always_comb
    def resets():
        rst.next = b

    @always_seq(clk.posedge, reset=rst)
    def p():
        for i in range(width):
            held.next[i] = a[i]

    @always_comb
    def split():
        for i in range(width):
            flags[i].next = held[i]

    taken = [bit_register(clk, rst, flags[i], outs[i]) for i in range(width)]

    @always_comb
    def joined():
        value = intbv(0)[4:]
        for i in range(width):
            value[i] = outs[i]
        y.next = value

    return resets, p, split, taken, joined


idiom("inverted vectors that hold no negative number")


@case("a=u3", "y=s12")
@case("a=u2", "y=s6")
@case("a=u5", "y=s7")
@entity
def inverted_positive_vector(a, y):
    """The bounds of a vector say whether its inverse is negative, not its value."""

    @always_comb
    def p():
        value = intbv(0, min=-32, max=32)
        value[:] = a
        y.next = ~value

    return p


idiom("lists that several processes drive")


@case("a=u3 b=u2", "y=u3", n=0)
@case("a=u3 b=u2", "y=u3", n=1)
@case("a=u3 b=u2", "y=u3", n=2)
@entity
def loop_without_round(a, b, y, n):
    """A loop without a round would drive what another process drives."""
    held = [Signal(intbv(0)[3:]) for _ in range(4)]

    @always_comb
    def some():
        for i in range(n):
            held[i].next = a

    @always_comb
    def others():
        for i in range(n, 4):
            held[i].next = b

    @always_comb
    def p():
        y.next = held[3] ^ held[2]

    return some, others, p


@case("a=u3 b=u2", "y=u3", n=1)
@case("a=u3 b=u2", "y=u3", n=3)
@entity
def registers_of_two_processes(clk, a, b, y, n):
    """Each process has elements of its own, which loops set."""
    held = [Signal(intbv(0)[3:]) for _ in range(6)]

    @always(clk.posedge)
    def lower():
        if a[0]:
            for i in range(n):
                held[i].next = a + i if a < 4 else i

    @always(clk.posedge)
    def upper():
        for i in range(n, 6):
            held[i].next = held[i - 1] ^ b

    @always_comb
    def p():
        y.next = held[5] ^ held[0]

    return lower, upper, p
