"""Designs whose instances are wired in ways that a conversion may get wrong."""

from typing import Any

from myhdl import ConcatSignal, Constant, always, always_comb, block, intbv

from merp.hdl.base.signals import Stream, bits
from merp.hdl.conversion.entity import entity


@entity
def invert(a: Any, y: Any) -> Any:
    """Invert all bits."""
    largest = (1 << len(a)) - 1

    @always_comb
    def flip() -> None:
        y.next = largest - a

    return flip


@entity
def negate(a: Any, y: Any) -> Any:
    """Invert a bit."""

    @always_comb
    def flip() -> None:
        y.next = not a

    return flip


@entity
def adder(a: Any, b: Any, y: Any) -> Any:
    """Add two words, modulo their width."""

    @always_comb
    def total() -> None:
        y.next = (a + b) % 65536

    return total


@entity
def register(clk: Any, d: Any, q: Any) -> Any:
    """Delay a word by one cycle."""

    @always(clk.posedge)
    def store() -> None:
        q.next = d

    return store


@entity
def ready_gate(a: Any, y: Any) -> Any:
    """A wire."""

    @always_comb
    def copy() -> None:
        y.next = a

    return copy


@entity
def slices(clk: Any, d: Any, s: Any, q: Any, b: Any, n: Any) -> Any:
    """Slices of slices, of list elements, of signed words; single bits."""
    middle = d(12, 4)
    words = [bits(8) for _ in range(2)]
    nibbles = [bits(4) for _ in range(4)]
    first = register(clk, middle, words[0])
    second = register(clk, words[0], words[1])
    low = invert(words[1](4, 0), nibbles[0])
    high = invert(middle(6, 2), nibbles[1])
    top = invert(s(8, 4), nibbles[2])
    bottom = invert(s(4, 0)(4, 0), nibbles[3])
    bit = negate(words[0](7), b)
    inner = negate(middle(8, 4)(3), n)
    joined = ConcatSignal(nibbles[3], nibbles[2], nibbles[1], nibbles[0])

    @always_comb
    def result() -> None:
        q.next = joined

    return first, second, low, high, top, bottom, bit, inner, result


@entity
def concats(clk: Any, a: Any, b: Any, s: Any, one: Any, y: Any) -> Any:
    """Concatenations as actuals, with constants, signed parts and single bits."""
    word = ConcatSignal(a, "01", b(2), s, ConcatSignal(True, b(4, 2)), one)
    return register(clk, word, y)


@entity
def aliases(clk: Any, d: Any, q: Any, r: Any) -> Any:
    """One signal on two formals, a chain through a list, an unconnected and a constant input."""
    steps = [d] + [bits(16) for _ in range(3)]
    chain = [register(clk, steps[i], steps[i + 1]) for i in range(3)]
    doubled = adder(steps[3], steps[3], q)
    quiet = bits(16, 7)
    fixed = Constant(intbv(9)[16:])
    sum_of_constants = bits(16)
    constants = adder(quiet, fixed, sum_of_constants)
    total = adder(sum_of_constants, d, r)
    return chain, doubled, constants, total


@entity
def starts(clk: Any, d: Any, q0: Any, q1: Any, q2: Any) -> Any:
    """The same register with three initial values of its output."""
    inner = bits(16, 0x1234)
    return (
        register(clk, d, q0),
        register(clk, d, inner),
        register(clk, inner, q1),
        register(clk, d, q2),
    )


@entity
def indexed(clk: Any, sel: Any, d: Any, q: Any) -> Any:
    """Instances drive the elements of a list that a process indexes."""
    words = [bits(16) for _ in range(4)]
    parts = [d(4 * i + 4, 4 * i) for i in range(4)]
    nibble = bits(4)
    stores = [register(clk, d, words[0])]
    for i in range(3):
        store = register(clk, words[i], words[i + 1])
        stores.append(store)

    @always_comb
    def pick() -> None:
        q.next = words[sel] ^ nibble

    @always_comb
    def part() -> None:
        nibble.next = parts[sel]

    return stores, pick, part


@block
def _flat(clk: Any, d: Any, q: Any) -> Any:
    half = bits(8)
    lower = d(8, 0)
    upper = d(16, 8)(8, 4)
    inside = register(clk, lower, half)

    @always_comb
    def widen() -> None:
        q.next = half ^ upper

    return inside, widen


@entity
def flattened(clk: Any, d: Any, q0: Any, q1: Any) -> Any:
    """Plain blocks inside an entity, with entities inside them."""
    pair = [_flat(clk, d, q0), _flat(clk, d, q1)]
    return pair


@entity
def direct(clk: Any, d: Any, source: Stream) -> Any:
    """A top without processes: its ports go straight into port maps."""
    pipe = bits(16)
    one = register(clk, d, pipe)
    two = register(clk, pipe, source.data)
    three = ready_gate(source.ready, source.valid)
    return one, two, three
