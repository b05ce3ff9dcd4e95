"""The tables of ports and the drawings of the engines are those of the exported VHDL."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import diagrams
import ports as module
from checkout import BLOCK_PAGES, ROOT

PAGES = sorted(BLOCK_PAGES.rglob("*.md"))


@pytest.fixture(scope="module")
def ports() -> dict[str, Any]:
    return vars(module)


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


def test_every_drawing_is_as_the_script_writes_it() -> None:
    for name in diagrams.DRAWINGS:
        now = diagrams.drawn(name) == (diagrams.FOLDER / f"{name}.svg").read_text()
        assert now, f"{name}: run python docs/diagrams.py"


def test_a_block_that_has_no_place_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = diagrams.DRAWINGS["delta"]
    places = {name: place for name, place in drawing.places.items() if name != "dilater"}
    monkeypatch.setitem(diagrams.DRAWINGS, "delta", replace(drawing, places=places))
    with pytest.raises(ValueError, match="delta: without a place, or without a box: dilater"):
        diagrams.drawn("delta")


def test_every_port_of_a_table_has_a_meaning(ports: dict[str, Any]) -> None:
    for path in PAGES:
        for row in re.findall(r"^\| `\w+` \| \w+ \| \d+ \| *\|$", path.read_text(), re.MULTILINE):
            raise AssertionError(f"{path.name}: {row}")


@pytest.fixture(scope="module")
def known() -> set[str]:
    """Every entity; a behavioural twin has the ports of its block."""
    files = [each for each in (ROOT / "hdl").rglob("*.py") if "behavioural" not in each.parts]
    return {name for each in files for name in entities(each)}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_documented_block_has_its_table(path: Path, known: set[str]) -> None:
    assert without_table(path.read_text(), known) == []


def test_a_block_without_a_table_is_seen() -> None:
    page = "# cu, cu_tree\n\n<!-- ports: cu -->\n"
    assert without_table(page, {"cu", "cu_tree", "bank"}) == ["cu_tree"]
