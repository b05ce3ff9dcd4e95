"""What a verb writes: missing folders are made, and a place is refused before any work."""

import os
from pathlib import Path
from typing import Any

import pytest

from marks import in_full
from merp.models.base.errors import BadInput
from merp.tools import cli
from merp.tools.cli import main
from merp.tools.common.arguments import WRITTEN
from merp.tools.common.command_line.parser import command_line, subparsers_of
from merp.tools.common.command_line.verbs import VERBS
from merp.tools.common.output import Output

WRITING = ("-o", "--output", "--save", "--wave")
"""Options whose names say that something is written."""


def written(verb: str) -> list[tuple[str, str]]:
    """The options of a verb that name what it writes: name and destination."""
    parser = subparsers_of(command_line({verb}))[verb]
    return [(name, dest) for name, dest, _ in parser.get_default(WRITTEN) or ()]


OPTIONS = [(verb, name) for verb in VERBS for name, _ in written(verb)]


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_that_writes_is_checked(verb: str) -> None:
    parser = subparsers_of(command_line({verb}))[verb]
    writing = {each.dest for each in parser._actions if set(each.option_strings) & set(WRITING)}
    assert writing <= {dest for _, dest in written(verb)}


def words_of(verb: str, option: str, path: Path) -> list[str]:
    """The first example of a verb, with another place for what it writes."""
    words = VERBS[verb].examples[0].words.split()
    if option in words:
        words[words.index(option) + 1] = str(path)
        return words
    return [*words, option, str(path)]


@pytest.mark.parametrize(("verb", "option"), OPTIONS)
@pytest.mark.parametrize("place", ["below a file", "not to be written to"])
def test_a_place_is_refused_before_the_work(
    verb: str,
    option: str,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)

    def work(verb: str) -> Any:
        raise AssertionError(f"{verb} has begun")

    if place == "below a file":
        (tmp_path / "file").write_text("x")
        path, said = tmp_path / "file" / "deep" / "x.out", "file is no folder"
    else:
        (tmp_path / "closed").mkdir()
        denied = tmp_path / "closed"
        access = os.access
        monkeypatch.setattr(os, "access", lambda p, m: Path(p) != denied and access(p, m))
        path, said = denied / "deep" / "x.out", "cannot be written: no permission to write to close"
    monkeypatch.setattr(cli, "module_of", work)
    before = sorted(tmp_path.rglob("*"))
    assert main(words_of(verb, option, path)) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"merp: {option} {path}: ")
    assert said in error
    assert error.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_the_work_begins_where_the_place_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The check above is not passed by a verb that never begins."""
    monkeypatch.setattr(cli, "module_of", lambda verb: pytest.fail("begun"))
    with pytest.raises(pytest.fail.Exception, match="begun"):
        main(["workload", "alexnet", "--format", "zigzag", "-o", str(tmp_path / "a" / "b")])


@pytest.mark.parametrize(
    "words",
    [
        ["workload", "digits", "--format", "zigzag", "-o", "{}"],
        ["registers", "digits", "--layer", "conv1", "-o", "{}"],
        ["plan", "digits", "--board", "kc705", "-o", "{}.toml"],
        ["verify-float", "--op", "fused", "--taps", "4", "--rows", "10", "-o", "{}.txt"],
        ["simulate", "tiny3", "--wave", "{}.vcd"],
        *in_full(["compare", "digits", "--architecture", "cnn-merp", "-o", "{}.html"]),
    ],
    ids=lambda words: words[0],
)
def test_missing_folders_are_made(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a" / "b" / "c"
    assert main([word.format(path) for word in words]) == 0
    assert list(path.parent.iterdir())
    assert not list(tmp_path.rglob(".*"))


@pytest.mark.parametrize(
    "words",
    [
        ["train", "tiny3", "--data", "no.npz", "--save", "{}.npz"],
        ["train", "tiny3", "--data", "no.npz", "-o", "{}"],
        ["simulate", "tiny3", "--image", "no.png", "-o", "{}"],
        ["import", "no.onnx", "-o", "{}.toml", "--weights", "{}.npz"],
        ["plan", "vgg19", "--board", "zc706", "--layer-fusion", "conv1", "-o", "{}.toml"],
        ["losses", "no", "-o", "{}.svg"],
        ["predict", "tiny3", "--input", "no.npy", "-o", "{}.npz"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_failure_leaves_no_folder(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a" / "b" / "c"
    assert main([word.format(path) for word in words]) == 2
    assert list(tmp_path.iterdir()) == []


def test_the_writer_makes_and_removes(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b" / "f.txt"
    output = Output.of_file("-o", place)
    with output:
        output.add({"f.txt": "half"})
    assert list(tmp_path.iterdir()) == []
    with Output.of_file("-o", place) as output:
        output.write({output.name: "whole"})
    assert place.read_text() == "whole"
    with pytest.raises(BadInput, match=r"x: f\.txt is no folder$"):
        Output.of_folder("output", place / "x")
    with pytest.raises(BadInput, match="File name too long"):
        Output.of_file("-o", tmp_path / ("n" * 300) / "f.txt")
