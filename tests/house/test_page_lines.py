"""Every line of code on the pages that a test runs is of a kind that it knows how to run."""

import re
import shlex
from pathlib import Path

import pytest

from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from page_lines import (
    NOT_RUN,
    OWN_NETWORK,
    PAGES,
    PROGRAMS,
    README,
    TUTORIAL,
    VERB_LIST,
    blocks,
    commands,
)

KINDS = {
    "README.md": {"commands", "doctest", "fragment"},
    "verbs.md": {"commands"},
    "tutorial.md": {"commands", "file"},
    "library.md": {"commands", "doctest"},
    "networks.md": {"answer", "commands", "file", "fragment"},
    "own-block.md": {"commands", "fragment"},
    "cocotb.md": {"commands", "file", "fragment"},
    "plan.md": {"commands", "file"},
    "onnx.md": {"answer", "commands", "file", "fragment"},
}
LINES = [command.line for page in PAGES for command in commands(page)]


def strange(page: Path) -> list[str]:
    """Lines of a page that are no command of a known program, alone on its line."""
    return [
        command.line
        for command in commands(page)
        if shlex.split(command.line)[0] not in PROGRAMS or "  " in command.line
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_is_of_a_kind_that_is_run(page: Path) -> None:
    assert {block.kind for block in blocks(page)} == KINDS[page.name]
    assert strange(page) == []


def test_no_block_is_missed() -> None:
    """A second count, of indented and fenced lines, by hand."""
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        indented = [line.strip() for line in text.splitlines() if re.match(r" {4}\S", line)]
        shown = "".join(block.text for block in blocks(page) if not block.language)
        assert [line for line in indented if line not in shown] == []


def test_what_is_not_run_stands_on_a_page() -> None:
    assert sorted(NOT_RUN.keys() - set(LINES)) == []


def test_what_a_command_is_and_what_is_said_of_it() -> None:
    found = {each.line: each for page in (README, VERB_LIST) for each in commands(page)}
    assert found["merp networks [NETWORK]"].variants == ["merp networks", "merp networks alexnet"]
    assert found["make demo"].said.startswith("installs")
    assert found["merp train digits --data digits"].installs == ["pip install 'merp[train]'"]
    assert sum(command.in_checkout for command in commands(TUTORIAL)) == 4


def test_a_line_that_nothing_would_run_is_told(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Do:\n\n    merp traffic alexnet\n    rm -rf all\n")
    assert strange(page) == ["rm -rf all"]
    page.write_text("Do:\n\n```sh\nmerp traffic alexnet\n```\n")
    assert {block.kind for block in blocks(page)} == {"fragment"}  # no page has one but own-block


def test_the_mistake_on_the_page_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = blocks(OWN_NETWORK)
    network = next(block.text for block in shown if block.kind == "file")
    (answer,) = (block.text for block in shown if block.kind == "answer")
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(network.replace("stride = 1 ", "strid = 1 "))
    assert main(["networks", "mine.toml"]) == 2
    assert capsys.readouterr().err == answer


def test_every_network_file_of_the_page_is_a_whole_one(tmp_path: Path) -> None:
    files = [block.text for block in blocks(OWN_NETWORK) if block.kind == "file"]
    assert len(files) > 1
    for text in files:
        (tmp_path / "mine.toml").write_text(text)
        assert open_network(str(tmp_path / "mine.toml"), fuses=True).name == "mine"
