"""``merp train --board``: steps in the passes of a plan, to the golden's very file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import merp
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.passes import delta_tiles, forward_tiles, update_tiles
from merp.cosim.machines.cnn_merp.passes.cut import in_order
from merp.cosim.machines.training.hardware_step import HardwareStep
from merp.tools.cli import main
from network_text import layer, max_pool, network_text
from terminal import Terminal
from tiny_board import BOARD

NETWORK = network_text(
    "small",
    (3, 3, 4),
    layer("conv1", 66, kernel=2, groups=2, pool=max_pool(2, 2), design="k2"),
    layer("conv2", 3, kernel=2, pad=1, design="k2"),
    layer("fc3", 4, relu=False),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1, "mul_latency": 1, "add_latency": 2}},
    format="bfloat16",
)

STEPS = 2


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network, data, and a board whose FPGA holds none of the convolutions at once."""
    folder = tmp_path_factory.mktemp("board")
    (folder / "small.toml").write_text(NETWORK)
    (folder / "mine.toml").write_text(BOARD)
    rng = np.random.default_rng(5)
    images, labels = rng.uniform(-1, 1, (10, 3, 3, 4)), rng.integers(0, 4, 10)
    np.savez(folder / "data.npz", images=images, labels=labels)
    return folder


@pytest.fixture(scope="module")
def words(place: Path) -> list[str]:
    """A command that trains a few steps on the board."""
    found = ["train", str(place / "small.toml"), "--data", str(place / "data.npz")]
    found += ["--board", str(place / "mine.toml"), "--batch", "2", "--steps", str(STEPS)]
    return [*found, "--weight-decay", "0.05"]


def saved_by(words: list[str], path: Path, *more: str) -> bytes:
    """What a command saves."""
    assert main([*words, *more, "--save", str(path)]) == 0
    return path.read_bytes()


@pytest.fixture(scope="module")
def golden(words: list[str], place: Path) -> bytes:
    """What the golden engine saves on the board."""
    return saved_by(words, place / "golden.npz")


@pytest.fixture(scope="module")
def done(words: list[str], place: Path, golden: bytes) -> Any:
    """What a run in MyHDL answers, which saved the same."""
    out = place / "out"
    found = saved_by(words, place / "myhdl.npz", "--engine", "myhdl", "-o", str(out))
    assert found == golden
    return json.loads((out / "train.json").read_text())


def test_every_port_of_every_layer_moved_the_bytes_of_the_plan(
    done: Any, words: list[str], terminal: Terminal
) -> None:
    assert (done["board"], done["for"], done["apart"], done["steps"]) == (
        "mine", "bytes", False, STEPS,
    )  # fmt: skip
    cut = {
        (run["layer"], run["phase"]): (run["input_parts"], run["output_parts"])
        for run in done["runs"]
    }
    assert cut["conv1", "fp"][1] > 1
    assert cut["conv2", "fp"][0] > 1
    assert cut["conv2", "dp"][1] > 1
    assert cut["conv2", "ku"][0] > 1
    assert len(cut) == 8
    network, board = words[1], words[5]
    rows = terminal.answer("plan", network, "--board", board, "--batch", "2")["layers"]
    for run, row in zip(done["runs"], rows, strict=True):
        assert (run["layer"], run["phase"], run["passes"]) == (
            row["name"], row["phase"], row["passes"],
        )  # fmt: skip
        assert all(
            each["pins"] == each["plan"] and each["measured"] for each in run["bytes"].values()
        )
        moved = {port: each["pins"] for port, each in run["bytes"].items()}
        assert {port: moved[port] for port in row["ports"]} == row["ports"]
        beside = sorted(moved.keys() - row["ports"].keys())
        assert beside == ([] if run["phase"] != "ku" else [
            "bias_velocity_in", "bias_velocity_out", "kernel_velocity_in", "kernel_velocity_out",
        ])  # fmt: skip
    counted = done["bytes"]
    assert counted["measured"]["full"] == counted["plan"]
    for phase in ("fp", "dp", "ku"):
        planned = sum(sum(row["ports"].values()) for row in rows if row["phase"] == phase)
        assert counted["plan"][phase] == planned
    assert counted["plan"]["momentum"] == counted["full"]["momentum"] > 0


def test_the_golden_engine_answers_the_plan_and_has_measured_nothing(
    done: Any, words: list[str], terminal: Terminal
) -> None:
    found = terminal.answer(*words)
    assert found["bytes"] == done["bytes"] | {"measured": None}
    for run, other in zip(found["runs"], done["runs"], strict=True):
        for port, each in run["bytes"].items():
            assert each == {"plan": other["bytes"][port]["plan"], "pins": None, "measured": False}
    assert (found["loss"], found["accuracy"]) == (done["loss"], done["accuracy"])


def test_the_golden_of_the_same_sums_without_a_board_saves_the_same(
    words: list[str], place: Path, golden: bytes, tmp_path: Path
) -> None:
    """The fully connected layer is folded onto the convolutions' design, as the plan does it."""
    (tmp_path / "small.toml").write_text(
        NETWORK.replace("relu = false\n", 'relu = false\ndesign = "k2"\n')
    )
    whole = without_board([words[0], str(tmp_path / "small.toml"), *words[2:]])
    saved = tmp_path / "f.npz"
    assert saved_by(whole, saved) == golden
    assert saved_by(words, saved, "--apart") == golden
    saved_by(whole, saved, "--steps", "1")
    assert saved_by(words, saved, "--resume", str(saved)) == golden


def without_board(words: list[str]) -> list[str]:
    at = words.index("--board")
    return [*words[:at], *words[at + 2 :]]


def test_a_training_of_other_sums_is_not_gone_on_with(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], terminal: Terminal
) -> None:
    """Without a board the fully connected layer is not folded."""
    saved = tmp_path / "f.npz"
    before = saved_by(without_board(words), saved, "--steps", "1")
    capsys.readouterr()
    line = terminal.refusal(*words, "--resume", saved, "--save", saved)
    assert line.startswith(
        f"merp: {saved}: saved with another small, other sums, storage or data: "
    )
    assert saved.read_bytes() == before


@pytest.mark.verilator
@pytest.mark.full
def test_verilog_in_passes_saves_the_same(words: list[str], golden: bytes, tmp_path: Path) -> None:
    assert saved_by(words, tmp_path / "f.npz", "--engine", "verilator") == golden


@pytest.mark.ghdl
@pytest.mark.full
def test_vhdl_in_passes_saves_the_same(words: list[str], golden: bytes, tmp_path: Path) -> None:
    assert saved_by(words, tmp_path / "f.npz", "--engine", "ghdl") == golden


@pytest.mark.full
def test_several_elements_a_beat_save_the_same(words: list[str], tmp_path: Path) -> None:
    """Also in the update of the layer that is folded."""
    (tmp_path / "small.toml").write_text(NETWORK.replace("r = 1\n", "r = 1\nkernel_port = 2\n"))
    verb, _, *rest = words
    command = [verb, str(tmp_path / "small.toml"), *rest]
    golden = saved_by(command, tmp_path / "golden.npz")
    assert saved_by(command, tmp_path / "myhdl.npz", "--engine", "myhdl") == golden


def test_an_interrupted_run_goes_on_to_the_same_file(
    words: list[str],
    golden: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    step, calls, part = HardwareStep.step, [], tmp_path / "part.npz"
    more = ["--engine", "myhdl", "--save", str(part)]

    def interrupted(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return step(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(HardwareStep, "step", interrupted)
        assert main([*words, *more]) == 130
    at = words.index("--batch")  # the file says its own
    assert main([*words[:at], *words[at + 2 :], *more, "--resume", str(part)]) == 0
    assert part.read_bytes() == golden


def test_the_library_trains_the_same(place: Path, golden: bytes) -> None:
    network = merp.load(place / "small.toml")
    options: dict[str, Any] = {"batch": 2, "steps": 1, "momentum": 0, "weight_decay": 0.05}
    board = place / "mine.toml"
    found = network.train(place / "data.npz", board=board, engine="myhdl", **options)
    plain = network.train(place / "data.npz", board=board, goal="time", **options)
    for name, pair in found.words.items():
        for ours, theirs in zip(pair, plain.words[name], strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert found.json()["bytes"]["plan"]["momentum"] == 0
    assert found.json()["bytes"]["measured"]["full"] == found.json()["bytes"]["plan"]


def of_stream(stream: str, change: Callable[[Any], Any], call: int) -> Callable[..., Any]:
    """What a host takes from a stream, changed in one of its readings.

    Of partial sums the first four are those of conv1, which has no second part of its inputs.
    """
    calls = []

    def array(self: RunRecord, name: str, size: tuple[int, ...]) -> Any:
        found = REAL(self, name, size)
        calls.append(name == stream)
        return change(found) if name == stream and sum(calls) == call else found

    return array


REAL = RunRecord.array

HOST = {
    "a wrong partial sum": (
        of_stream("m_axis_partial", lambda words: words ^ 1, 5),
        "conv2 fp group 0 outputs 0 inputs 1: partial_out: ",
    ),
    "the partial sums of another part": (
        of_stream("m_axis_partial", lambda words: words[..., ::-1], 5),
        "conv2 fp group 0 outputs 0 inputs 1: partial_out: ",
    ),
    "a velocity that is lost": (
        of_stream("m_axis_kernel_velocity", np.zeros_like, 2),
        "conv1 ku group 0 outputs 1: kernel_velocities: different from the layer in one piece",
    ),
    "kernels that are lost": (
        of_stream("m_axis_kernel", np.zeros_like, 1),
        "conv1 ku group 0 outputs 0: kernels: different from the layer in one piece",
    ),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("what", HOST)
def test_a_part_that_is_not_what_came_out_is_noticed(
    what: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    array, said = HOST[what]
    monkeypatch.setattr(RunRecord, "array", array)
    saved = tmp_path / "f.npz"
    line = terminal.refusal(*words, "--steps", "1", "--engine", "myhdl", "--save", saved, status=1)
    assert line.startswith(f"merp: {said}")
    assert not saved.exists()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("module", "said"),
    [
        (forward_tiles, "conv2 fp group 0 outputs 0: maps: different from the layer in one piece"),
        (delta_tiles, "conv1 ku group 0 outputs 0: kernels: different from the layer in one piece"),
        (
            update_tiles,
            "conv2 ku group 0 outputs 0: kernels: different from the layer in one piece",
        ),
    ],
)
def test_parts_that_change_places_are_noticed(
    module: Any, said: str, words: list[str], monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    monkeypatch.setattr(
        module, "in_order", lambda parts, arrays, axis=-1: in_order(parts, arrays[::-1], axis)
    )
    assert terminal.refusal(*words, "--engine", "myhdl", status=1).startswith(f"merp: {said}")


@pytest.mark.full
def test_groups_that_change_places_are_noticed(
    words: list[str], monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    """Each part is right, and only the layer that they make is not."""
    real = update_tiles.UpdateTiles.joined

    def joined(self: Any, rows: Any) -> Any:
        found = real(self, rows)
        return found | {"kernel_velocities": found["kernel_velocities"][::-1]}

    monkeypatch.setattr(update_tiles.UpdateTiles, "joined", joined)
    line = terminal.refusal(*words, "--engine", "myhdl", status=1)
    assert line.startswith("merp: conv1 velocities of kernels: different from the golden step")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--board", "kc75"], "no board 'kc75': allowed are arty-a7-100, "),
        (["--state-bits", "1"], "--state-bits 1: --board runs the hardware: allowed: pooled"),
        (["--batch", "9"], "--batch 9: allowed are 1 to 8, the images to train with"),
    ],
)
def test_bad_input_is_one_line(
    more: list[str], said: str, words: list[str], terminal: Terminal
) -> None:
    assert said in terminal.refusal(*words, *more)


@pytest.mark.parametrize("more", [["--for", "time"], ["--apart"]])
def test_what_only_a_plan_has_is_refused_without_a_board(
    more: list[str], words: list[str], terminal: Terminal
) -> None:
    line = terminal.refusal(*without_board(words), *more)
    assert line == f"merp: {' '.join(more)}: allowed with --board"
