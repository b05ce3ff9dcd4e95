"""``convert(..., check=True)`` has GHDL or Verilator read what it is about to put into place."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from myhdl import Signal

from merp.hdl.base.signals import bits
from merp.hdl.conversion import _compiler, _verilog, _vhdl
from merp.hdl.conversion._compiler import refusal
from merp.hdl.conversion.convert import Export, ExportError, convert
from trap_wiring import register
from traps import DESIGNS

LANGUAGES = [
    pytest.param("vhdl", marks=pytest.mark.ghdl),
    pytest.param("verilog", marks=pytest.mark.verilator),
]
WRITERS = {"vhdl": _vhdl, "verilog": _verilog}
PROGRAMS = {"vhdl": "ghdl", "verilog": "verilator"}


def args() -> dict[str, Any]:
    return {"clk": Signal(bool(0)), "d": bits(8), "q": bits(8)}


def converted(hdl: Any, folder: Path, **given: Any) -> Export:
    return convert(register, args(), hdl, folder, **given)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def spoil(hdl: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the writer write a statement that is none, of names that are declared."""
    written = WRITERS[hdl].write

    def spoilt(*given: Any) -> str:
        text, count = re.subn(r"<= (?=\w+;)", "<= * ", written(*given), count=1)
        assert count == 1, text
        return text

    monkeypatch.setattr(WRITERS[hdl], "write", spoilt)


def without_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_compiler.shutil, "which", lambda name, path=None: None)


@pytest.mark.parametrize("hdl", LANGUAGES)
def test_what_compiles_takes_its_place(hdl: Any, tmp_path: Path) -> None:
    unchecked = converted(hdl, tmp_path / "a")
    export = converted(hdl, tmp_path / "b", check=True)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert [file.name for file in export.files] == [file.name for file in unchecked.files]


@pytest.mark.parametrize("hdl", LANGUAGES)
def test_what_does_not_compile_leaves_nothing(
    hdl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted(hdl, tmp_path / "there")
    before = contents(tmp_path / "there")
    spoil(hdl, monkeypatch)
    for folder in ("there", "not/yet"):
        with pytest.raises(ExportError, match=rf"^register: {PROGRAMS[hdl]}: ") as raised:
            converted(hdl, tmp_path / folder, check=True)
        assert "\n" not in str(raised.value)
        assert re.search(r"register_2\.\w+:\d+:\d+", str(raised.value))
        assert str(tmp_path) not in str(raised.value)
    assert contents(tmp_path / "there") == before
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@pytest.mark.parametrize("hdl", PROGRAMS)
def test_without_its_program_only_the_names_are_checked(
    hdl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(hdl, monkeypatch)
    without_programs(monkeypatch)
    assert converted(hdl, tmp_path, check=True).files


@pytest.mark.parametrize("hdl", PROGRAMS)
def test_nothing_is_started_unless_it_is_asked_for(
    hdl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*given: Any, **options: Any) -> None:
        raise AssertionError(given)

    monkeypatch.setattr(subprocess, "run", run)
    assert converted(hdl, tmp_path).files


@pytest.mark.parametrize("hdl", PROGRAMS)
def test_a_program_that_does_not_end_is_a_refusal(
    hdl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper = tmp_path / "sleeper"
    sleeper.write_text("#!/bin/sh\nexec sleep 100\n")
    sleeper.chmod(0o755)
    monkeypatch.setattr(_compiler.shutil, "which", lambda name, path=None: str(sleeper))
    monkeypatch.setattr(_compiler, "SECONDS", 0.2)
    with pytest.raises(ExportError, match=rf"{PROGRAMS[hdl]}: not at its end after 0\.2 s$"):
        converted(hdl, tmp_path / "hdl", check=True)


@pytest.mark.parametrize("hdl", PROGRAMS)
def test_a_program_that_cannot_be_started_is_a_refusal(
    hdl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = str(tmp_path / "missing")
    monkeypatch.setattr(_compiler.shutil, "which", lambda name, path=None: missing)
    with pytest.raises(ExportError, match=rf"{PROGRAMS[hdl]}: cannot be started: ") as raised:
        converted(hdl, tmp_path / "hdl", check=True)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("hdl", PROGRAMS)
def test_a_program_that_says_nothing_is_a_refusal(
    hdl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_compiler.shutil, "which", lambda name, path=None: "/bin/false")
    with pytest.raises(ExportError, match=rf"{PROGRAMS[hdl]}: status 1$"):
        converted(hdl, tmp_path / "hdl", check=True)


@pytest.mark.ghdl
def test_a_library_that_is_there_is_not_used(tmp_path: Path) -> None:
    """A stale library in the folder holds the units that the last file alone lacks."""
    function, make, _ = DESIGNS["direct"]
    files = convert(function, make(), "vhdl", tmp_path).files
    subprocess.run(["ghdl", "-a", "--std=08", *map(str, files)], cwd=tmp_path, check=True)
    before = contents(tmp_path)
    names = [file.name for file in files]
    assert refusal("vhdl", "direct", tmp_path, names) == ""
    assert re.match(r"ghdl: direct\.vhd:\d+:\d+:", refusal("vhdl", "direct", tmp_path, names[-1:]))
    assert contents(tmp_path) == before


@pytest.mark.verilator
def test_warnings_about_the_design_are_none_of_its_business(tmp_path: Path) -> None:
    """A port whose name is a word of C++ is legal Verilog; what is not there is not."""
    text = "module top (input wire interrupt, output wire y);\n    assign y = {};\nendmodule\n"
    (tmp_path / "top.v").write_text(text.format("interrupt"))
    assert refusal("verilog", "top", tmp_path, ["top.v"]) == ""
    for wrong in ("nothing", "interrupt[3]", "interrupt +"):
        (tmp_path / "top.v").write_text(text.format(wrong))
        assert re.match(
            r"verilator: %Error.*top\.v:2:", refusal("verilog", "top", tmp_path, ["top.v"])
        )
    assert [path.name for path in tmp_path.iterdir()] == ["top.v"]


@pytest.mark.ghdl
def test_ghdl_s_first_line_is_the_message(tmp_path: Path) -> None:
    (tmp_path / "a.vhd").write_text("entity a is\nend entity b;\n")
    said = refusal("vhdl", "a", tmp_path, ["a.vhd"])
    assert re.match(r"ghdl: a\.vhd:2:\d+:", said)
    assert "\n" not in said


def test_a_program_beside_python_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = tmp_path / "ghdl"
    beside.write_text("#!/bin/sh\necho 'a.vhd:1:2: as asked' >&2\nexit 1\n")
    beside.chmod(0o755)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert refusal("vhdl", "a", tmp_path, ["a.vhd"]) == "ghdl: a.vhd:1:2: as asked"
    beside.unlink()
    assert refusal("vhdl", "a", tmp_path, ["a.vhd"]) == ""
