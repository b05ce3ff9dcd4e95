"""An interrupted run says in one line what is saved, and a command that leads to the same bytes."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from merp.cosim.engines.programs.interrupts import Interrupted
from merp.models.golden import training
from merp.tools import cli
from merp.tools.common.resumable import command, noted, resumable
from merp.tools.comparison.campaign import local
from merp.tools.simulate.finished import Finished
from network_text import layer, network_text

NETWORK = network_text(
    "tiny",
    (4, 4, 1),
    layer("conv 1", 2, kernel=2, pad=0, design="k2"),
    layer("conv 2", 2, kernel=2, design="k2"),
    layer("fc 2", 10, relu=False),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1}},
)

RUNS: dict[str, tuple[Any, str, list[str], str]] = {
    "train": (
        training, "train_step",
        ["--data", "{folder}/data.npz", "--batch", "4", "--steps", "6", "--save", "{out}.npz"],
        "3 of 6 steps are saved",
    ),
    "simulate": (
        Finished, "save", ["--layer", "all", "-o", "{out}"],
        "finished parts saved: 1",
    ),
    "sweep": (
        local, "perform", ["--over", "n_cu=1,2,3", "--jobs", "1", "-o", "{out}"],
        "2 of 3 points are saved",
    ),
}  # fmt: skip
"""Of a verb: the function that an interrupt strikes, options, and what is said to be saved."""

AT = {"train": 4, "simulate": 2, "sweep": 3}
"""The call that it strikes."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    import numpy as np

    found = tmp_path / "a b's"
    found.mkdir()
    (found / "my net.toml").write_text(NETWORK)
    draw = np.random.default_rng(0)
    np.savez(found / "data.npz", images=draw.random((20, 4, 4, 1)), labels=np.arange(20) % 10)
    return found


def interrupted(function: Callable[..., Any], moment: int) -> Callable[..., Any]:
    calls = 0

    def call(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == moment:
            raise KeyboardInterrupt
        return function(*arguments, **options)

    return call


def tree(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(path.rglob("*.*"))
    return {
        str(each.relative_to(path)): each.read_bytes()
        for each in files
        if each.suffix != ".npz" or path.is_file()
    }


@pytest.mark.parametrize("verb", RUNS)
def test_the_command_that_is_said_leads_to_the_same_bytes(
    verb: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    where, name, options, saved = RUNS[verb]
    suffix = ".npz" if verb == "train" else ""

    def words(out: str) -> list[str]:
        given = [each.format(folder=folder, out=folder / out) for each in options]
        return [verb, f"{folder}/my net.toml", *given]

    assert cli.main(words("whole")) == 0
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(where, name, interrupted(getattr(where, name), AT[verb]))
        assert cli.main(words("part out")) == 130
    (line,) = [each for each in capsys.readouterr().err.splitlines() if "go on with" in each]
    said, _, again = line.partition("; go on with: ")
    assert said.endswith(saved)
    split = subprocess.run(  # a shell's word for what the line says
        ["sh", "-c", f"printf '%s\\n' {again}"], capture_output=True, text=True, check=True
    )
    program, *pasted = split.stdout.splitlines()
    assert program == "merp"
    assert cli.main(pasted) == 0
    assert tree(folder / f"part out{suffix}").keys() == tree(folder / f"whole{suffix}").keys()
    for path, content in tree(folder / f"whole{suffix}").items():
        if path not in ("simulate.json", "simulate.txt"):  # seconds
            assert tree(folder / f"part out{suffix}")[path] == content


def test_where_nothing_is_saved_nothing_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(training, "train_step", interrupted(training.train_step, 1))
    words = [f"{folder}/my net.toml", "--data", f"{folder}/data.npz", "--batch", "4"]
    assert cli.main(["train", *words, "--steps", "2"]) == 130
    assert cli.main(["train", *words, "--steps", "2"]) == 0
    monkeypatch.setattr(training, "train_step", interrupted(training.train_step, 1))
    assert cli.main(["train", *words, "--steps", "2", "--save", f"{folder}/f.npz"]) == 130
    assert not (folder / "f.npz").exists()
    assert capsys.readouterr().err == ""


def test_the_number_of_the_signal_is_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2, 15):

        def struck(_: object, number: int = number) -> int:
            raise Interrupted(number)

        monkeypatch.setattr(cli, "_run", struck)
        assert cli.main(["networks"]) == 128 + number


def test_a_command_is_one_line_for_a_shell() -> None:
    words = ["train", "a b", "--save", "it's\n\u00e9", "--", "x"]
    line = command(words, ("--resume=$x",))
    assert line.isprintable()
    shown = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True
    )
    given = ["merp", *words[:-2], "--resume=$x", *words[-2:]]
    assert shown.stdout.decode().split("\0")[:-1] == given
    assert command([*words[:-2], "--resume"], ("--resume",)).count("--resume") == 1


def test_the_last_note_gets_the_command() -> None:
    words = ["sweep", "n"]
    with pytest.raises(KeyboardInterrupt) as told, resumable(words), noted(lambda: "2 are saved"):
        raise KeyboardInterrupt
    assert told.value.__notes__ == ["2 are saved; go on with: merp sweep n"]
    with pytest.raises(KeyboardInterrupt) as told, resumable(words), noted(lambda: ""):
        raise KeyboardInterrupt
    assert not getattr(told.value, "__notes__", [])
