"""Packages of systems without the conversion of their hardware, which takes long."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from merp.hdl.conversion.convert import Port
from merp.tools.fpga.system import system_package


class Converted(NamedTuple):
    """The parts of an export that a package uses."""

    files: tuple[Path, ...]
    top: str
    ports: tuple[Port, ...]


def unconverted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let packages have a file in place of their hardware."""
    monkeypatch.setattr(system_package, "convert", _converted)
    monkeypatch.setattr(system_package, "analyse", lambda *_: None)


def _converted(_: object, args: Mapping[str, object], language: str, folder: Path) -> Converted:
    folder.mkdir()
    file = folder / f"memory_system.{'vhd' if language == 'vhdl' else 'v'}"
    file.write_text(f"{language} with {', '.join(args)}\n")
    ports = Port("clk", False, None), Port("m_axi_awaddr", True, 32), Port("moves", True, 8)
    return Converted((file,), "memory_system", ports)
