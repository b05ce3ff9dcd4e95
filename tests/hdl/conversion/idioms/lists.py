"""Lists are written as loops: their elements are summed, compared and chosen."""

from myhdl import Signal, always, always_comb

from idioms.cases import case, idiom, signal
from merp import entity

idiom("lists written as loops")


@case("a=u8", "y=u4")
@case("a=u5", "y=u3")
@entity
def counted_ones(a, y):
    """Bits are summed."""

    @always_comb
    def p():
        y.next = sum(a[i] for i in range(len(a)))

    return p


@case("a=u6 b=u6", "y=b z=b w=u4")
@entity
def any_and_all(clk, a, b, y, z, w):
    """Conditions over bits, some of which are left out."""

    @always(clk.posedge)
    def p():
        i = 3
        y.next = any([a[i] and not b[i] for i in range(6) if i % 2])
        z.next = all(a[i] or b[i] for i in range(2, 6))
        w.next = i + max([a[3:], b[3:]]) % 4

    return p


@case("a=s4 b=s4 c=s4", "y=s7 z=s4")
@entity
def over_signals(a, b, c, y, z):
    """A tuple of signals is gone through."""
    inputs = (a, b, c)

    @always_comb
    def p():
        y.next = sum(x for x in inputs) - sum([k * b for k in (1, 2)][:1])
        z.next = max([min(x, y) for x in inputs for y in (a, c)])

    return p


@case("x=b a=u4", "y=u8")
@entity
def within_loop(clk, x, a, y):
    """The length of a list is that of the round of a loop around it."""
    words = [signal("u4@1") for _ in range(3)]
    total = Signal(y.val)

    @always(clk.posedge)
    def p():
        words[0].next = a
        for i in range(1, 3):
            words[i].next = words[i - 1]
        v = 0
        for i in range(3):
            if x:
                v += sum([words[k] for k in range(i + 1)]) % 8
        total.next = v

    @always_comb
    def q():
        y.next = total

    return p, q
