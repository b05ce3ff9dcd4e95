"""The page of the converter shows what it writes, and names everything that it refuses."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from converted import PAGE, Example, examples, made

from checkout import ROOT

TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = examples(TEXT)
FOLDER = ROOT / "hdl" / "conversion"
ANCHOR = re.compile(r"^#{2,4} (.*?) \{#([\w-]+)\}$", re.MULTILINE)
COMPOSED = re.compile(r"…,? line |\W*$")
"""Texts that are put together of others."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"line{example.line}")
def test_an_example_becomes_what_the_page_shows(example: Example, folder: Path) -> None:
    found = made(example, folder)
    assert {"vhdl", "text"} & {answer.language for answer in example.answers}
    for answer in example.answers:
        assert found.get(answer.language, found) == answer.text, "python docs/converted.py"


def test_each_kind_of_python_has_an_example() -> None:
    converted = TEXT[TEXT.index("## Supported Python") : TEXT.index("## Refusals")]
    sections = re.split(r"^####? ", converted, flags=re.MULTILINE)[1:]
    groups = {"Python's operators", "Statements", "Processes"}
    without = {each.partition(" {#")[0] for each in sections if "```py\n" not in each}
    assert without == groups
    assert len(EXAMPLES) > len(sections) - len(groups)


def test_anchors_are_distinct_and_those_of_messages_are_there() -> None:
    anchors = [anchor for _, anchor in ANCHOR.findall(TEXT)]
    assert len(set(anchors)) == len(anchors)
    sources = "".join(path.read_text() for path in FOLDER.rglob("*.py"))
    assert set(re.findall(r"conversion\.md#([\w-]+)", sources)) <= set(anchors)


def _text(node: ast.expr) -> str:
    """A text with a mark for each part that is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(each) for each in node.values)
    return "…"


def _refusals() -> Iterator[str]:
    """What the converter refuses, without the block and the way out."""
    for path in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            function: Any = node.func
            name = getattr(function, "attr", getattr(function, "id", ""))
            if name not in ("refuse", "ExportError"):
                continue
            said = node.args[1 if name == "refuse" and len(node.args) > 2 else 0]
            text = _text(said).removeprefix("…: ")
            if not COMPOSED.match(text):
                yield text


def _shown() -> list[str]:
    """The messages that the tables of the page begin with."""
    return re.findall(r"^\| `([^`]+)` \|.*\|.*\|$", TEXT[TEXT.index("{#refused}") :], re.MULTILINE)


def _is_of(shown: str, refusal: str) -> bool:
    """Whether the page shows the beginning of a refusal, whose first part may be filled in."""
    return refusal.startswith(shown) or (
        refusal.startswith("… ") and shown.endswith(refusal.removeprefix("…"))
    )


def test_the_page_lists_every_refusal_and_no_other() -> None:
    refusals, shown = sorted(set(_refusals())), _shown()
    assert [each for each in refusals if not any(_is_of(one, each) for one in shown)] == []
    assert [one for one in shown if not any(_is_of(one, each) for each in refusals)] == []
    assert len(shown) > 80
