"""The example of a block of one's own runs as its page says, in a checkout and elsewhere."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import ROOT
from clean_copy import clean_copy
from page_lines import OWN_BLOCK, commands

EXAMPLE = ROOT / "examples" / "fir"


def pytest_says(folder: Path, *words: str) -> str:
    """What pytest says, started in a folder; its tests must pass."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def run(folder: Path, chosen: str) -> str:
    """What pytest says of the example's tests that are chosen, in a copy of it."""
    copy = shutil.copytree(EXAMPLE, folder / "fir", ignore=shutil.ignore_patterns("__pycache__"))
    return pytest_says(copy, "-k", chosen)


def test_the_filter_is_right_and_exported(tmp_path: Path) -> None:
    assert "3 passed, 2 deselected" in run(tmp_path, "not every_cycle")


def test_in_a_checkout_it_is_run_as_the_page_says(tmp_path: Path) -> None:
    """pytest takes the settings of the checkout; only two tests, as what they do is done above."""
    copy = clean_copy(tmp_path / "checkout")
    (line,) = (each.line for each in commands(OWN_BLOCK) if each.line.startswith("pytest "))
    _, *words = line.split()
    assert "2 passed, 3 deselected" in pytest_says(copy, *words, "-k", "numpy or refused")


@pytest.mark.ghdl
def test_its_vhdl_is_replayed_in_ghdl(tmp_path: Path) -> None:
    assert "1 passed" in run(tmp_path, "ghdl")


@pytest.mark.full
@pytest.mark.verilator
def test_its_verilog_is_replayed_in_verilator(tmp_path: Path) -> None:
    assert "1 passed" in run(tmp_path, "verilator")


def test_the_page_shows_what_stands_in_the_example() -> None:
    code = "".join(path.read_text() for path in sorted(EXAMPLE.glob("*.py")))
    shown = re.findall(r"```python\n(.*?)```", (ROOT / "docs/own-block.md").read_text(), re.DOTALL)
    assert len(shown) == 4
    assert [text for text in shown if text not in code] == []
