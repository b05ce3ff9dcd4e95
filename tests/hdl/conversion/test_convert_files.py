"""What a conversion leaves on disk: licence, other files, and what was there if it fails."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from myhdl import Signal

from checkout import ROOT
from merp.hdl.base.signals import bits
from merp.hdl.conversion.convert import ExportError, convert
from trap_wiring import register

HEADS = {"vhdl": "-- SPDX", "verilog": "// SPDX"}


def args() -> dict[str, Any]:
    return {"clk": Signal(bool(0)), "d": bits(8), "q": bits(8)}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("hdl", ["vhdl", "verilog"])
def test_the_licence_is_the_callers(hdl: Any, tmp_path: Path) -> None:
    default, other, none = (
        convert(register, args(), hdl, tmp_path / name, **given).files[-1].read_text()
        for name, given in (("a", {}), ("b", {"licence": "MIT"}), ("c", {"licence": None}))
    )
    assert default.startswith(f"{HEADS[hdl]}-License-Identifier: Apache-2.0\n")
    assert other == default.replace("Apache-2.0", "MIT")
    assert none == "".join(default.splitlines(keepends=True)[2:])


def test_other_files_and_the_folder_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "register_2.vhd").write_text("old")
    export = convert(register, args(), "vhdl", tmp_path)
    assert set(contents(tmp_path)) == {"notes.txt", *(file.name for file in export.files)}
    assert contents(tmp_path)["notes.txt"] == b"mine"
    assert contents(tmp_path)["register_2.vhd"] != b"old"


def test_a_design_that_has_no_export_leaves_what_was_there(tmp_path: Path) -> None:
    convert(register, args(), "vhdl", tmp_path)
    before = contents(tmp_path)
    with pytest.raises(ExportError):
        convert(register, args() | {"d": Signal(0)}, "vhdl", tmp_path)
    assert contents(tmp_path) == before


def test_a_file_that_cannot_be_put_in_place_leaves_what_was_there(tmp_path: Path) -> None:
    export = convert(register, args(), "vhdl", tmp_path)
    support, top = export.files
    support.write_text("an older package")
    top.unlink()
    top.mkdir()
    (top / "in the way").touch()
    with pytest.raises(OSError, match=r"register_2\.vhd"):
        convert(register, args(), "vhdl", tmp_path)
    assert support.read_text() == "an older package"
    assert [path.name for path in top.iterdir()] == ["in the way"]
    assert {path.name for path in tmp_path.iterdir()} == {support.name, top.name}


def test_a_new_file_goes_again_when_a_later_one_fails(tmp_path: Path) -> None:
    (tmp_path / "register_2.vhd").mkdir(parents=True)
    (tmp_path / "register_2.vhd" / "in the way").touch()
    with pytest.raises(OSError, match=r"register_2\.vhd"):
        convert(register, args(), "vhdl", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["register_2.vhd"]


def test_the_example_of_the_page_converts(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "conversion.md").read_text()
    [example] = re.findall(r"```python\n(.*?)```", page, re.S)
    (tmp_path / "example.py").write_text(example)
    run = [sys.executable, "-c", "import example"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "stage.vhd" in done.stdout, done.stderr
    assert "License-Identifier: MIT" in (tmp_path / "build" / "stage" / "stage.vhd").read_text()
