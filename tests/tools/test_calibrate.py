"""``merp calibrate``: reports in Vivado's form, read and compared; bad ones refused in a line."""

from pathlib import Path

import pytest

from checkout import ROOT
from merp.cosim.synthesis import resources
from merp.models.fpga.resources import Resources
from merp.tools.fpga.bitstream.resources import calibrate_verb
from merp.tools.fpga.bitstream.resources.utilisation import read_utilisation
from terminal import Terminal

REPORT = ROOT / "tests" / "data" / "utilisation_synthetic.rpt"
REPORTED = Resources(logic=97_000, shift=2_000, memory=1_000, ff=80_000, bram=200.5, dsp=400)


def test_a_report_is_read() -> None:
    assert read_utilisation(REPORT) == REPORTED


def test_our_estimate_beside_it(monkeypatch: pytest.MonkeyPatch, terminal: Terminal) -> None:
    ours = Resources(logic=99_000, shift=1_000, ff=84_000, bram=200.5, dsp=200)
    block = resources.Block(name="all", count=1, each=ours, delay_ns=1.0)
    monkeypatch.setattr(calibrate_verb, "measured", lambda *_: [block])
    command = ["calibrate", str(REPORT), "alexnet", "--layer", "conv2"]
    found = terminal.answer(*command)["resources"]
    assert list(found) == ["lut", "logic", "shift", "memory", "ff", "bram", "dsp"]
    assert found["lut"] == {"vivado": 100_000, "estimate": 100_000, "error": 0}
    assert found["ff"]["error"] == pytest.approx(0.05)
    assert found["memory"]["error"] == -1
    assert found["dsp"]["error"] == -0.5
    assert "+5.0%" in terminal.output(*command)


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
    old: str, new: str, message: str, tmp_path: Path, terminal: Terminal
) -> None:
    bad = tmp_path / "bad.rpt"
    bad.write_text(REPORT.read_text().replace(old, new))
    err = terminal.refusal("calibrate", bad, "alexnet", "--layer", "conv2")
    assert err.startswith(f"merp: {bad}: {message}")


def test_files_that_are_no_report(tmp_path: Path, terminal: Terminal) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path, reason in ((binary, "is not text"), (tmp_path / "none", "No such file or directory")):
        assert (
            terminal.refusal("calibrate", path, "alexnet", "--layer", "conv2")
            == f"merp: {path}: cannot be read: {reason}"
        )
