from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from myhdl import (
    Signal,
    TristateSignal,
    always,
    always_comb,
    enum,
    intbv,
)

from merp.hdl.base.signals import bits
from merp.hdl.conversion.convert import ExportError, convert
from merp.hdl.conversion.entity import entity
from trap_wiring import register


@entity
def configured(clk: Any, d: Any, q: Any, mode: Any) -> Any:
    """A parameter of any type."""
    return register(clk, d, q)


@entity
def takes_list(clk: Any, words: Any, q: Any) -> Any:
    """A list as a port."""
    return register(clk, words[0], q)


@entity
def two_drivers(clk: Any, d: Any, q: Any) -> Any:
    """Two instances drive one signal."""
    return register(clk, d, q), register(clk, d, q)


@entity
def process_and_instance(clk: Any, d: Any, q: Any) -> Any:
    """A process and an instance drive one signal."""
    inner = register(clk, d, q)

    @always(clk.posedge)
    def store() -> None:
        q.next = d

    return inner, store


@entity
def process_and_element(clk: Any, d: Any, q: Any) -> Any:
    """A process writes into a list, an instance drives an element of it."""
    words = [bits(8) for _ in range(4)]
    inner = register(clk, d, words[0])

    @always(clk.posedge)
    def store() -> None:
        words[d[2:]].next = d
        q.next = words[d[4:2]]

    return inner, store


@entity
def half_and_half(clk: Any, d: Any, q: Any) -> Any:
    """An instance drives one element of a list, a process the other."""
    words = [bits(8) for _ in range(2)]
    other = words[1]
    inner = register(clk, d, words[0])

    @always(clk.posedge)
    def store() -> None:
        other.next = d

    @always_comb
    def pick() -> None:
        q.next = words[d[0]]

    return inner, store, pick


@entity
def two_lists(clk: Any, d: Any, q: Any) -> Any:
    """A signal is in two lists that processes index."""
    words = [bits(8) for _ in range(2)]
    again = [words[1], bits(8)]

    @always(clk.posedge)
    def store() -> None:
        q.next = words[d[0]] ^ again[d[1]]

    return register(clk, d, words[0]), store


@entity
def port_in_list(clk: Any, d: Any, q: Any) -> Any:
    """A port is in a list that a process indexes."""
    words = [d, bits(8)]

    @always(clk.posedge)
    def store() -> None:
        q.next = words[d[0]]

    return store


@entity
def drives_slice(clk: Any, d: Any, q: Any) -> Any:
    """An output goes to a slice."""
    return register(clk, d, q(8, 0))


@entity
def keyword_port(clk: Any, d: Any, out: Any) -> Any:
    """A keyword as a port."""
    return register(clk, d, out)


@entity
def case_port(clk: Any, d: Any, D: Any) -> Any:
    """Ports that differ by case."""
    return register(clk, d, D)


@entity
def forgets(clk: Any, d: Any, q: Any) -> Any:
    """Returns nothing."""
    register(clk, d, q)
    return ()


@entity
def keyword_variable(clk: Any, d: Any, q: Any) -> Any:
    """A keyword as a variable of a process."""

    @always(clk.posedge)
    def store() -> None:
        signal = intbv(0)[8:]
        signal[:] = d
        q.next = signal

    return store


@entity
def umlaut(clk: Any, d: Any, q: Any) -> Any:
    """Über."""
    return register(clk, d, q)


def _clk() -> Any:
    return Signal(bool(0))


def _words(width: int = 8) -> dict[str, Any]:
    return {"clk": _clk(), "d": bits(width), "q": bits(width)}


@pytest.mark.parametrize("hdl", ["vhdl", "verilog"])
@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (takes_list, {"clk": _clk(), "words": [bits(8)], "q": bits(8)}, "words is a list"),
        (two_drivers, _words(), "output q of register_1 drives a signal that has another driver"),
        (process_and_instance, _words(), "another driver"),
        (process_and_element, _words(), "another driver"),
        (half_and_half, _words(), "a list is driven by a process and by instances"),
        (two_lists, _words(), "a signal is in two lists"),
        (port_in_list, _words(), "port d is in a list that a process uses"),
        (drives_slice, _words(16) | {"d": bits(8)}, "must go to a whole signal"),
        (keyword_port, {"clk": _clk(), "d": bits(8), "out": bits(8)}, "out is a keyword"),
        (case_port, {"clk": _clk(), "d": bits(8), "D": bits(8)}, "differs from another by case"),
        (forgets, _words(), "no instances"),
        (keyword_variable, _words(), "variable signal is a keyword"),
        (umlaut, _words(), "must be ASCII"),
        (register, _words() | {"d": Signal(0)}, "fixed number of bits"),
        (register, _words() | {"d": Signal(enum("A1", "B1").A1)}, "fixed number of bits"),
        (register, _words() | {"d": TristateSignal(intbv(0)[8:])}, "tristate"),
        (register.func, _words(), "not a block"),
        (configured, _words() | {"mode": object()}, "parameter mode is a object"),
    ],
)
def test_says_what_cannot_be_exported(
    function: Any, args: Any, message: str, hdl: Any, tmp_path: Path
) -> None:
    with pytest.raises(ExportError, match=message):
        convert(function, args, hdl, tmp_path)
    assert list(tmp_path.iterdir()) == []
