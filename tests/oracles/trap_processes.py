"""Designs whose processes, parameters or names a conversion may get wrong."""

from typing import Any

from myhdl import Signal, always, always_comb, always_seq, intbv, modbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import entity
from trap_wiring import register


@entity
def flags(clk: Any, d: Any, q: Any, mode: str, enabled: bool, table: tuple[int, ...]) -> Any:
    """Parameters that are not numbers; a ROM."""
    offset = 3 if mode == "odd" else 4

    @always(clk.posedge)
    def look_up() -> None:
        if enabled:
            q.next = table[int(d)]
        else:
            q.next = offset

    return look_up


@entity
def tables(clk: Any, d: Any, q0: Any, q1: Any, q2: Any, q3: Any) -> Any:
    """The same block with parameters of every kind."""
    one = flags(clk, d, q0, "odd", True, (3, 1, 4, 1))
    two = flags(clk, d, q1, "odd", False, (3, 1, 4, 1))
    three = flags(clk, d, q2, "even", False, (3, 1, 4, 1))
    four = flags(clk, d, q3, "even", True, (2, 7, 1, 8))
    return one, two, three, four


@entity
def clashes(clk: Any, Count: Any, y: Any) -> Any:
    """Names that differ by case, are keywords, or equal those of processes and instances."""
    count = bits(8)
    signal = bits(8)
    out = [bits(8) for _ in range(2)]
    out_0 = bits(8)
    store = bits(8)
    resize = register(clk, Count, count)
    begin = register(clk, count, signal)
    y_num = register(clk, signal, out[0])
    process = register(clk, out[0], out[1])
    last = register(clk, out[1], out_0)

    @always(clk.posedge)
    def store_() -> None:
        store.next = out_0

    @always_comb
    def end() -> None:
        y.next = store

    return resize, begin, y_num, process, last, store_, end


@entity
def wrapping(clk: Any, rst: Any, step: Any, position: Any, low: Any) -> Any:
    """Signed arithmetic, modular counters, synchronous reset to a value that is not zero."""
    angle = Signal(modbv(200)[8:])
    sign = bits(1)

    @always_seq(clk.posedge, reset=rst)
    def move() -> None:
        angle.next = angle + 77
        sign.next = angle[7]
        if position + step > 100:
            position.next = -100
        elif position + step < -100:
            position.next = 100
        else:
            position.next = position + step

    @always_comb
    def lowest() -> None:
        low.next = angle[4:] + sign

    return move, lowest


@entity
def choices(delta: Any, alpha: Any, echo: Any, bravo: Any, charlie: Any, y: Any) -> Any:
    """A process with many inputs and no clock; an input that has no driver but a value."""
    foxtrot = bits(8, 0x5A)

    @always_comb
    def choose() -> None:
        if alpha == bravo:
            y.next = charlie
        elif delta > echo:
            y.next = bravo
        else:
            y.next = foxtrot

    return choose


def _weight(word: Any) -> Any:
    total = intbv(0)[4:]
    for i in range(8):
        if word[i]:
            total[:] = total + 1
    return total


@entity
def counts(clk: Any, d: Any, ones: Any, first: Any) -> Any:
    """A function, and a loop that is left early."""

    @always(clk.posedge)
    def weigh() -> None:
        ones.next = _weight(d)

    @always(clk.posedge)
    def find() -> None:
        first.next = 8
        for i in range(8):
            if d[i]:
                first.next = i
                break

    return weigh, find
