"""The CHANGELOG has versions, Keep a Changelog's categories and short entries."""

import re
import tomllib

from checkout import ROOT

TEXT = (ROOT / "CHANGELOG.md").read_text()
CATEGORIES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
WORDS = 15


def test_the_newest_version_is_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    heads = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    versions = [head.split(" - ") for head in heads if head != "Unreleased"]
    assert heads[0] == "Unreleased"
    assert versions[0][0] == project["version"]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in versions)
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == project["version"]


def test_categories_are_those_of_keep_a_changelog() -> None:
    assert set(re.findall(r"^### (.+)$", TEXT, re.MULTILINE)) <= CATEGORIES


def test_an_entry_is_one_line_of_at_most_15_words() -> None:
    _, _, versions = TEXT.partition("## Unreleased\n")
    lines = [line for line in versions.splitlines() if line and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not line.startswith("- ")] == []
    entries = [re.sub(r"`[^`]*`", "code", line) for line in lines]
    assert [entry for entry in entries if len(entry.split()) - 1 > WORDS] == []
