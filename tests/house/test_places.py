"""A block's page and test stand where docs/architecture.md says."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkout import ROOT

FOUND_BY_TWIN = "behavioural"  # rooms of twins: a twin is described and tested with its block


def blocks(root: Path) -> list[Path]:
    """Files that define an entity, twins left out."""
    return [
        path
        for path in sorted((root / "hdl").rglob("*.py"))
        if path.parent.name != FOUND_BY_TWIN
        and re.search(r"^@entity", path.read_text(), re.MULTILINE)
    ]


def page_of(path: Path, root: Path) -> Path | None:
    """The page of a block: its own, or one of its room that names it in its heading."""
    room = root / "docs" / "blocks" / path.parent.relative_to(root / "hdl")
    for page in [room / f"{path.stem}.md", *sorted(room.glob("*.md"))]:
        if page.is_file() and path.stem in re.findall(r"\w+", page.read_text().partition("\n")[0]):
            return page
    return None


def lacking(path: Path, root: Path) -> Iterator[str]:
    """What of a block is not at its place."""
    page = page_of(path, root)
    if page is None:
        yield f"{path.stem}: no page in its room"
        return
    named = re.findall(r"tests/[\w/]+\.py", page.read_text())
    yield from (f"{page.stem}: no {name}" for name in named if not (root / name).is_file())
    room = path.parent.relative_to(root / "hdl")
    if not (root / "tests" / "hdl" / room / f"test_{path.stem}.py").is_file() and not named:
        yield f"{path.stem}: no test of its own, and its page names none"


@pytest.mark.parametrize("path", blocks(ROOT), ids=lambda path: path.stem)
def test_page_and_test_are_at_their_places(path: Path) -> None:
    assert list(lacking(path, ROOT)) == []


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    block = tmp_path / "hdl" / "streams" / "gate.py"
    page = tmp_path / "docs" / "blocks" / "streams" / "gates.md"
    for path in (block, page):
        path.parent.mkdir(parents=True)
    block.write_text("@entity\ndef gate(): ...\n")
    assert blocks(tmp_path) == [block]
    page.write_text("# fifo\n")
    assert list(lacking(block, tmp_path)) == ["gate: no page in its room"]
    page.write_text("# fifo, gate\n")
    assert list(lacking(block, tmp_path)) == ["gate: no test of its own, and its page names none"]
    page.write_text("# fifo, gate\n**Verified** (`tests/hdl/streams/test_fifo.py`).\n")
    assert list(lacking(block, tmp_path)) == ["gates: no tests/hdl/streams/test_fifo.py"]
    test = tmp_path / "tests" / "hdl" / "streams" / "test_fifo.py"
    test.parent.mkdir(parents=True)
    test.touch()
    assert list(lacking(block, tmp_path)) == []


def test_git_holds_no_packages() -> None:
    """A wheel or an archive in git is somebody else's code, or made from ours."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    packages = (".whl", ".tar.gz", ".zip", ".egg", ".deb", ".so")
    assert [name for name in listed.stdout.split() if name.endswith(packages)] == []
