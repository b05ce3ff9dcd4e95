"""Exports: reproducible, complete or not there, accepted by GHDL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from merp.cosim import export as module
from merp.cosim.export import export_vhdl
from merp.testbenches.forward_run import forward_top
from merp.testbenches.random_layers import ELABORATIONS
from merp.testbenches.top import Top
from merp.tools.cli import main

SMALL = ELABORATIONS[0]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def top() -> Top:
    return forward_top(SMALL)


def test_two_exports_are_identical(tmp_path: Path) -> None:
    export_vhdl(top(), tmp_path / "one")
    export_vhdl(top(), tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.ghdl
def test_ghdl_accepts_every_entity_and_the_manifest_lists_it(tmp_path: Path) -> None:
    files = export_vhdl(top(), tmp_path / "vhdl")
    manifest = json.loads((tmp_path / "vhdl" / "manifest.json").read_text())
    assert [file.name for file in files] == list(manifest["files"])
    assert files[-1].stem == manifest["top"] == "forward"
    assert not (tmp_path / "vhdl" / "work").exists()


class Killed(BaseException):
    pass


@pytest.mark.parametrize("step", ["convert", "_analyse", "first rename", "second rename"])
def test_a_killed_export_leaves_one_complete_and_the_next_repairs(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "vhdl"
    export_vhdl(top(), target)
    before = contents(target)

    def kill(*_: object) -> None:
        raise Killed

    renames = 0
    rename = Path.rename

    def rename_or_die(self: Path, to: Path) -> Path:
        nonlocal renames
        renames += 1
        if renames == (1 if step == "first rename" else 2):
            raise Killed
        return rename(self, to)

    with monkeypatch.context() as patch:
        if step.endswith("rename"):
            patch.setattr(Path, "rename", rename_or_die)
        else:
            patch.setattr(module, step, kill)
        with pytest.raises(Killed):
            export_vhdl(top(), target)
    survivor = target if target.exists() else tmp_path / "vhdl.old"
    assert contents(survivor) == before
    export_vhdl(top(), target)
    assert contents(target) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["vhdl"]


def test_refused_vhdl_leaves_the_export_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "vhdl"
    export_vhdl(top(), target)
    before = contents(target)

    def refuse(_: object) -> None:
        raise RuntimeError("ghdl refuses the export")

    monkeypatch.setattr(module, "_analyse", refuse)
    with pytest.raises(RuntimeError):
        export_vhdl(top(), target)
    assert contents(target) == before


def test_a_folder_that_is_no_export_is_not_touched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "digits-k3"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    assert main(["export", "digits", "--layer", "conv1", "-o", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "is no export" in message
    assert message.count("\n") == 1
    assert (mine / "thesis.txt").read_text() == "years of work"


def test_export_asks_which_design(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "alexnet"]) == 2
    assert "--layer" in capsys.readouterr().err
