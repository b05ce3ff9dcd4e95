"""``merp calibrate``: reports in Vivado's form, read and compared; bad ones refused in a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkout import ROOT
from merp.cosim.synthesis import resources
from merp.models.fpga.resources import Resources
from merp.tools.bitstream.resources import calibrate_verb
from merp.tools.bitstream.resources.utilisation import read_utilisation
from merp.tools.cli import main

REPORT = ROOT / "tests" / "data" / "utilisation_synthetic.rpt"
REPORTED = Resources(logic=97_000, shift=2_000, memory=1_000, ff=80_000, bram=200.5, dsp=400)


def test_a_report_is_read() -> None:
    assert read_utilisation(REPORT) == REPORTED


def test_our_estimate_beside_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = Resources(logic=99_000, shift=1_000, ff=84_000, bram=200.5, dsp=200)
    block = resources.Block(name="all", count=1, each=ours, delay_ns=1.0)
    monkeypatch.setattr(calibrate_verb, "measured", lambda *_: [block])
    command = ["calibrate", str(REPORT), "alexnet", "--layer", "conv2"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["resources"]
    assert list(found) == ["lut", "logic", "shift", "memory", "ff", "bram", "dsp"]
    assert found["lut"] == {"vivado": 100_000, "estimate": 100_000, "error": 0}
    assert found["ff"]["error"] == pytest.approx(0.05)
    assert found["memory"]["error"] == -1
    assert found["dsp"]["error"] == -0.5
    assert main(command) == 0
    assert "+5.0%" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("| DSPs  ", "| DSP   ", "no row 'DSPs' with a column 'Used'"),
        ("  Used  ", " Count  ", "no row 'LUT as Logic' with a column 'Used'"),
        ("  80000 ", " many   ", "Slice Registers: Used must be a number of sites, not 'many'"),
        ("  80000 ", " 1.5    ", "Slice Registers: Used must be a number of sites, not '1.5'"),
        (" 200.5 ", " 200.2 ", "Block RAM Tile: Used must be a number of sites, not '200.2'"),
        ("100000", "100001", "Slice LUTs: must be the sum of its kinds, 100000, not 100001"),
    ],
)
def test_a_bad_report_is_refused_in_one_line(
    old: str, new: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.rpt"
    bad.write_text(REPORT.read_text().replace(old, new))
    assert main(["calibrate", str(bad), "alexnet", "--layer", "conv2"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.startswith(f"merp: {bad}: {message}")


def test_files_that_are_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path, reason in ((binary, "is no text"), (tmp_path / "none", "No such file or directory")):
        assert main(["calibrate", str(path), "alexnet", "--layer", "conv2"]) == 2
        assert capsys.readouterr().err == f"merp: {path}: cannot be read: {reason}\n"
