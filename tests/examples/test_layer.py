"""The example of a layer of one's own: its packages, its test in GHDL and Verilator, its page."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from checkout import ROOT
from marks import in_full
from merp.tools.cli import main

EXAMPLE = ROOT / "examples" / "layer"
PAGE = (ROOT / "docs" / "cocotb.md").read_text()
TEST = (EXAMPLE / "test_mine.py").read_text()


def exports() -> list[list[str]]:
    """The words of the page's exports."""
    return [line.split()[1:] for line in re.findall(r"^    (merp export .*)$", PAGE, re.MULTILINE)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example."""
    there = tmp_path_factory.mktemp("elsewhere") / "layer"
    return shutil.copytree(EXAMPLE, there, ignore=shutil.ignore_patterns("__pycache__"))


def run(folder: Path, language: str) -> str:
    """Export as the page says, unless that was done; what pytest says of the test in a language."""
    (words,) = [each for each in exports() if each[each.index("-o") + 1] == language]
    if not (folder / language).exists():
        words[words.index("mine.toml")] = str(folder / "mine.toml")
        words[words.index("-o") + 1] = str(folder / language)
        assert main(words) == 0
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", language,
         "test_mine.py"],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.ghdl
def test_the_layer_is_right_in_ghdl(folder: Path) -> None:
    assert "1 passed, 1 deselected" in run(folder, "vhdl")


@pytest.mark.full
@pytest.mark.verilator
def test_the_layer_is_right_in_verilator(folder: Path) -> None:
    assert "1 passed, 1 deselected" in run(folder, "verilog")


WRONG: dict[str, Callable[[str], str]] = {
    r"m_axis_map, word \d+ of 48: 0x\w+ \([-\d.e+]+\), not 0x\w+ \([-\d.e+]+\); \d+ words differ": (
        lambda text: text.replace("+ biases, 0)", "+ biases + 1, 0)")
    ),
    "counter useful: 96, not 97": lambda text: text.replace("4 * 4 * 2 * 3", "97"),
}


@pytest.mark.ghdl
@pytest.mark.parametrize("said", [next(iter(WRONG)), *in_full(*list(WRONG)[1:])])
def test_what_is_wrong_is_told(said: str, folder: Path) -> None:
    test = folder / "test_mine.py"
    test.write_text(WRONG[said](TEST))
    assert test.read_text() != TEST
    told = run(folder, "vhdl")
    test.write_text(TEST)
    assert "1 failed" in told
    assert "1 of 1 cocotb tests failed: my_layer" in told
    assert re.search(said, told), told


def test_the_page_shows_the_example_whole() -> None:
    assert f"```python\n{TEST}```" in PAGE
    assert f"```toml\n{(EXAMPLE / 'mine.toml').read_text()}```" in PAGE


def test_it_is_twenty_lines_that_import_nothing_else_of_the_project() -> None:
    assert len([line for line in TEST.splitlines() if line.strip()]) <= 20
    imported = [
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(TEST))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert sorted(imported) == ["merp.cocotb", "numpy", "pytest"]
