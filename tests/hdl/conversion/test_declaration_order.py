"""Signals are declared in the order of the text, whatever order Python keeps its variables in."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from myhdl import Signal, always_comb

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


NAMES = "second first third fifth fourth seventh sixth late early zulu alpha".split()
"""As who reads the function from its first line on meets them."""


def declared(language: Any, folder: Path) -> list[str]:
    ports = {"a": Signal(False), "y": Signal(False)}
    design = chain(Signal(False), Signal(False))
    top = convert(design, ports, language, folder, fold=False).files[-1].read_text()
    return re.findall(r"^ *(?:signal|wire|reg) (\w+)", top, re.MULTILINE)


@pytest.mark.parametrize("language", ["vhdl", "verilog"])
def test_declarations_have_the_order_of_the_text(language: str, tmp_path: Path) -> None:
    assert declared(language, tmp_path) == NAMES


def test_the_order_in_which_python_keeps_variables_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_order = _locals._in_source_order

    def reversed_before(frame: Any) -> dict[str, Any]:
        variables = dict(reversed(frame.f_locals.items()))
        return in_order(SimpleNamespace(f_code=frame.f_code, f_locals=variables))

    monkeypatch.setattr(_locals, "_in_source_order", reversed_before)
    assert declared("vhdl", tmp_path) == NAMES
