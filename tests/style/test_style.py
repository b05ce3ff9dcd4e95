"""Texts follow docs/style.md, and each rule finds what it is for."""

from pathlib import Path

import pytest

from findings import COLUMNS, files, findings
from passages import ROOT, Passage, passages
from rules import BANNED, WORDS, flaws


def flaws_of(text: str) -> list[str]:
    """The rules that a text breaks, without its sentences."""
    return [flaw.split(":")[0] for flaw in flaws(Passage(Path("x.md"), 1, "page", text))]


def test_texts_follow_the_style() -> None:
    found = [line for path in files() for line in findings(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", BANNED)
def test_a_rule_finds_its_example(name: str) -> None:
    assert name in flaws_of(BANNED[name][1])


def test_a_sentence_has_at_most_25_words() -> None:
    longest = " ".join(["A"] + ["word"] * (WORDS - 1))
    assert flaws_of(f"{longest}. {longest}.") == []
    assert flaws_of(f"{longest}. {longest} more.") == [f"{WORDS + 1} words"]


@pytest.mark.parametrize(
    "text",
    [
        "What does a run print?",
        "If the FIFO is full, the source waits.",
        "It stands for a word.",
        "Do not wait.",
    ],
)
def test_plain_sentences_pass(text: str) -> None:
    assert flaws_of(text) == []


SOURCE = '''"""A module."""

def f(x: int) -> None:
    """Do it.

    Args:
        x: a number.
            More.
        y: another.
    """
    raise ValueError(f"{x} is not allowed; give one word")

def _private() -> None:
    """Told."""
'''
PAGE = """# Head

A *line* and
`code`.

| a | b |
|---|---|
| c | [d](e.md) |
"""


def test_every_kind_of_text_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passages.ROOT", tmp_path)
    source, page = tmp_path / "block.py", tmp_path / "page.md"
    source.write_text(SOURCE)
    page.write_text(PAGE)
    assert [(each.kind, each.text) for each in passages(source)] == [
        ("docstring", "A module."),
        ("docstring", "Do it."),
        ("docstring", "Args:"),
        ("docstring", "x: a number. More."),
        ("docstring", "y: another."),
        ("message", "`c` is not allowed; give one word"),
    ]
    assert [each.text for each in passages(page)] == ["Head", "A line and `c`.", *"abcd"]


def test_the_readme_is_one_screen_and_a_half() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= COLUMNS
