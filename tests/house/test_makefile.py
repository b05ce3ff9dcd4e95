"""What ``make`` runs as scripts starts by itself, without what pytest puts on the path."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(
    set(re.findall(r"\$\(BIN\)/python (tests/\S+\.py)", (ROOT / "Makefile").read_text()))
)
BENCH = "tests/speed/run.py"  # has no options: it would measure


def test_make_runs_scripts_of_the_tests() -> None:
    assert {BENCH, "tests/fuzz/run.py"} < set(SCRIPTS)


@pytest.mark.parametrize("script", [each for each in SCRIPTS if each != BENCH])
def test_a_script_of_make_tells_its_options(script: str) -> None:
    done = subprocess.run(
        [sys.executable, script, "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage: " in done.stdout
