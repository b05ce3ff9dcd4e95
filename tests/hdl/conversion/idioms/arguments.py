"""Blocks take enumerations, dicts, functions, blocks and objects; methods are blocks."""

from myhdl import ConcatSignal, OpenPort, Signal, always, always_comb, always_seq, block, enum

from idioms.cases import case, idiom, signal
from merp import entity

idiom("arguments")


@entity
def inverted(a, y):
    """Invert a bit."""

    @always_comb
    def p():
        y.next = not a

    return p


@block
def copied(a, y):
    """Copy a bit; it is flattened."""

    @always_comb
    def p():
        y.next = a

    return p


@case("a=u4", "y=u4", gate=lambda: inverted)
@case("a=u3", "y=u3", gate=lambda: copied)
@entity
def many_of_a_block(a, y, gate):
    """A parameter is the block that is instantiated."""
    bits = [Signal(bool(0)) for _ in range(len(a))]
    found = [Signal(bool(0)) for _ in range(len(a))]

    @always_comb
    def split():
        for i in range(len(bits)):
            bits[i].next = a[i]

    gates = [gate(one, other) for one, other in zip(bits, found, strict=True)]

    @always_comb
    def join():
        for i in range(len(found)):
            y.next[i] = found[i]

    return split, gates, join


def plus(a, b):
    """Add."""
    return (a + b) % 16


def minus(a, b):
    """Subtract."""
    return (a - b) % 16


@entity
def applied(a, b, y, function):
    """A parameter is a helper."""

    @always_comb
    def p():
        y.next = function(a, b)

    return p


@case("a=u4 b=u4", "y=u4 z=u4", one=lambda: plus, other=lambda: minus)
@case("a=u4 b=u4", "y=u4 z=u4", one=lambda: minus, other=lambda: minus)
@entity
def functions(a, b, y, z, one, other):
    """Two functions are two configurations."""
    return applied(a, b, y, one), applied(a, b, z, other)


@case("a=u6", "y=u3", order={"high": 5, "low": 0, "middle": 2})
@case("a=u6", "y=u3", order={"low": 1, "middle": 3, "high": 4})
@entity
def places(a, y, order):
    """A dict says which bit is which."""
    chosen = ConcatSignal(*[a(order[name]) for name in ("high", "middle", "low")])

    @always_comb
    def p():
        y.next = chosen

    return p


class Scale:
    """What a block reads of an object without signals.

    Attributes:
        factor: a number.
        limits: a list of numbers.
    """

    def __init__(self, factor: int, limits: list[int]) -> None:
        self.factor, self.limits = factor, limits

    @entity
    def scaled(self, a, y):
        """A method is a block."""
        lowest, highest = self.limits

        @always_comb
        def p():
            y.next = min(max(a * self.factor, lowest), highest)

        return p


@case("a=u4", "y=u7", scale=Scale(3, [5, 40]))
@case("a=u4", "y=u7", scale=Scale(2, [0, 127]))
@entity
def method(a, y, scale):
    """An object is a parameter, its method a block inside."""
    first = signal("u7")
    made = scale.scaled(a, first)

    @always_comb
    def p():
        y.next = first if scale.factor == 2 else scale.limits[1] - first

    return made, p


class Counter:
    """The signals of a counter, and its hardware.

    Attributes:
        size: of it.
        count: a vector.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.count = signal("u4")

    @block
    def hardware(self, clk, step):
        """A method drives a signal of its object."""

        @always(clk.posedge)
        def p():
            if step:
                self.count.next = (self.count + 1) % self.size

        return p


@case("step=b", "y=u4", size=5)
@case("step=b", "y=u4", size=11)
@entity
def object_with_signals(clk, step, y, size):
    """An object made inside has signals and a method."""
    counter = Counter(size)
    hardware = counter.hardware(clk, step)

    @always_comb
    def p():
        y.next = counter.count

    return hardware, p


idiom("open ports")


@entity
def divided(clk, rst, a, half, parity):
    """An entity with an output that not all need."""

    @always_seq(clk.posedge, reset=rst)
    def p():
        half.next = a >> 1
        parity.next = a[0] ^ a[1]

    return p


@block
def flattened(clk, rst, a, half, parity):
    """The same in a block that is no entity, one of whose processes is for nothing."""

    @always_seq(clk.posedge, reset=rst)
    def p():
        half.next = a >> 1

    @always_comb
    def q():
        parity.next = a[0] ^ a[1]

    return p, q


@case("rst=sync+ a=u4", "y=u4 z=b", part=lambda: divided)
@case("rst=async- a=u4", "y=u4 z=b", part=lambda: divided)
@case("rst=sync- a=u4", "y=u4 z=b", part=lambda: flattened)
@entity
def open_output(clk, rst, a, y, z, part):
    """One instance has all outputs, another leaves one open."""
    first = signal("u4")
    one = part(clk, rst, a, first, OpenPort())
    other = part(clk, rst, first, y, z)
    return one, other


LEVELS = enum("LOW", "HIGH")


@case("a=u4", "y=b", kind=LEVELS, level=LEVELS.HIGH)
@case("a=u4", "y=b", kind=LEVELS, level=LEVELS.LOW)
@entity
def member_as_parameter(clk, a, y, kind, level):
    """A parameter is a member of an enumeration."""
    state = Signal(kind.LOW)

    @always(clk.posedge)
    def p():
        state.next = kind.HIGH if a > 7 else kind.LOW

    @always_comb
    def q():
        y.next = state == level

    return p, q
