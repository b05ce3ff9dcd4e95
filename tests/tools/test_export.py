"""Exports on disk: complete or not there; what cannot be exported is refused in one line."""

from __future__ import annotations

import errno
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from merp.cosim.synthesis.export import write_export
from merp.models.errors import BadInput
from merp.tools.cli import main
from merp.tools.export import package as export_package


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def two_files(folder: Path) -> dict[str, Any]:
    (folder / "a.vhd").write_text("entity a is end;")
    (folder / "b.vhd").write_text("entity b is end;")
    return {"top": "b"}


def test_the_manifest_names_every_file_by_its_hash(tmp_path: Path) -> None:
    manifest = write_export(tmp_path / "new" / "vhdl", two_files)
    folder = tmp_path / "new" / "vhdl"
    assert json.loads((folder / "manifest.json").read_text()) == manifest
    assert manifest["top"] == "b"
    assert manifest["files"] == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("a.vhd", "b.vhd")
    }


class Killed(BaseException):
    pass


@pytest.mark.parametrize("step", ["write", "first rename", "second rename"])
def test_a_killed_export_leaves_one_complete_and_the_next_repairs(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "vhdl"
    write_export(target, two_files)
    before = contents(target)

    def killed(folder: Path) -> dict[str, Any]:
        found = two_files(folder)
        if step == "write":
            raise Killed
        return found

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
        with pytest.raises(Killed):
            write_export(target, killed)
    survivor = target if target.exists() else tmp_path / "vhdl.old"
    assert contents(survivor) == before
    write_export(target, two_files)
    assert contents(target) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["vhdl"]


@pytest.mark.parametrize("error", [RuntimeError("ghdl refuses"), KeyboardInterrupt()])
@pytest.mark.parametrize("there", [False, True])
def test_an_export_that_fails_leaves_things_as_they_were(
    error: BaseException, there: bool, tmp_path: Path
) -> None:
    target = tmp_path / "vhdl"
    if there:
        write_export(target, two_files)
    before = contents(target) if there else {}

    def fail(folder: Path) -> dict[str, Any]:
        two_files(folder)
        raise error

    with pytest.raises(type(error)):
        write_export(target, fail)
    assert (contents(target) if there else {}) == before
    assert [entry.name for entry in tmp_path.iterdir()] == (["vhdl"] if there else [])


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    def full(folder: Path) -> dict[str, Any]:
        two_files(folder)
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(BadInput, match=r"-o .*vhdl: cannot be written: No space left on device"):
        write_export(tmp_path / "vhdl", full)
    assert list(tmp_path.iterdir()) == []


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The line with which an export is refused before anything is computed."""
    try:
        status = main(["export", *arguments])
    except SystemExit as end:  # the parser's
        status = int(str(end.code))
    message = capsys.readouterr().err
    assert status == 2
    assert message.count("\n") == 1
    return message


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written: a test that gets so far fails."""

    def write_package(*_: object) -> dict[str, Any]:
        raise AssertionError("nothing must be exported")

    monkeypatch.setattr(export_package, "write_package", write_package)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["alexnet"], "--layer L or --all"),
        (["alexnet", "--layer", "conv9"], "no layer 'conv9': allowed are conv1"),
        (["alexnet", "--layer", "fc6"], "fc6 has no design (traffic only): allowed are conv1"),
        (["alexnet", "--layer", "conv1", "--phase", "dp"], "conv1 is the first layer"),
        (["alexnet", "--layer", "conv2", "--phase", "xp"], "choose from"),
        (["alexnet", "--layer", "conv2", "--part", "xc7k325"], "--part xc7k325: allowed are"),
        (["alexnet", "--layer", "conv2", "--clock", "0"], "above 0"),
        (["alexnet", "--layer", "conv2", "--images", "257"], "from 1 to 256"),
        (["alexnet", "--layer", "conv2", "--phase", "ku", "--state"], "allowed with fp"),
        (["alexnet", "--layer", "conv2", "--delta-at", "pooled"], "allowed with dp, ku"),
        (["alexnet", "--all", "--phase", "fp"], "allowed with --layer"),
        (["alexnet", "--all", "--layer", "conv2"], "not allowed with"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(capsys, *arguments)


@pytest.mark.usefixtures("no_work")
def test_a_folder_that_is_no_export_is_not_touched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "digits-k3-fp"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    assert "is no export" in refused(capsys, "digits", "--layer", "conv1", "-o", str(tmp_path))
    assert (mine / "thesis.txt").read_text() == "years of work"


@pytest.mark.usefixtures("no_work")
def test_a_folder_that_cannot_be_made_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    folder = str(tmp_path / "file" / "exports")
    assert "cannot be written" in refused(capsys, "digits", "--layer", "conv1", "-o", folder)
