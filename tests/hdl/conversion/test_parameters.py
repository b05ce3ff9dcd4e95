"""Parameters that are no numbers: what identifies a configuration, and what cannot."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from myhdl import OpenPort, Signal, always, always_comb, block, enum, intbv

from merp import entity
from merp.hdl.conversion.convert import ExportError, convert


@entity
def adding(a: Any, y: Any, what: Any) -> Any:
    """Add what a parameter says."""

    @always_comb
    def add() -> None:
        y.next = (a + what["step"]) % 256

    return add


@entity
def three(a: Any, y: Any, z: Any, w: Any) -> Any:
    """Two of three instances have the same configuration."""
    one = adding(a, y, {"step": 3})
    other = adding(a, z, {"step": 3})
    last = adding(a, w, {"step": 4})
    return one, other, last


def _bytes(*names: str) -> dict[str, Any]:
    return {name: Signal(intbv(0)[8:]) for name in names}


def test_equal_parameters_are_one_configuration(tmp_path: Path) -> None:
    found = convert(three, _bytes("a", "y", "z", "w"), "verilog", tmp_path, fold=False)
    assert sorted(found.instances.values()) == [1, 1, 2]


@entity
def collecting(a: Any, y: Any, taps: list[Any]) -> Any:
    """Leave a signal in a list."""
    taps.append(len(taps))

    @always_comb
    def copy() -> None:
        y.next = a

    return copy


@entity
def reading(y: Any, function: Any) -> Any:
    """Call a helper."""

    @always_comb
    def read() -> None:
        y.next = function()

    return read


@entity
def hidden_port(a: Any, y: Any) -> Any:
    """A helper reads a signal that is no port."""

    def value() -> Any:
        return a + 1

    return reading(y, value)


@block
def of_text(a: Any, y: Any) -> Any:
    """Only a text for MyHDL's converter says what it does."""
    y.driven = "wire"
    return []


of_text.verilog_code = "assign $y = $a;"
of_text.vhdl_code = "$y <= $a;"


@entity
def around_text(a: Any, y: Any) -> Any:
    """A block without hardware stands beside one with it."""
    middle = Signal(intbv(0)[8:])
    inside = of_text(a, middle)

    @always_comb
    def copy() -> None:
        y.next = middle

    return inside, copy


@entity
def reads_open(a: Any, y: Any) -> Any:
    """An open port is read."""
    nothing = OpenPort()

    @always_comb
    def copy() -> None:
        nothing.next = a
        y.next = a + nothing

    return copy


REFUSED: list[tuple[Any, Callable[[], dict[str, Any]], str]] = [
    (collecting, lambda: {"taps": []}, "parameter taps is changed while the block is made"),
    (reading, lambda: {"function": iter(())}, "parameter function is a tuple_iterator"),
    (hidden_port, dict, "parameter function is a function"),
    (around_text, dict, "of_text has no process, only its verilog_code or vhdl_code"),
    (reads_open, dict, "an open port is read"),
]


@pytest.mark.parametrize(("function", "others", "wanted"), REFUSED)
def test_what_would_be_wrong_silently_is_refused(
    function: Any, others: Callable[[], dict[str, Any]], wanted: str, tmp_path: Path
) -> None:
    ports = {"a": Signal(intbv(0)[8:]), "y": Signal(intbv(0)[9:])}
    if function is reading:
        del ports["a"]
    with pytest.raises(ExportError) as raised:
        convert(function, ports | others(), "vhdl", tmp_path)
    assert wanted in str(raised.value)
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


class Adder:
    """An object with a block."""

    def __init__(self, step: int) -> None:
        self.step = step

    @entity
    def added(self, a: Any, y: Any) -> Any:
        """Add what the object says."""

        @always_comb
        def add() -> None:
            y.next = (a + self.step) % 256

        return add


def test_a_method_of_an_object_is_converted(tmp_path: Path) -> None:
    found = convert(Adder(29).added, _bytes("a", "y"), "verilog", tmp_path)
    text = found.files[0].read_text()
    assert "self: step = 29" in text
    assert "8'd29" in text


@entity
def register(clk: Any, before: Any, after: Any) -> Any:
    """A register of any type."""

    @always(clk.posedge)
    def step() -> None:
        after.next = before

    return step


@entity
def two_types(clk: Any, one: Any, other: Any, y: Any, z: Any) -> Any:
    """Registers of two enumerations with the same members."""
    return register(clk, one, y), register(clk, other, z)


@pytest.mark.parametrize("hdl", ["vhdl", "verilog"])
def test_a_port_has_the_bits_of_its_enumeration(hdl: Any, tmp_path: Path) -> None:
    plain, hot = enum("A", "B", "C"), enum("A", "B", "C", encoding="one_hot")
    ports = {"one": Signal(plain.A), "y": Signal(plain.A)}
    ports |= {"other": Signal(hot.A), "z": Signal(hot.A), "clk": Signal(False)}
    found = convert(two_types, ports, hdl, tmp_path)
    assert {port.name: port.width for port in found.ports} == {
        "clk": None, "one": 2, "other": 3, "y": 2, "z": 3,
    }  # fmt: skip
