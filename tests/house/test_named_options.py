"""A message names only options and verbs that there are.

Every refusal that a test meets is checked against the options of its own verb, by the session
(``conftest``); here are the texts that no test may have met.
"""

import ast
from pathlib import Path

import pytest
from named_options import strange_options

from checkout import ROOT
from merp.models.base.errors import BadInput
from merp.tools import cli


def texts(path: Path) -> list[str]:
    """The messages of a module: texts that are raised, or given to what complains."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Raise):
            continue
        for text in ast.walk(node):
            if isinstance(text, ast.JoinedStr):
                parts = (p.value if isinstance(p, ast.Constant) else "X" for p in text.values)
                found.append("".join(map(str, parts)))
            elif isinstance(text, ast.Constant) and isinstance(text.value, str):
                found.append(text.value)
    return found


def test_messages_name_options_that_there_are() -> None:
    wrong = {
        f"{path.relative_to(ROOT)}: {text}": strange
        for tree in ("models", "cosim", "tools")
        for path in (ROOT / tree).rglob("*.py")
        for text in texts(path)
        if (strange := strange_options(text))
    }
    assert wrong == {}


def test_an_option_that_a_verb_does_not_have_is_found() -> None:
    assert strange_options("allowed with --board", "export") == ["--board"]
    assert strange_options("allowed with --board", "plan") == []
    assert strange_options("merp plan NET --board B -o N.toml writes one", "export") == []
    assert strange_options("merp export NET --board B", "plan") == ["merp export --board"]
    assert strange_options("merp plot --all") == ["merp plot"]
    assert strange_options("as merp train -o wrote it") == []


def test_the_session_looks_at_every_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal that names an option of another verb fails the test that meets it."""

    class Module:
        @staticmethod
        def run(_: object) -> int:
            raise BadInput("no designs: give --board")

    monkeypatch.setattr(cli, "module_of", lambda verb: Module)
    assert cli.main(["export", "digits", "--all"]) == 3
