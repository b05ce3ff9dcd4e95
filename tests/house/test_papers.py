"""The tables in the papers' pages are what lists and rows give; texts are compared with lists."""

import re
from pathlib import Path

import papers_texts
import pytest

import papers
from merp.models.comparison.printed import DEVIATES
from merp.models.comparison.published import published
from merp.models.papers.lists import NAMES, read


@pytest.mark.parametrize("name", NAMES)
def test_every_table_is_as_the_script_writes_it(name: str) -> None:
    page = papers.PAGES[name].read_text()
    assert papers.rewritten(name, page) == page, f"{name}: run python docs/papers.py"
    assert re.findall(r"<!-- (\w+) -->", page) == list(papers.TABLES)


def test_every_page_has_its_list() -> None:
    pages = set((papers.DOCS / "papers").glob("*.md"))
    assert pages == set(papers.PAGES.values()) - {papers.DOCS / "paper.md"}


@pytest.mark.parametrize("name", NAMES)
def test_every_deviation_of_a_page_is_the_computed_one(name: str) -> None:
    page = papers.PAGES[name].read_text()
    for row in published(name):
        if row.status == DEVIATES and row.error is not None and row.number.unit != "holds":
            assert f"| {100 * row.error:+.1f} % |" in page


def test_a_number_that_changed_is_seen() -> None:
    page = papers.PAGES["mazouz"].read_text()
    changed = page.replace("| 52.35 |", "| 52.36 |")
    assert changed != page
    assert papers.rewritten("mazouz", changed) == page


LIST = read(
    """source = "a"
phrase = "Our machine"
[[group]]
place = "I"
why = "no"
numbers = [
    { what = "speed", unit = "GOPS", printed = "62.06" },
    { what = "gain", unit = "x", printed = "7.5" },
    { what = "logic", unit = "LUT", printed = "20000" },
    { what = "never said", unit = "%", printed = "93" },
]
[settings]
"sizes" = ["28", "2 x"]
""",
    "x.toml",
)
TEXT = """Our machine [3] of 2016 (Fig. 4, Section 2.1) reaches 62.06 GFLOPS, 7.5\u00d7 the
other one, and 9.1 x in 27 \u00d7 27 maps of 16 bits. It takes 20 K LUT, 55 % of 28 parts,
28 % more, 2 x twice.
"""


def test_numbers_of_a_text_are_listed_or_missing() -> None:
    counts, left = papers_texts.missing(TEXT, LIST)
    assert counts == {"found": 8, "in the list": 3, "settings": 2}
    assert [(str(token.value), token.unit) for token in left] == [
        ("9.1", "x"), ("55", "%"), ("28", "%"),
    ]  # fmt: skip


def test_numbers_of_a_list_are_in_the_text() -> None:
    assert papers_texts.unprinted(TEXT, LIST) == ["I: never said: 93 %"]


def test_a_folder_without_texts_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert papers.main(["--texts", str(tmp_path)]) == 2
    assert "no .txt files" in capsys.readouterr().err


def test_what_a_text_has_beyond_its_list_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("F-CNN trains 123.45 times faster than F-CNN.\n")
    assert papers.main(["--texts", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "missing: 123.45 x: ... F-CNN trains 123.45 times faster" in out
    assert "mazouz: no text" in out
