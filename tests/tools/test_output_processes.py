"""Real processes that write: on a full disk, and to places that are no files."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from marks import in_full
from merp.tools.cli import main
from terminal import Terminal

WORDS = {
    "registers": ["registers", "digits", "--layer", "conv1", "-o", "{}/set"],
    "report": ["report", "digits", "-o", "{}/page.html"],
    "workload": ["workload", "digits", "--format", "zigzag", "-o", "{}/set"],
}
OTHERWISE = {
    "registers": (["--images", "1"], ["--images", "2"]),
    "report": (["--batch", "2"], ["--batch", "3"]),
    "workload": (["--batch", "2"], ["--batch", "3"]),
}
"""Options of each verb that make two sets of files of the same names that differ."""

LIMITED = (
    "import resource, sys\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)\n"
    "from merp.tools.cli import main\n"
    "sys.exit(main(sys.argv[2:]))\n"
)


def words(verb: str, which: int, folder: Path) -> list[str]:
    return [word.format(folder) for word in (*WORDS[verb], *OTHERWISE[verb][which])]


def started(arguments: Sequence[str], before: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *before, *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=os.environ,
    )  # fmt: skip


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def drafts(folder: Path) -> list[Path]:
    return list(folder.rglob("*.merp-draft"))


@pytest.fixture
def both(
    request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[str, Path, list[dict[str, bytes]]]:
    """A verb, a folder in which it has written the first of its sets, and both sets."""
    verb: str = request.param
    folder = tmp_path / "out"
    folder.mkdir()
    sets: list[dict[str, bytes]] = []
    for which in (1, 0):
        assert main(words(verb, which, folder)) == 0
        sets.insert(0, tree(folder))
    assert sets[0].keys() == sets[1].keys()
    assert sets[0] != sets[1]
    assert not drafts(folder)
    return verb, folder, sets


@pytest.mark.parametrize("both", ["registers", "workload", *in_full("report")], indirect=True)
def test_a_full_disk_leaves_the_old_files(both: tuple[str, Path, list[dict[str, bytes]]]) -> None:
    verb, folder, sets = both
    process = started(words(verb, 1, folder), ["-c", LIMITED, "500"])
    said = process.communicate()[1]
    assert (process.returncode, said.count("\n")) == (2, 1), said
    assert "cannot be written: File too large" in said
    assert tree(folder) == sets[0]
    assert not drafts(folder)


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["train", "digits", "--data", "digits", "--steps", "1", "--save"], "--save"),
        (["simulate", "digits", "--layer", "conv1", "--wave"], "--wave"),
        (["simulate", "digits", "--layer", "conv1", "-o"], "-o"),
        (["registers", "digits", "--layer", "conv1", "-o"], "-o"),
        (["export", "digits", "--layer", "conv1", "-o"], "-o"),
        (["workload", "digits", "--format", "zigzag", "-o"], "-o"),
    ],
)
@pytest.mark.parametrize("target", ["/dev/null", "pipe", "nowhere"])
def test_a_target_that_is_no_file_or_folder_is_refused(
    arguments: list[str], option: str, target: str, tmp_path: Path,
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("nowhere").symlink_to("missing")
    assert terminal.refusal(*arguments, target).startswith(f"merp: {option} {target}: is ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nowhere", "pipe"]
