"""A signal is old until the next cycle, a variable new at once, and parts of both are assigned."""

from myhdl import always, always_comb, intbv

from idioms.cases import case, idiom, signal
from merp import entity

idiom("old and new values")


@case("x=b", "y=u4@3 z=u4@12")
@case("x=b", "y=s4@-3 z=s4@5")
@entity
def exchanged_registers(clk, x, y, z):
    """Registers are exchanged, and a later assignment wins."""

    @always(clk.posedge)
    def p():
        y.next = z
        z.next = y
        if x:
            y.next = y if y > z else z

    return p


@case("a=u4", "y=u4 z=u5")
@entity
def signal_and_variable(clk, a, y, z):
    """A variable has its new value at once, a signal in the next cycle."""

    @always(clk.posedge)
    def p():
        v = y + 0
        y.next = a
        v = v + y
        z.next = v
        if a == y:
            z.next = v + y - a

    return p


@case("a=u4 s=u2", "y=u4 z=u6")
@entity
def old_words(clk, a, s, y, z):
    """A memory and helpers read old values after assignments."""
    words = [signal(f"u4@{5 * i}") for i in range(4)]

    def total():
        return words[0] + words[1] + words[2] + y

    @always(clk.posedge)
    def p():
        words[s].next = a
        y.next = words[s]
        z.next = total()
        if words[s] > a:
            words[3 - s].next = words[s] - a

    return p


idiom("parts of variables assigned")


@case("a=u8 b=u4", "y=u8")
@case("a=s8 b=u4", "y=u8")
@entity
def parts_put_together(a, b, y):
    """Slices and bits are put into a variable."""

    @always_comb
    def p():
        v = intbv(0)[8:]
        v[8:5] = a[3:]
        v[5:1] = b
        v[0] = a > b
        y.next = v

    return p


@case("a=u8 b=u4", "y=u8 z=s8", n=4)
@entity
def parts_overwritten(clk, a, b, y, z, n):
    """Parts are written again, by bounds that are expressions, in a signed vector too."""

    @always(clk.posedge)
    def p():
        v = intbv(0)[8:]
        v[:] = a
        v[n:] = b ^ v[8:n]
        v[n + 2 : n] = b[2:]
        v[:6] = 2
        if v[3]:
            v[7] = not v[7]
        y.next = v
        w = intbv(0, min=-128, max=128)
        w[:] = a - 128
        w[4:2] = b[3:1]
        w[0] = b[0]
        z.next = w

    return p


@case("a=u8 s=u3 x=b", "y=u8")
@entity
def parts_by_index(a, s, x, y):
    """Loops and signals name the parts."""

    @always_comb
    def p():
        v = intbv(0)[8:]
        for i in range(0, 8, 2):
            v[i + 2 : i] = a[8 - i : 6 - i]
        v[s] = x
        v[7 - s] = a[s] and v[0]
        y.next = v

    return p


idiom("parts of signals assigned")


@case("a=u4 b=u4 x=b", "y=u8")
@case("a=s4 b=u4 x=b", "y=u8")
@entity
def next_in_parts(a, b, x, y):
    """Slices and bits of the output are assigned."""

    @always_comb
    def p():
        y.next[8:5] = a[3:]
        y.next[5:1] = b
        y.next[0] = x

    return p


@case("s=u3 a=u4 x=b", "y=u8 z=s6@-9")
@entity
def next_in_part(clk, s, a, x, y, z):
    """Some bits of registers are assigned, and the others stay."""

    @always(clk.posedge)
    def p():
        if x:
            y.next[s] = a[0]
        else:
            y.next[4:2] = a[2:]
            y.next[7] = not y[7]
        z.next[3:] = a[3:]
        if a == 9:
            z.next[4] = x

    return p


@case("a=u8 s=u2", "y=u8 z=u8")
@entity
def next_in_loop(a, s, y, z):
    """Loops and signals name the parts, and later ones overwrite earlier ones."""

    @always_comb
    def p():
        y.next = a
        y.next[s + 2] = 1
        z.next = 0
        for i in range(4):
            if i != s:
                z.next[2 * i + 2 : 2 * i] = a[i + 2 : i]
        if a > 100:
            z.next[:6] = 3

    return p
