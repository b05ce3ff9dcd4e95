"""The tables of ports and the drawings of the engines are those of the exported VHDL."""

import ast
import re
from collections.abc import Collection, Iterator
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


def without_table(page: str, known: set[str], exported: Collection[str]) -> list[str]:
    """Entities in a page's first heading that no design has which is exported for the tables."""
    named = re.findall(r"\w+", page.partition("\n")[0])
    return [name for name in named if name in known and name not in exported]


@pytest.mark.full
def test_a_page_has_a_table_for_each_block_of_its_heading(ports: dict[str, Any]) -> None:
    page = ports["filled"]("# bank, credit_fifo: no_such_block\n\ntap_line\n")
    tables = (ports["table"](name) for name in ("bank", "credit_fifo"))
    assert page.endswith("\n\n".join(["\n\ntap_line", "## Ports", *tables]) + "\n")
    assert ports["filled"]("# No block\n") == "# No block\n"


@pytest.mark.full
def test_a_table_has_the_ports_of_the_vhdl(ports: dict[str, Any]) -> None:
    table = ports["table"]("credit_fifo")
    block = ports["blocks"]()["credit_fifo"]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (\d+) \|", table, re.MULTILINE)
    assert rows == [(port.name, port.direction, str(port.width)) for port in block.ports]


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


@pytest.mark.full
def test_every_port_of_a_table_has_a_meaning(ports: dict[str, Any]) -> None:
    empty = re.compile(r"^\| `[\w*]+` \| [\w, ]+ \| \d+ \| *\|$", re.MULTILINE)
    for path in PAGES:
        for row in empty.findall(ports["filled"](path.read_text())):
            raise AssertionError(f"{path.name}: {row}")


@pytest.mark.full
def test_a_field_inside_two_bundles_has_its_own_meaning(ports: dict[str, Any]) -> None:
    table = ports["table"]("router")
    row = next(line for line in table.splitlines() if "`intake_place_column`" in line)
    assert row.endswith("| its column in its map |")
    assert "| G, groups of output maps |" in ports["table"]("fold_router")


@pytest.fixture(scope="module")
def known() -> set[str]:
    """Every entity; a behavioural twin has the ports of its block."""
    files = [each for each in (ROOT / "hdl").rglob("*.py") if "behavioural" not in each.parts]
    return {name for each in files for name in entities(each)}


@pytest.mark.full
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_documented_block_has_its_table(
    path: Path, known: set[str], ports: dict[str, Any]
) -> None:
    assert without_table(path.read_text(), known, ports["blocks"]()) == []


def test_a_block_without_a_table_is_seen() -> None:
    assert without_table("# cu, cu_tree\n", {"cu", "cu_tree", "bank"}, ["cu"]) == ["cu_tree"]
