"""Formulas on the site read as they were written: Markdown takes no asterisk out of them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import markdown
import pytest
import yaml

from checkout import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXTENSIONS = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["markdown_extensions"]


class Prose(HTMLParser):
    """The text outside code, each emphasis marked: ``\\x02`` where it begins, ``\\x03`` its end."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._code = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Code begins, or an emphasis."""
        self._code += tag == "code"
        self.text += "\x02" if tag in ("em", "strong") else ""

    def handle_endtag(self, tag: str) -> None:
        """Code ends, or an emphasis."""
        self._code -= tag == "code"
        self.text += "\x03" if tag in ("em", "strong") else ""

    def handle_data(self, data: str) -> None:
        """Text, a letter in place of code."""
        self.text += "c" if self._code else data


def flaws(source: str) -> list[str]:
    """Where an emphasis touches a word, or a backslash is left."""
    prose = Prose()
    prose.feed(markdown.markdown(source, extensions=EXTENSIONS))
    return re.findall(r".{0,20}(?:\w\x02|\x03\w|\\).{0,20}", prose.text)


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
