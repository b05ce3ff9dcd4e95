"""Formulas on the site read as they were written: Markdown takes no asterisk out of them."""

from pathlib import Path

import pytest

from checkout import ROOT
from prose import flaws

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_formula_is_taken_for_emphasis(page: Path) -> None:
    assert flaws(page.read_text()) == []


@pytest.mark.parametrize(
    "source", ["yp if Tn = 1, else (2*Tn - 1)*y", "k*k products of k*k", r"a \q b", "x*y* z"]
)
def test_a_formula_that_reads_otherwise_is_told(source: str) -> None:
    assert flaws(source)


def test_what_is_meant_is_no_flaw() -> None:
    assert flaws(r"k\*k, `a*b*c`, *so*, **it** is (*here*)" + "\n\n    a*b*c\\d") == []
