"""``merp train --architecture pipeline``: the golden's file, at any depth, and what is refused."""

from pathlib import Path

import numpy as np
import pipelines
import pytest

from marks import in_full
from needed_tools import needs
from terminal import Terminal

PIPELINE = ("--architecture", "pipeline", "--engine", "myhdl")


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """``merp train`` on ten images, of which eight are for training."""
    folder = tmp_path_factory.mktemp("pipeline")
    network, data = folder / "small.toml", folder / "data.npz"
    network.write_text(pipelines.SMALL)
    rng = np.random.default_rng(0)
    np.savez(data, images=rng.uniform(-1, 1, (10, 8, 4)), labels=rng.integers(0, 2, 10))
    return ["train", network, "--data", data]


@pytest.mark.parametrize("batch", [2, *in_full(1)])
def test_the_file_is_the_goldens_and_the_answer_has_every_engine(
    command: list[object], terminal: Terminal, batch: int, tmp_path: Path
) -> None:
    golden, ours = tmp_path / "golden.npz", tmp_path / "ours.npz"
    steps = ("--batch", batch, "--steps", 2)
    wanted = terminal.answer(*command, *steps, "--save", golden)
    found = terminal.answer(*command, *steps, *PIPELINE, "--save", ours)
    assert ours.read_bytes() == golden.read_bytes()
    assert found["loss"] == wanted["loss"]
    pipeline = found["pipeline"]
    assert (pipeline["depth"], pipeline["in_flight"]) == (4, batch)
    assert found["cycles"]["step"] == {"total": pipeline["cycles"], "kernel_load": 0}
    assert [f"{each['layer']} {each['phase']}" for each in pipeline["engines"]] == [
        "conv1 fp", "conv1 ku", "fc2 fp", "fc2 dp", "fc2 ku",
    ]  # fmt: skip
    assert all(each["total"] < pipeline["cycles"] for each in pipeline["engines"])
    kernels = 4 * 9 + 2 * 32
    maps, scores, both = 32 * batch, 2 * batch, kernels + 6
    assert found["bytes"]["measured"]["full"] == {
        "fp": 4 * (maps + scores + both), "dp": 0, "ku": 4 * (scores + 2 * both),
        "step": 4 * (maps + 2 * scores + 3 * both), "momentum": 4 * 4 * both // 2,
    }  # fmt: skip


def test_people_see_the_engines_side_by_side(command: list[object], terminal: Terminal) -> None:
    words = [*command, *PIPELINE, "--batch", 2, "--steps", 1, "--depth", 1, "--momentum", 0]
    said = terminal.prose(*words)
    assert "Engines, cycles of one step" in said
    assert "At most 1 of 1 allowed images were in flight" in said


def test_what_no_pipeline_has_is_refused_in_one_line(
    command: list[object], terminal: Terminal, tmp_path: Path
) -> None:
    for more, told in (
        (("--depth", 2), "--depth 2: allowed with --architecture pipeline"),
        (
            ("--architecture", "pipeline", "--engine", "golden"),
            "--engine golden runs no hardware: allowed are myhdl",
        ),
        (("--architecture", "pipeline", "--board", "kc705"), "--architecture pipeline: runs no"),
        ((*PIPELINE, "--depth", 0), "--depth: must be a whole number from 1 to 256, not '0'"),
        ((*PIPELINE, "--board", "kc705"), "allowed without --board"),
        ((*PIPELINE, "--backward", "combined"), "layer conv1: the network goes back in one pass"),
        (("--architecture", "pipelin"), "did you mean pipeline?"),
    ):
        assert told in terminal.refusal(*command, "--batch", 2, *more), told
    for change, told in (
        (("relu = false\n", ""), "layer fc2: it is the last and has ReLU or pooling"),
        (("r = 1\n\n[design.full]", "r = 1\nmap_port = 2\n\n[design.full]"), "map_port is 2"),
    ):
        path = tmp_path / "other.toml"
        path.write_text(pipelines.SMALL.replace(*change))
        asked = ("train", path, *command[2:], "--batch", 2, *PIPELINE)
        assert told in terminal.refusal(*asked), told


@pytest.mark.full
@pytest.mark.verilator
@needs("scikit-learn")
@pytest.mark.parametrize("depth", [1, 4])
def test_a_hundred_digits_one_at_a_time(depth: int, terminal: Terminal, tmp_path: Path) -> None:
    golden, ours = tmp_path / "golden.npz", tmp_path / "ours.npz"
    words = ["train", "digits", "--data", "digits", "--batch", 1, "--steps", 100]
    terminal.answer(*words, "--save", golden)
    hardware = ("--architecture", "pipeline", "--engine", "verilator", "--depth", depth)
    terminal.answer(*words, *hardware, "--save", ours)
    assert ours.read_bytes() == golden.read_bytes()
