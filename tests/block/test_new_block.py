"""A new block in a copy of the tree passes its own tests and those of the house."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import new_block
import pytest
from naming import FILES, TEMPLATES, Name

from checkout import ROOT
from clean_copy import clean_copy

SHOWN = Name("streams", "word_sum")
"""The block of docs/first-block.md."""
BLOCKS = (SHOWN, Name("cnn_merp/super_layer", "q7"), Name("fused", "_".join(["partial"] * 5)))
PAGE = (ROOT / "docs" / "first-block.md").read_text()
TREES = ("cosim", "hdl", "models", "testbenches", "tools")


@dataclass(frozen=True)
class Copy:
    """A copy of the tree, and a folder on Python's path that has it as ``merp``."""

    root: Path
    path: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Python with these words."""
        return subprocess.run(
            [sys.executable, *words], cwd=self.root, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(self.path)},
        )  # fmt: skip

    def passes(self, *words: str) -> str:
        """Run pytest, whose tests must pass, and return its output."""
        done = self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def texts(self) -> Mapping[str, str]:
        """Every text in it, by its path."""
        found = (path for path in self.root.rglob("*") if path.suffix in (".py", ".md", ".toml"))
        return {str(path.relative_to(self.root)): path.read_text() for path in found}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """With a block in a shared room, in a nested room and in a room of floats."""
    folder = tmp_path_factory.mktemp("block")
    root, path = clean_copy(folder / "copy"), folder / "path"
    package = path / "merp"
    package.mkdir(parents=True)
    for part in (*map(root.joinpath, TREES), *(root / "tools" / "front").iterdir()):
        (package / part.name).symlink_to(part)
    made = Copy(root, path)
    for name in BLOCKS:
        done = made.run("tests/block/new_block.py", name.room, name.stem)
        assert (done.returncode, done.stderr) == (0, "")
        assert all(f"new      {path}\n" in done.stdout for path in name.files.values())
    return made


def suite_of(*names: Name) -> list[str]:
    return [path for name in names for path in name.files.values() if path.startswith("tests/")]


def test_a_block_passes_its_tests_as_it_is_made(copy: Copy) -> None:
    assert "\n54 passed, 3 deselected" in copy.passes(*suite_of(*BLOCKS), "-m", "not ghdl")


@pytest.mark.ghdl
def test_its_vhdl_is_replayed_in_ghdl(copy: Copy) -> None:
    assert "3 passed" in copy.passes(*suite_of(*BLOCKS), "-m", "ghdl")


def test_the_house_finds_no_flaw(copy: Copy) -> None:
    """Places, stages, imports, faults, the order of Python, and texts."""
    house = ("places", "stages", "import_directions", "private_names")
    chosen = " or ".join(["test_every_page", *(name.stem for name in BLOCKS)])
    said = copy.passes(*(f"tests/house/test_{name}.py" for name in house), "-k", chosen)
    cases = 1 + len(BLOCKS) * (1 + 3 + 5)  # a stage; a place, sources that import, Python at all
    assert f"\n{cases} passed" in said
    listed = tomllib.loads((copy.root / "tests" / "mutants" / "mutants.toml").read_text())
    for name in BLOCKS:
        hardware = name.files["hardware.py"]
        text = (copy.root / hardware).read_text()
        assert [text.count(line) for line, _ in listed[hardware]["faults"]] == [1] * 5
    files = [path for name in BLOCKS for path in name.files.values()]
    sources = [path for path in (*files, "docs/alone.py", "docs/stages.py") if ".py" in path]
    for words in (["check"], ["format", "--check"]):
        done = copy.run("-m", "ruff", *words, "--no-cache", *sources)
        assert done.returncode == 0, done.stdout
    done = copy.run("tests/style/findings.py", *files)
    assert done.stdout == "0 found\n"


@pytest.mark.full
def test_a_page_has_its_ports_and_every_fault_is_killed(copy: Copy) -> None:
    done = copy.run("docs/ports.py", *(name.stem for name in BLOCKS))
    assert done.stdout.count("| `source_data` | out | 12 | a sum for each word") == len(BLOCKS)
    done = copy.run("tests/mutants/run.py", "--only", "word_sum")
    assert "5 of 5 mutants killed" in done.stdout, done.stdout + done.stderr


def test_the_page_shows_the_files_of_its_block() -> None:
    assert f"make block ROOM={SHOWN.room} STEM={SHOWN.stem}\n" in PAGE
    assert re.findall(r"^\| `(.*?)`", PAGE, re.MULTILINE) == list(SHOWN.files.values())
    assert f"-m pytest {' '.join(suite_of(SHOWN))}\n" in PAGE
    fault = "if total > largest"
    assert fault in PAGE
    assert fault in SHOWN.filled("hardware.py")


def test_every_template_is_used() -> None:
    entries = {"arguments.py", "faults.toml"}
    assert {path.stem for path in TEMPLATES.iterdir()} == FILES.keys() | entries


@pytest.mark.parametrize(
    ("room", "stem", "why"),
    [
        ("", "word_sum", "ROOM='' is no room of blocks; allowed: arithmetic, axi, base, "),
        ("stream", "word_sum", "ROOM='stream' is no room"),
        ("cnn_merp", "word_sum", "ROOM='cnn_merp' is no room"),
        ("conversion", "word_sum", "ROOM='conversion' is no room"),
        ("../hdl/streams", "word_sum", "ROOM='../hdl/streams' is no room"),
        ("streams/", "word_sum", "ROOM='streams/' is no room"),
        ("streams\n", "word_sum", "ROOM='streams\\n' is no room"),
        (
            "streams",
            "",
            "STEM='' cannot name a block; allowed: a new name of 1 to 40 small letters",
        ),
        ("streams", "../x", "STEM='../x' cannot name"),
        ("streams", "a/b", "STEM='a/b' cannot name"),
        ("streams", "word_sum\n", "STEM='word_sum\\n' cannot name"),
        ("streams", "Word", "STEM='Word' cannot name"),
        ("streams", "2x", "STEM='2x' cannot name"),
        ("streams", "a__b", "STEM='a__b' cannot name"),
        ("streams", "a" * 41, f"STEM='{'a' * 41}' cannot name"),
        ("streams", "lambda", "STEM='lambda' is a name of Python"),
        ("streams", "print", "STEM='print' is a name of Python"),
        ("streams", "signal", "STEM='signal' is a keyword of VHDL or Verilog"),
        ("streams", "wire", "STEM='wire' is a keyword of VHDL or Verilog"),
        ("streams", "natural", "STEM='natural' hides a name of VHDL's packages"),
        ("streams", "test_word", "STEM='test_word' is the name of a test for pytest"),
        ("streams", "total", "STEM='total' is a name in the templates or in docs/alone.py"),
        ("streams", "network", "STEM='network' is a name in the templates or in docs/alone.py"),
        ("streams", "shape", "STEM='shape' would overwrite models/base/shape.py"),
        ("axi", "broadcast", "STEM='broadcast' is a block of hdl/streams/broadcast.py"),
        ("axi", "clipped_sum", "STEM='clipped_sum' is a block of hdl/arithmetic/clip.py"),
    ],
)
def test_a_name_that_is_not_allowed_is_refused_in_a_line(
    room: str, stem: str, why: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def written(found: object) -> None:
        raise AssertionError("a refused block is written")

    monkeypatch.setattr(new_block, "write", written)
    monkeypatch.setattr("sys.argv", ["new_block.py", room, stem])
    assert new_block.main() == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert shown.err.startswith(f"error: {why}")


def test_make_hands_names_on_as_they_are(copy: Copy, tmp_path: Path) -> None:
    before = copy.texts()
    make = [
        "make",
        "--no-print-directory",
        "-o",
        ".venv/dev",
        f"BIN={Path(sys.executable).parent}",
        "block",
    ]
    for words, why in (
        ([], "ROOM=''"),
        (["ROOM=streams", f'STEM=x"; touch {tmp_path}/y; "'], "STEM='x\"; touch"),
        (
            ["ROOM=streams", "STEM=word_sum"],
            "STEM='word_sum' would overwrite models/base/word_sum.py",
        ),
    ):
        done = subprocess.run([*make, *words], cwd=copy.root, capture_output=True, text=True)
        refusal, ended = done.stderr.splitlines()
        assert (done.returncode, done.stdout) == (2, "")
        assert refusal.startswith(f"error: {why}")
        assert "Error 2" in ended
    assert list(tmp_path.iterdir()) == []
    assert copy.texts() == before


def test_all_files_are_written_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_block, "ROOT", tmp_path)
    (tmp_path / "old.md").write_text("old")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        new_block.write({"old.md": "new", "file/below.md": "new", "new.md": "new"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "old.md": "old", "file": "",
    }  # fmt: skip
    new_block.write({"old.md": "new", "room/new.md": "new"})
    assert (tmp_path / "old.md").read_text() == (tmp_path / "room/new.md").read_text() == "new"
