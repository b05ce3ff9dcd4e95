"""``merp help``, and the glossary behind it."""

import re

import pytest

from checkout import ROOT
from merp.models.traffic.count import COUNTS
from merp.models.traffic.strategies import NAMES
from merp.tools.cli import main
from merp.tools.common.command_line.parser import page_of
from merp.tools.common.command_line.verbs import VERBS
from merp.tools.common.glossary import PAGE, glossary
from terminal import Terminal


def test_terms_are_listed_and_each_is_explained(terminal: Terminal) -> None:
    listed = terminal.output("help")
    for term, text in glossary().items():
        assert term in listed
        assert terminal.output("help", *term.upper().split()) == f"{term}: {text}\n"
        assert re.search(r"[\w)]\.$", text)
    assert list(glossary()) == sorted(glossary(), key=str.lower)


def test_the_site_has_the_glossary_as_a_page() -> None:
    """Its hook needs mkdocs; ``make docs`` runs it."""
    hook = (ROOT / "docs" / "site_hook.py").read_text()
    assert "File.generated(config, GLOSSARY, content=PAGE.read_text(" in hook
    assert '{"Glossary": GLOSSARY}' in hook
    assert PAGE.read_text().startswith("# Glossary\n")


def test_few_words_are_particular_to_merp() -> None:
    own, _, _ = PAGE.read_text().partition("\n# Terms of the field\n")
    assert 10 < len(re.findall("^## ", own, re.MULTILINE)) <= 20


def test_strategies_are_called_as_in_the_tables() -> None:
    terms = glossary()
    for number, name in enumerate(NAMES, 1):
        assert f"{number} {name}" in terms["strategies"]
        assert terms[f"strategy {number}"].lower().startswith(f"{name.lower()}: ")
    assert all(f"{count}: " in terms["count"] for count in COUNTS)


def test_pages_that_the_glossary_names_exist() -> None:
    named = re.findall(r"docs/[\w.]+\.md", " ".join(glossary().values()))
    assert named
    assert all((ROOT / name).is_file() for name in named)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_explained_by_its_page(verb: str, terminal: Terminal) -> None:
    assert terminal.output("help", verb) == page_of(verb)


def test_an_unknown_term_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "strategy", "33"]) == 2
    error = "merp: help: no term 'strategy 33': merp help lists them; did you mean strategy 3?\n"
    assert capsys.readouterr() == ("", error)
