"""Whatever is said to people is one line on standard error, printed in one place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import ROOT
from merp.cosim.phases.audit import run_and_audit
from merp.testbenches.top.run import Stuck
from merp.tools.cli import main
from terminal import Terminal


@pytest.mark.parametrize("error", ["2> /dev/full", "2>&-"])
def test_a_standard_error_that_takes_nothing_changes_no_status(error: str) -> None:
    command = f"{sys.executable} -m merp.tools.cli no-verb {error}"
    assert subprocess.run(command, shell=True).returncode == 2


def test_hardware_that_stands_still_is_told_on_one_line(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*_: object) -> None:
        raise Stuck("stuck\nin cycle 9\x1b[2J")

    monkeypatch.setattr(run_and_audit, "run_job", stuck)
    assert terminal.refusal("simulate", "lenet5", status=1) == "merp: stuck\\nin cycle 9\\x1b[2J"


def test_a_folder_of_two_lines_is_told_on_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "two\nlines"
    (folder / "finished").mkdir(parents=True)
    (folder / "finished" / "conv1-fp.npz").write_bytes(b"")

    def stuck(*_: object) -> None:
        raise Stuck("after the first pass was taken up")

    monkeypatch.setattr(run_and_audit, "run_job", stuck)
    assert main(["simulate", "lenet5", "-o", os.fspath(folder), "--resume"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["merp", "merp"]
    assert "two\\nlines/finished/conv1-fp.npz: damaged" in lines[0]


def test_nothing_else_prints_to_standard_error() -> None:
    """``streams`` opens, flushes and closes it, and prints nothing."""
    said = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "tools").rglob("*.py"))
        if "sys.stderr" in path.read_text()
    ]
    assert said == ["tools/common/complaint.py", "tools/common/streams.py"]
