"""``merp explore --architecture pipeline``: from a point to a package whose bench passes."""

import json
from pathlib import Path
from typing import Any

import pytest

from merp.models.machines.cnn_merp.designs import design_of
from merp.models.network.network_file import read_network
from merp.tools.cli import main
from merp.tools.common.data import DATA
from packages import bench, built, manifest_of
from terminal import Terminal

SMALL = """
base = "mnist-8-8"
[network]
name = "mine"
input = { rows = 8, columns = 8, channels = 1 }
"""
MAZOUZ = ("--architecture", "pipeline")
BOARD = ("--board", "zc7100", "--scope", "all")
MIDDLE = 12


def explored(folder: Path, *more: str) -> Path:
    (folder / "mine.toml").write_text(SMALL)
    found = folder / "found"
    words = ["explore", str(folder / "mine.toml"), *BOARD, *MAZOUZ, "-o", str(found), *more]
    assert main(words) == 0
    return found


def read(found: Path) -> Any:
    return json.loads((found / "front.json").read_text())


def test_a_point_s_file_has_its_elements_as_units(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = explored(tmp_path, "--point", str(MIDDLE), "--details")
    out, front = capsys.readouterr().out, read(found)
    assert set(front["chosen"]) == {"knee", "least-cycles", "least-lut", f"point-{MIDDLE}"}
    for name, place in front["chosen"].items():
        choices = front["points"][place]["choices"]
        units = {layer: keys["elements"] for layer, keys in choices.items()} | {"fc": 10}
        network = read_network(found / f"{name}.toml", DATA)
        assert {layer.name: design_of(network, layer).n_cu for layer in network.layers} == units
        engines = front["engines"][name]
        before = {"conv2": units["conv1"], "fc": units["conv2"]}
        assert engines["at_once"] == {layer: maps for layer, maps in before.items() if maps > 1}
        said = f"as engines {engines['cycles']:,} cycles of a sample by their model"
        assert said in out
        assert said in (found / f"{name}.toml").read_text()
    asked = f"--architecture pipeline --point {MIDDLE} --objectives cycles,lut"
    assert asked in (found / f"point-{MIDDLE}.toml").read_text()
    assert front["costs"]["cycles"].endswith("by the paper's equations")


def test_a_network_that_hardware_has_no_place_for_has_its_front(
    tmp_path: Path, terminal: Terminal
) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(f"{SMALL}[layer.conv2]\ngroups = 2\n")
    words = ["explore", str(mine), *BOARD, *MAZOUZ, "-o", str(tmp_path / "found")]
    assert "no network files: mine: layer conv2: it has 2 groups:" in terminal.output(*words)
    names = {path.name for path in (tmp_path / "found").glob("*.*")}
    assert names == {"front.csv", "front.json"}
    assert "2 groups" in read(tmp_path / "found")["no_engines"]


def test_no_pipeline_and_no_point(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], terminal: Terminal
) -> None:
    words = ["explore", "lenet5", "--board", "nexys-video", "--scope", "all", *MAZOUZ]
    assert "no pipeline fits: the smallest takes" in terminal.refusal(*words)
    folder = tmp_path / "found"
    assert main(["explore", "mnist-8-8", *BOARD, *MAZOUZ, "--point", "99", "-o", str(folder)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "--point 99: allowed are 0 to" in err
    assert not folder.exists()


def test_limits_leave_the_front_of_what_is_within(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], terminal: Terminal
) -> None:
    every = read(explored(tmp_path))["points"]
    found = read(explored(tmp_path, "--limit", "lut=20e3", "--limit", "cycles=7000"))
    inside = [each for each in every if each["lut"] <= 20e3 and each["cycles"] <= 7000]
    assert 0 < len(inside) < len(every)
    assert [each["choices"] for each in found["points"]] == [each["choices"] for each in inside]
    assert found["limits"] == {"lut": 20e3, "cycles": 7000}
    assert " --limit lut=20000 --limit cycles=7000 " in (tmp_path / "found/knee.toml").read_text()
    for asked, said in (
        ("dsp=9", "--limit 'dsp': allowed are the objectives, cycles, lut"),
        ("lut=-1", "--limit 'lut=-1': must be KEY=VALUE, VALUE a number above 0"),
        ("lut", "--limit 'lut': must be KEY=VALUE"),
        (
            "lut=100",
            "--limit lut=100: no design is within the limits: the least of each is lut 8,600",
        ),
    ):
        capsys.readouterr()
        words = ["explore", str(tmp_path / "mine.toml"), *BOARD, *MAZOUZ, "--limit", asked]
        assert said in terminal.refusal(*words)


@pytest.mark.full
@pytest.mark.ghdl
def test_smallest_knee_and_a_point_between_pass_their_bench(tmp_path: Path) -> None:
    found = explored(tmp_path, "--point", str(MIDDLE))
    places = read(found)["chosen"]
    assert places["knee"] < MIDDLE < places["least-lut"]
    scores, kernels, biases = 10, 72 + 576 + 320, 8 + 8 + 10
    for name in ("least-lut", f"point-{MIDDLE}", "knee"):
        folder = tmp_path / name
        words = ["export", str(found / f"{name}.toml"), *MAZOUZ, "-o", str(folder)]
        assert main(words) == 0
        package = built(folder / "mine-pipeline")
        assert manifest_of(package)["vectors"]["small"]["words_compared"] == (
            scores + kernels + biases
        )
        status, lines = bench(package)
        assert (status, lines[-1]) == (0, "PASS"), lines


def test_pricing_every_design_finds_the_exact_front(terminal: Terminal) -> None:
    answers = []
    for method in ("exact", "enumerate"):
        answers.append(terminal.answer("explore", "mnist-8-8", *BOARD, *MAZOUZ, "--method", method))
    exact, every = answers
    assert every.pop("method") == "enumerate"
    assert exact.pop("method") == "exact"
    assert every == exact
    assert terminal.refusal("explore", "vgg16", *BOARD, *MAZOUZ, "--method", "enumerate").endswith(
        "251,286,016 designs: enumerate prices at most 100,000,000"
    )
