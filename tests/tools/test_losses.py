"""``merp losses``: what training runs left, in one picture."""

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from merp.tools import cli
from merp.tools.train.loss_chart import epoch_means
from terminal import Terminal

FUSED = 'base = "digits"\n[network]\nname = "fused"\n[design.k3]\ncu_kind = "fused"\n'
STEPS = 46  # an epoch of 44 and two more


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few steps of the digits with trees and with fused units."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "fused.toml").write_text(FUSED)
    for name, network in (("tree", "digits"), ("fused", str(folder / "fused.toml"))):
        words = ["train", network, "--data", "digits", "--steps", str(STEPS)]
        assert cli.main([*words, "-o", str(folder / name), "--json"]) == 0
    return folder


def curves(picture: Path) -> list[int]:
    """Points of each line of losses that an SVG draws."""
    namespace = "{http://www.w3.org/2000/svg}"
    axes = next(x for x in ElementTree.parse(picture).iter() if x.get("id") == "axes_1")
    lines = [x for x in axes if x.get("id", "").startswith("line2d_")]
    return [len(re.findall("[ML]", line.find(f"{namespace}path").get("d"))) for line in lines]


def test_runs_stand_in_one_picture(capsys, runs: Path, tmp_path: Path, terminal: Terminal) -> None:
    picture = tmp_path / "losses.svg"
    words = ["losses", str(runs / "tree"), str(runs / "fused"), "-o", str(picture)]
    found = terminal.answer(*words)
    assert found["picture"] == str(picture)
    for each, name in zip(found["runs"], ("tree", "fused"), strict=True):
        answer = json.loads((runs / name / "train.json").read_text())
        assert each["run"] == name
        assert {key: each[key] for key in ("network", "steps", "batch", "seed", "accuracy")} == {
            key: answer[key] for key in ("network", "steps", "batch", "seed", "accuracy")
        }
        assert each["last_epoch_loss"] == pytest.approx(sum(answer["loss"][44:]) / 2)
    assert found["runs"][0]["last_epoch_loss"] != found["runs"][1]["last_epoch_loss"]
    assert curves(picture) == [2, STEPS, 2, STEPS]  # of each run its epochs, and its steps
    drawn = picture.read_bytes()
    assert b">tree</text>" in drawn
    assert b">fused</text>" in drawn
    assert cli.main(words) == 0
    assert picture.read_bytes() == drawn
    out = capsys.readouterr().out
    assert "fused" in out
    assert f"{found['runs'][1]['accuracy']:.2%}" in out


def test_epochs_have_their_means() -> None:
    answer = {"loss": [4.0, 2.0, 1.0, 1.0, 7.0], "batch": 3, "images": {"trained": 8}}
    assert epoch_means(answer) == ([1, 3, 4.5], [3, 1, 7])


def test_folders_of_the_same_name_are_told_apart(
    terminal: Terminal, runs: Path, tmp_path: Path
) -> None:
    shutil.copytree(runs / "tree", tmp_path / "tree")
    words = [str(runs / "tree"), str(tmp_path / "tree")]
    assert [
        each["run"] for each in terminal.answer("losses", *words, "-o", tmp_path / "x.png")["runs"]
    ] == words
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_no_run_is_refused(terminal: Terminal, runs: Path, tmp_path: Path) -> None:
    line = terminal.refusal("losses", runs / "tree", "-o", "x.pdf")
    assert "-o x.pdf: must end in .png or .svg" in line
    beside = terminal.refusal("losses", runs / "tree", "-o", runs / "tree" / "train.json" / "x.svg")
    assert "train.json is no folder" in beside
    assert "train.json: cannot be read: No such file" in terminal.refusal("losses", tmp_path)
    (tmp_path / "train.json").write_text("{")
    assert "train.json: not JSON" in terminal.refusal("losses", tmp_path)
    (tmp_path / "train.json").write_text('{"network": "x"}')
    assert "train.json: engine is missing: allowed is a file" in terminal.refusal(
        "losses", tmp_path
    )


@pytest.mark.parametrize("name", ["a\ud800", "a\0b"])
def test_a_run_whose_name_no_file_can_have_is_told(
    terminal: Terminal, tmp_path: Path, name: str
) -> None:
    said = terminal.refusal("losses", name, "-o", tmp_path / "x.svg")
    assert said.endswith("train.json: cannot be read: no such name is allowed")


WRITTEN = {
    "network": "tiny", "engine": "golden", "steps": 2, "batch": 4, "seed": 0, "loss": [1.0, 0.5],
    "accuracy": 0.5, "images": {"trained": 8, "held_out": 2},
}  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("loss", "x"), ("loss", [None]), ("loss", [10**400]), ("loss", 1), ("batch", 0),
        ("batch", True), ("steps", []), ("seed", "x"), ("accuracy", []), ("images", []),
        ("images", {"trained": "x"}), ("images", {}), ("network", 3), ("network", "a\nb"),
        ("batch", 9),
    ],
)  # fmt: skip
def test_an_answer_of_other_types_is_refused(
    terminal: Terminal, tmp_path: Path, key: str, value
) -> None:
    (tmp_path / "train.json").write_text(json.dumps(WRITTEN | {key: value}))
    assert f"train.json: {key} = " in terminal.refusal("losses", tmp_path)


def test_an_answer_nested_too_deep_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "train.json").write_text(100_000 * "[")
    assert "train.json: not JSON: nested too deep" in terminal.refusal("losses", tmp_path)
