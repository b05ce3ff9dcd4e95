"""The order and the names of declarations follow the text, on every version of Python."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from myhdl import Signal, always_comb, block

from merp.hdl.conversion import _locals
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.entity import Bit, entity


@entity
def inverter(a: Bit, y: Bit) -> Any:
    """Inverts.

    a  in  bit
    y  out bit
    """

    @always_comb
    def invert() -> None:
        y.next = not a

    return invert


def chain(zulu: Any, alpha: Any) -> Any:
    """An entity that also uses two signals from around it, in both orders of their names."""

    @entity
    def line(a: Bit, y: Bit) -> Any:
        """A chain of inverters.

        a  in  bit
        y  out bit
        """
        second, first = Signal(False), Signal(False)
        third, fifth, fourth = Signal(False), Signal(False), Signal(False)
        (seventh, sixth) = (Signal(False) for _ in range(2))
        late = Signal(bool(early := Signal(False)))
        return (
            inverter(a, first), inverter(first, second), inverter(second, third),
            inverter(third, fourth), inverter(fourth, fifth), inverter(fifth, sixth),
            inverter(sixth, seventh), inverter(seventh, early), inverter(early, late),
            inverter(late, zulu), inverter(zulu, alpha), inverter(alpha, y),
        )  # fmt: skip

    return line


@block
def two_inverters(a: Bit, y: Bit) -> Any:
    """Inverts twice, flattened into the entity around it."""
    between = Signal(False)
    return inverter(a, between), inverter(between, y)


def wires(count: int) -> dict[int, Any]:
    """Signals that no variable leads to."""
    return {k: Signal(False) for k in range(count)}


@entity
def of_a_list(a: Bit, y: Bit) -> Any:
    """Inverts by instances of a list.

    a  in  bit
    y  out bit
    """
    wire = wires(2)
    pins = {"a": (a, wire[0]), "b": (wire[0], wire[1])}
    inside = [inverter(source, target) for source, target in pins.values()]
    return inside, inverter(wire[1], y)


@entity
def of_nested_lists(a: Bit, y: Bit) -> Any:
    """Inverts by instances of a list in a list.

    a  in  bit
    y  out bit
    """
    wire = wires(2)
    rows = {"first": [(a, wire[0])], "then": [(wire[0], wire[1])]}
    inside = [[two_inverters(source, target) for source, target in row] for row in rows.values()]
    return inside, inverter(wire[1], y)


@entity
def of_a_dict_and_a_set(a: Bit, y: Bit) -> Any:
    """Inverts by instances of a dict and of a set.

    a  in  bit
    y  out bit
    """
    wire = wires(2)
    by_name = {name: two_inverters(a, target) for name, target in {"only": wire[0]}.items()}
    some = {two_inverters(source, wire[1]) for source in [wire[0]]}
    return list(by_name.values()), list(some), inverter(wire[1], y)


@entity
def of_generators(a: Bit, y: Bit) -> Any:
    """Inverts by instances of generator expressions, one of them in a list.

    a  in  bit
    y  out bit
    """
    wire = wires(2)
    rows = {"only": [(wire[0], wire[1])]}
    inside = tuple(two_inverters(a, target) for target in (wire[0],))
    later = [tuple(two_inverters(one, other) for one, other in row) for row in rows.values()]
    return inside, later, inverter(wire[1], y)


@entity
def of_helpers(a: Bit, y: Bit) -> Any:
    """Inverts by instances of functions that help, one of them without a name.

    a  in  bit
    y  out bit
    """
    wire = wires(3)

    def chained_by(last: Any, first: Any) -> Any:
        return [inverter(first, each) for each in (last,)]

    made = [chained_by(wire[k + 1], wire[k]) for k in range(2)]
    first = [(lambda to: [inverter(a, each) for each in (to,)])(one) for one in (wire[0],)]
    return made, first, inverter(wire[2], y)


@entity
def hidden(a: Bit, y: Bit) -> Any:
    """Inverts; variables change, and a comprehension hides one of them.

    a  in  bit
    y  out bit
    """
    wire = wires(4)
    later, alpha, beta = wire[0], wire[1], wire[2]
    inside = [inverter(one, beta) for one, beta in {"only": (a, wire[1])}.values()]
    others = [inverter(wire[1], wire[2]), inverter(wire[2], wire[0])]
    del later, alpha, beta
    return inside, others, inverter(wire[0], y)


NAMES = "second first third fifth fourth seventh sixth late early zulu alpha".split()
"""As who reads the function from its first line on meets them."""


def chained() -> Any:
    return chain(Signal(False), Signal(False))


def declared(design: Any, language: Any, folder: Path) -> list[str]:
    ports = {"a": Signal(False), "y": Signal(False)}
    top = convert(design, ports, language, folder, fold=False).files[-1].read_text()
    return re.findall(r"^ *(?:signal|wire|reg) (\w+)", top, re.MULTILINE)


@pytest.mark.parametrize("language", ["vhdl", "verilog"])
def test_declarations_have_the_order_of_the_text(language: str, tmp_path: Path) -> None:
    assert declared(chained(), language, tmp_path) == NAMES


def test_the_order_in_which_python_keeps_variables_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_order = _locals.in_source_order

    def reversed_before(code: CodeType, variables: Mapping[str, Any]) -> dict[str, Any]:
        return in_order(code, dict(reversed(variables.items())))

    monkeypatch.setattr(_locals, "in_source_order", reversed_before)
    assert declared(chained(), "vhdl", tmp_path) == NAMES


@pytest.mark.parametrize(
    ("design", "names"),
    [
        (of_a_list, "inside_0_y inside_1_y"),
        (of_nested_lists, "inside_0_0_y inside_0_0_between inside_1_0_y inside_1_0_between"),
        (
            of_a_dict_and_a_set,
            "two_inverters_y two_inverters_between two_inverters_1_y two_inverters_1_between",
        ),
        (of_generators, "inside_0_y inside_0_between later_0_0_y later_0_0_between"),
        (of_helpers, "last first made_1_0_y"),
        (hidden, "later alpha others_0_y"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_variables_of_comprehensions_name_no_signal(
    design: Any, names: str, tmp_path: Path
) -> None:
    assert declared(design, "vhdl", tmp_path) == names.split()
