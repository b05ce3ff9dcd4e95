"""The tables of ports in the blocks' pages are those of the exported VHDL."""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkout import BLOCK_PAGES, ROOT

PAGES = sorted(BLOCK_PAGES.rglob("*.md"))


@pytest.fixture(scope="module")
def ports() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "ports.py"))


def entities(path: Path) -> Iterator[str]:
    """Functions of a file that ``@entity`` decorates."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            if any(re.match(r"entity(\(twin=|$)", decorator) for decorator in decorators):
                yield node.name


def without_table(page: str, known: set[str]) -> list[str]:
    """Entities in a page's first heading whose ports the page does not list."""
    named = re.findall(r"\w+", page.partition("\n")[0])
    shown = re.findall(r"<!-- ports: (\w+) -->", page)
    return [name for name in named if name in known and name not in shown]


def test_every_table_is_as_the_script_writes_it(ports: dict[str, Any]) -> None:
    for path in PAGES:
        page = path.read_text()
        assert ports["rewritten"](page) == page, f"{path.name}: run python docs/ports.py"


def test_a_port_that_moved_is_seen(ports: dict[str, Any]) -> None:
    page = next(path for path in PAGES if path.stem == "cu_array").read_text()
    assert ports["rewritten"](page.replace("| in | 16 |", "| in | 17 |")) == page


def test_every_port_of_a_table_has_a_meaning(ports: dict[str, Any]) -> None:
    for path in PAGES:
        for row in re.findall(r"^\| `\w+` \| \w+ \| \d+ \| *\|$", path.read_text(), re.MULTILINE):
            raise AssertionError(f"{path.name}: {row}")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_documented_block_has_its_table(path: Path) -> None:
    # A behavioural twin has the ports of its block.
    files = [each for each in (ROOT / "hdl").rglob("*.py") if "behavioural" not in each.parts]
    known = {name for each in files for name in entities(each)}
    assert without_table(path.read_text(), known) == []


def test_a_block_without_a_table_is_seen() -> None:
    page = "# cu, cu_tree\n\n<!-- ports: cu -->\n"
    assert without_table(page, {"cu", "cu_tree", "bank"}) == ["cu_tree"]
