"""Complaints of users about drivers of published engines: kernels, tools, and magic offsets.

Other complaints are in test_complaints.py; docs/board.md lists all.
"""

import ast
import inspect
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forward_board import (
    LIMIT,
    OnBoard,
    forward_board,
    golden,
    on_board,
    placed,
    result,
    small_system,
)

from checkout import ROOT
from merp.cosim.board import dram
from merp.cosim.board.dram import Dram, generated
from merp.cosim.board.driver import Board
from merp.cosim.board.hardware import HardwareBoard
from merp.cosim.board.lists import PlacedList
from merp.cosim.board.rtl_board import RtlBoard
from merp.cosim.board.self_test import self_test
from merp.cosim.board.simulated import SimulatedBoard
from merp.models.base.errors import CheckFailed
from merp.models.memory.walk import Walk
from merp.tools.fpga.bitstream.register_files import c_header, python_constants
from needed_tools import needs


@pytest.fixture(scope="module")
def forward() -> OnBoard:
    return forward_board()


# 9. A new kernel or a new tool breaks the driver.


def test_kernel_drift_breaks_drivers() -> None:
    """Drivers are Python in user space with one interface. There is no module of a kernel."""
    names = [name for name, _ in inspect.getmembers(Board) if not name.startswith("_")]
    assert {"read32", "write32", "alloc", "to_device", "from_device", "wait", "reset"} < set(names)
    for kind in (SimulatedBoard, RtlBoard, HardwareBoard):
        for name in names:
            wanted, found = getattr(Board, name), getattr(kind, name)
            assert type(found) is type(wanted), (kind, name)
            if callable(wanted):
                assert _parameters(found) == _parameters(wanted), (kind, name)
    kernel = re.compile(r"#include <linux/module\.h>|MODULE_LICENSE|obj-m\b")
    for top in ("cosim", "tools", "examples"):
        files = [path for path in (ROOT / top).rglob("*") if path.suffix in (".c", ".h", ".cpp")]
        assert [path for path in files if kernel.search(path.read_text(errors="replace"))] == []
        assert not [path for path in (ROOT / top).rglob("Kbuild")]


def _parameters(function: Any) -> list[tuple[str, Any]]:
    return [(each.name, each.default) for each in inspect.signature(function).parameters.values()]


def test_tool_drift_breaks_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory that another version of LiteDRAM or LiteX wrote is not taken from the cache."""
    keys: list[str] = []

    class Asked(Exception):
        """The cache was asked for a key."""

    def entry(kind: str, key: str) -> None:
        keys.append(key)
        raise Asked

    versions = dict.fromkeys(dram.PACKAGES, "2024.12")
    monkeypatch.setattr(dram, "Entry", entry)
    monkeypatch.setattr("importlib.metadata.version", lambda name: versions[name])
    for package in ("", *dram.PACKAGES):
        if package:
            versions[package] = "2025.4"
        with pytest.raises(Asked):
            generated(Dram())
    assert len(set(keys)) == 1 + len(dram.PACKAGES)


@on_board
def test_a_driver_for_another_design_is_told(forward: OnBoard) -> None:
    """The hardware has the hash of its design, and the table of the driver has its own."""
    other = replace(forward.system, host=small_system().host)
    board = SimulatedBoard(forward.library)
    with pytest.raises(CheckFailed, match=r"^self-test: configuration is 0x\w{8}, not 0x\w{8}$"):
        self_test(board, other)


# 10. Drivers with magic offsets.


@on_board
def test_drivers_with_magic_offsets(forward: OnBoard) -> None:
    """The offsets of the generated Python module run the board, as those of the host's table."""
    names: dict[str, int] = {}
    exec(python_constants(forward.system.host, {}, ""), names)
    board = SimulatedBoard(forward.library)
    run = placed(board, forward)
    for name, value in (
        ("LIST_LOW", run.commands.address), ("LIST_WORDS", run.commands.words.size),
        ("INTERRUPT_ENABLE", 1), ("CONTROL", names["CONTROL_START"]),
    ):  # fmt: skip
        board.write32(names[name], value)
    board.wait(LIMIT)
    assert board.read32(names["IDENT"]) == names["IDENT_VALUE"]
    assert board.read32(names["CONFIGURATION"]) == names["CONFIGURATION_VALUE"]
    assert board.read32(names["STATUS_FAILURE"]) == 0
    np.testing.assert_array_equal(result(board, run), golden(forward))


def test_offsets_follow_the_table() -> None:
    """If registers change their places, so do the writes of the host."""
    system = small_system()
    rows = [replace(each, offset=each.offset ^ 0x100) for each in system.host.registers]
    other = replace(system, host=replace(system.host, registers=tuple(rows)))
    first, second = (PlacedList(each, (), Walk(0, 1), 64, ()).ring for each in (system, other))
    assert second == [(offset ^ 0x100, value) for offset, value in first]


def test_no_driver_has_an_offset_as_a_number() -> None:
    """Accesses of the package, except the tests, name their register."""
    calls = [
        (path.name, call.args[0])
        for path in (ROOT / "cosim").rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("read32", "write32")
    ]
    assert len(calls) > 5
    assert [name for name, place in calls if isinstance(place, ast.Constant)] == []


@needs("gcc")
def test_offsets_in_c_are_those_of_the_table(tmp_path: Path) -> None:
    """A C compiler reads the offsets of the generated header."""
    host = small_system().host
    (tmp_path / "host.h").write_text(c_header(host, {}, ""))
    prefix = host.top.upper()
    values = [f"{prefix}_{each.name.upper()}" for each in host.registers]
    lines = "".join(f'    printf("%u\\n", (unsigned){name});\n' for name in values)
    text = f'#include <stdio.h>\n#include "host.h"\nint main(void) {{\n{lines}    return 0;\n}}\n'
    (tmp_path / "main.c").write_text(text)
    gcc = shutil.which("gcc")
    assert gcc is not None
    subprocess.run([gcc, "-std=c99", "-o", "main", "main.c"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    assert [int(line) for line in printed.stdout.split()] == [
        each.offset for each in host.registers
    ]
