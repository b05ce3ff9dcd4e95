"""Pages that name files name files that are there."""

import doctest
import re

import pytest

from checkout import ROOT
from merp.tools.common.command_line.parser import command_line

NAMED = re.compile(r"`((?:hdl|models|tools|tests|testbenches|cosim|docs)/[\w/.-]+)`")


@pytest.mark.parametrize(
    "page",
    [
        *("paper.md", "traffic.md", "workload.md", "tutorial.md", "plan.md", "onnx.md"),
        *("compare.md", "explore.md", "cluster.md"),
        *(f"papers/{path.name}" for path in sorted((ROOT / "docs" / "papers").glob("*.md"))),
    ],
)
def test_files_named_by_a_page_exist(page: str) -> None:
    names = NAMED.findall((ROOT / "docs" / page).read_text())
    assert [name for name in names if not (ROOT / name).exists()] == []
    assert names or page in ("tutorial.md", "workload.md")


def test_links_between_pages_lead_somewhere() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", page.read_text()):
            made = ROOT / "examples" / link.replace(".md", ".ipynb")  # as the site is built
            assert (page.parent / link).exists() or made.exists(), f"{page.name}: {link}"


@pytest.mark.parametrize("page", ["README.md", "docs/library.md"])
def test_what_a_page_shows_of_python_is_what_comes(page: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False)
    assert (failed, tried >= 3) == (0, True)


VERB_LIST = (ROOT / "docs" / "verbs.md").read_text()
COMMANDS = re.findall(r"^    merp (\S+.*?)(?:  +.*)?$", VERB_LIST, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_listed_commands_are_whole(command: str) -> None:
    """With what stands in brackets, too."""
    words = re.sub(r"[\[\]]", "", command).split()
    assert command_line({words[0]}).parse_args(words).verb == words[0]
