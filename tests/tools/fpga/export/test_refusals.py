"""What cannot be exported is refused in one line, and nothing is touched."""

from pathlib import Path
from typing import Any

import pytest

from merp.tools.fpga.export import package as export_package
from terminal import Terminal


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
        (["alexnet", "--layer", "conv2", "--delta-at", "pooled"], "allowed with dp, bp, ku"),
        (["alexnet", "--all", "--phase", "fp"], "allowed with --layer"),
        (["alexnet", "--all", "--layer", "conv2"], "not allowed with"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    arguments: list[str], said: str, terminal: Terminal
) -> None:
    assert said in terminal.refusal("export", *arguments)


@pytest.mark.usefixtures("no_work")
def test_a_folder_that_is_no_export_is_not_touched(tmp_path: Path, terminal: Terminal) -> None:
    mine = tmp_path / "digits-k3-fp"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    line = terminal.refusal("export", "digits", "--layer", "conv1", "-o", tmp_path)
    assert "is no export" in line
    assert (mine / "thesis.txt").read_text() == "years of work"


@pytest.mark.usefixtures("no_work")
def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, terminal: Terminal) -> None:
    (tmp_path / "file").touch()
    folder = str(tmp_path / "file" / "exports")
    line = terminal.refusal("export", "digits", "--layer", "conv1", "-o", folder)
    assert "file is no folder" in line
