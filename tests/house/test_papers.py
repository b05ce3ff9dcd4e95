"""The tables in the papers' pages are what the models give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import papers
from merp.models.comparison.registry import ARCHITECTURES

PAGES = sorted(papers.PAGES.glob("*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_table_is_as_the_script_writes_it(path: Path) -> None:
    page = path.read_text()
    assert papers.rewritten(path.stem, page) == page, f"{path.name}: run python docs/papers.py"
    assert re.findall(r"<!-- (\w+) -->", page) == list(papers.TABLES)


def test_every_architecture_has_its_page() -> None:
    """CNN-MERP's is docs/paper.md."""
    assert {path.stem for path in PAGES} == ARCHITECTURES.keys() - {"cnn-merp"}


def test_a_number_that_changed_is_seen() -> None:
    page = (papers.PAGES / "mazouz.md").read_text()
    changed = page.replace("| 52.35 |", "| 52.36 |")
    assert changed != page
    assert papers.rewritten("mazouz", changed) == page
