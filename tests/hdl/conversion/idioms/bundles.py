"""Signals and numbers are fields of bundles and dataclasses, or parts of other signals."""

from dataclasses import dataclass

from myhdl import ConcatSignal, Signal, always, always_comb, block, concat

from idioms.cases import case, idiom, signal
from merp import entity

idiom("bundles")


class Link:
    """A bundle of signals with a width.

    Attributes:
        width: of the data.
        data: a vector.
        valid: a bit.
        level: a signed vector.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.data = signal(f"u{width}")
        self.valid = signal("b")
        self.level = signal("s4")


@case("", "y=s10", "link_data link_valid link_level", link=lambda: Link(8))
@case("", "y=s7", "link_data link_valid link_level", link=lambda: Link(5))
@entity
def reads_bundle(link, y):
    """Fields are operands and conditions."""

    @always_comb
    def p():
        if link.valid and link.data[2:] != 3:
            y.next = link.data + link.level
        else:
            y.next = link.level if link.data > 9 else -1

    return p


@case("", "", "source_data source_valid source_level", source=lambda: Link(4), sink=lambda: Link(4))
@entity
def bundle_to_bundle(clk, source, sink):
    """Fields of one bundle are registered in another, its width is a number."""

    @always(clk.posedge)
    def p():
        sink.valid.next = source.valid and not sink.valid
        sink.data.next = (source.data + sink.data) % (1 << source.width)
        sink.level.next[source.width - 1 :] = source.data[source.width - 1 :]

    return p


@case("a=u3 x=b", "y=u4")
@entity
def bundles_within(clk, a, x, y):
    """Bundles within the block are indexed, compared, and closed over."""
    first, second = Link(3), Link(3)
    t = (5, 3, 9, 12, 0, 7, 2, 8)

    @always(clk.posedge)
    def store():
        first.valid.next = x
        first.data.next = a
        if first.valid:
            second.data.next = first.data ^ 5

    @always_comb
    def show():
        y.next = t[second.data]
        if first.data < second.data - 2:
            y.next = first.data[2] + second.width

    return store, show


idiom("frozen dataclasses")


@dataclass(frozen=True)
class Shape:
    """Numbers of a configuration."""

    width: int
    limit: int
    taps: tuple[int, ...] = (1, -2, 5)
    wraps: bool = True


@case("a=u4", "y=u5", shape=Shape(5, 19))
@case("a=u4", "y=u5", shape=Shape(5, 30, wraps=False))
@entity
def numbers_of_dataclass(clk, a, y, shape):
    """Fields are limits, conditions and labels."""

    @always(clk.posedge)
    def p():
        if y == shape.limit - 1:
            y.next = 0 if shape.wraps else y
        elif y + a > shape.limit:
            y.next = shape.limit - 1
        elif y == 2 ** (shape.width - 1):
            y.next = 7
        else:
            y.next = y + a[2:]

    return p


@case("a=u3 s=u2", "y=s8", shape=Shape(3, 4, (7, -8, 3, 0)))
@entity
def tuple_of_dataclass(a, s, y, shape):
    """An entry of a field's tuple is an operand."""

    @always_comb
    def p():
        y.next = shape.taps[s] * a + shape.taps[0] - len(shape.taps)

    return p


@case("a=u6", "y=u6 z=b", shape=Shape(6, 2))
@entity
def bounds_of_dataclass(a, y, z, shape):
    """Fields are bounds of loops and slices, and indices."""
    shift = shape.limit + 1

    @always_comb
    def p():
        for i in range(shape.width):
            y.next[i] = a[(i + shape.limit) % shape.width]
        z.next = a[shape.width - 1] and a[shape.limit :] > 1 and a[shift]

    return p


idiom("shadow signals")


@case("a=u8 b=u4", "y=u6 z=b")
@case("a=s8 b=u4", "y=u6 z=b")
@entity
def slices_of_signals(a, b, y, z):
    """Parts of signals are operands and conditions."""
    high, low, top = a(8, 4), a(4, 0), a(7)

    @always_comb
    def p():
        y.next = high + low + b
        z.next = 0
        if top and low[2:] < high:
            z.next = 1

    return p


@case("a=u4 b=s4 x=b", "y=u10 z=s5 w=u4")
@entity
def joined_signals(clk, a, b, x, y, z, w):
    """Signals, parts of signals and constants are put together."""
    word = ConcatSignal(x, a(3, 1), "01", b, True)
    t = (5, 3, 9, 12, 0, 7, 2, 8)

    @always(clk.posedge)
    def p():
        y.next = word
        z.next = word[5:1].signed() + x
        w.next = t[word[9:6]]

    return p


@case("a=u4 x=b", "y=u4 z=u3")
@entity
def shadows_of_registers(clk, a, x, y, z):
    """Parts of a register, and of what is put together, are read."""
    state = signal("u8@5")
    high = state(8, 4)
    mixed = ConcatSignal(high, a)
    middle = mixed(6, 3)

    @always(clk.posedge)
    def p():
        if x:
            state.next = mixed
        else:
            state.next = concat(state[6:], high[2:])

    @always_comb
    def q():
        y.next = high
        z.next = middle

    return p, q


idiom("signals that are assigned to others")


@case("a=s5", "y=s5 z=b")
@case("a=u8", "y=u8 z=b")
@entity
def passed_on(a, y, z):
    """An output is always an input, and a process reads what is between."""
    middle = Signal(a.val)
    middle.assign(a)
    y.assign(middle)

    @always_comb
    def p():
        z.next = middle > 3

    return p


@case("", "y=u6", "link_data link_valid link_level", link=lambda: Link(5))
@entity
def fields_assigned(link, y):
    """Fields of two bundles are connected, in a block inside."""
    inner = Link(5)
    return connected(link, inner), summed(inner, y)


@block
def connected(link, other):
    """Connect all fields; nothing else is here."""
    other.data.assign(link.data)
    other.valid.assign(link.valid)
    other.level.assign(link.level)
    return []


@block
def summed(link, y):
    """Read all fields."""

    @always_comb
    def p():
        y.next = link.data + (3 if link.valid and link.level > 0 else 0)

    return p
