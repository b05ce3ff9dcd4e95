"""The list of mutants keeps up with the hardware: every faulty line has its place."""

from __future__ import annotations

import runpy

from checkout import ROOT

FOLDER = ROOT / "tests" / "mutants"


def test_every_mutant_has_its_line_and_its_tests() -> None:
    mutants = runpy.run_path(str(FOLDER / "run.py"))["read_mutants"](FOLDER / "mutants.toml")
    assert len(mutants) > 250
    for mutant in mutants:
        assert mutant.line != mutant.fault
        for test in mutant.tests:
            assert (ROOT / test.split()[0].split("::")[0]).is_file(), test
