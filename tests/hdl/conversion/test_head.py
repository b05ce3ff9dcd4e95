"""The comment at the head of a file names the parameters that the block uses."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from myhdl import Signal, always_comb, intbv

from merp import entity
from merp.hdl.conversion.convert import convert


@dataclass(frozen=True)
class Shape:
    """Parameters of which each block uses some.

    Attributes:
        width: bits of a word. spare: what no block names. add_latency: what a docstring names.
    """

    width: int
    spare: int = 7
    add_latency: int = 4

    @property
    def half(self) -> "Shape":
        """A shape of half the width."""
        return Shape(self.width // 2)

    @property
    def broken(self) -> int:
        """What has no value."""
        raise ValueError


@entity
def low_half(a: Any, y: Any, shape: Shape) -> Any:
    """Take the low half of a word; broken has no value.

    config.gone  in  a port that is not there
    y            out  valid add_latency cycles later
    """
    half = shape.half
    width = half.width if shape.width > 1 else shape.broken

    @always_comb
    def p() -> None:
        y.next = a[width:]

    return p


@entity
def copy(a: Any, y: Any, spread: int) -> Any:
    """Copy a word."""

    @always_comb
    def p() -> None:
        y.next = a

    return p


@entity
def several(a: Any, y: Any, z: Any, shape: Shape) -> Any:
    """Make a list of unlike blocks."""
    made = [low_half(a, y, shape), copy(a, z, 3)]
    same = [copy(a, Signal(intbv(0)[8:]), number) for number in range(2)]
    return made, same


def arguments() -> dict[str, Any]:
    names = {"a": 8, "y": 4, "z": 8}
    return {name: Signal(intbv(0)[n:]) for name, n in names.items()} | {"shape": Shape(8)}


@pytest.mark.parametrize(("hdl", "mark", "suffix"), [("vhdl", "--", "vhd"), ("verilog", "//", "v")])
def test_a_head_names_what_the_block_uses(hdl: Any, mark: str, suffix: str, tmp_path: Path) -> None:
    convert(several, arguments(), hdl, tmp_path)
    text = (tmp_path / f"low_half.{suffix}").read_text()
    assert f"{mark} shape: half.width = 4; width = 8; add_latency = 4\n" in text
    assert "spare" not in text
    assert "config.gone" not in text


def test_an_instance_of_a_list_of_unlike_blocks_is_called_by_what_it_drives(tmp_path: Path) -> None:
    convert(several, arguments(), "vhdl", tmp_path, fold=False)
    text = (tmp_path / "several.vhd").read_text()
    for label in ("low_half_y", "copy_z", "same_0", "same_1"):
        assert f"    {label} : entity work." in text
    assert "made_" not in text
