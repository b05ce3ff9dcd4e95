"""``merp predict`` and ``merp evaluate``: the bits of training, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from marks import engines, in_full
from merp.cosim.phases.audit import run_and_audit
from merp.cosim.phases.audit.audit import Audit, audit
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.golden.training import forward
from merp.models.machines.mac_array.fixed_training import run_forward
from merp.tools.common.shipped import open_network
from merp.tools.train import checkpoint
from merp.tools.train.arithmetic import arithmetic_of
from network_text import layer, max_pool, network_text
from small_arrays import small_array
from terminal import Terminal

FLOAT = network_text(
    "small",
    (4, 4, 1),
    layer("conv1", 2, kernel=3, pad=1, pool=max_pool(2, 2), design="k3"),
    layer("fc2", 3, relu=False, design="k3"),
    designs={"k3": {"k": 3, "n_cu": 2}},
)
FIXED = small_array("small", 4, 1, 4)
NETWORKS = {"float": FLOAT, "fixed": FIXED}


class Trained:
    """A network with its data and its trained weights in a folder."""

    def __init__(self, folder: Path, text: str, terminal: Terminal) -> None:
        self.network, self.weights = folder / "small.toml", folder / "model.npz"
        self.data, self.input = folder / "data.npz", folder / "x.npy"
        rng = np.random.default_rng(0)
        self.labels = rng.integers(0, 3, 20)
        self.images = rng.uniform(0, 0.5, (20, 4, 4))
        self.images[np.arange(20), self.labels] += 0.5
        self.network.write_text(text)
        np.savez(self.data, images=self.images, labels=self.labels)
        np.save(self.input, self.images[:5])
        words = ("train", self.network, "--data", self.data, "--batch", 4, "--steps", 6)
        self.answer = terminal.answer(*words, "--save", self.weights)

    def words(self, verb: str, *more: object) -> tuple[object, ...]:
        return (verb, self.network, "--weights", self.weights, *more)


@pytest.fixture
def small(tmp_path: Path, terminal: Terminal) -> Trained:
    return Trained(tmp_path, FLOAT, terminal)


def outputs_of_training(small: Trained) -> np.ndarray:
    """The outputs that the forward propagation of a training step makes of the input."""
    network = open_network(str(small.network))
    made = checkpoint.resume(small.weights, network).model.parameters
    images = np.load(small.input)[..., np.newaxis]
    words = arithmetic_of(network).image_words("x", images)
    if network.name == "small" and small.network.read_text() == FLOAT:
        _, found = forward(network, words, made)
        return to_values(found, network.fmt).reshape(5, -1)
    maps = run_forward(network, words, made)[-1].found.maps
    fraction = network.fixed.of("fc2").map
    return maps.reshape(5, -1).astype(np.float64) / 2.0**fraction


@pytest.mark.parametrize("engine", ["golden", "myhdl", *in_full("system"), *engines("ghdl")])
@pytest.mark.parametrize("numbers", NETWORKS)
def test_outputs_are_the_bits_of_training(
    numbers: str, engine: str, tmp_path: Path, terminal: Terminal
) -> None:
    small, out = Trained(tmp_path, NETWORKS[numbers], terminal), tmp_path / "out.npz"
    words = small.words("predict", "--input", small.input, "--engine", engine, "-o", out)
    answer = terminal.answer(*words)
    wanted = outputs_of_training(small)
    with np.load(out) as found:
        assert found["outputs"].tobytes() == wanted.tobytes()
        assert found["classes"].tolist() == wanted.argmax(axis=1).tolist()
    assert (answer["cycles"] is None) == (engine == "golden")
    for image, row in enumerate(answer["predictions"]):
        assert [each["class"] for each in row["top"]] == np.argsort(-wanted[image]).tolist()
        assert [each["output"] for each in row["top"]] == sorted(wanted[image], reverse=True)


@pytest.mark.parametrize("numbers", NETWORKS)
def test_a_wrong_bit_of_the_hardware_is_no_prediction(
    numbers: str, tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*words: Any) -> Audit:
        return replace(audit(*words), failures=("map_out: word 0 differs",))

    small, out = Trained(tmp_path, NETWORKS[numbers], terminal), tmp_path / "out.npz"
    monkeypatch.setattr(run_and_audit, "audit", wrong)
    words = small.words("predict", "--input", small.input, "--engine", "myhdl", "-o", out)
    told = terminal.refusal(*words, status=1)
    assert told.startswith("merp: conv1 fp: map_out: word 0 differs")
    assert not out.exists()


@pytest.mark.verilator
@pytest.mark.parametrize("numbers", in_full(*NETWORKS))
def test_outputs_are_the_bits_of_training_in_verilator(
    numbers: str, tmp_path: Path, terminal: Terminal
) -> None:
    test_outputs_are_the_bits_of_training(numbers, "verilator", tmp_path, terminal)


def test_the_accuracy_is_that_of_training(small: Trained, terminal: Terminal) -> None:
    found = terminal.answer(*small.words("evaluate", "--data", small.data, "--held-out"))
    assert found["images"] == small.answer["images"]["held_out"] == 4
    assert found["accuracy"] == small.answer["accuracy"]
    assert np.trace(found["confusion"]) == found["accuracy"] * 4
    whole = terminal.answer(*small.words("evaluate", "--data", small.data))
    confusion = np.array(whole["confusion"])
    assert confusion.sum(axis=1).tolist() == np.bincount(small.labels, minlength=3).tolist()
    assert whole["accuracy"] == np.trace(confusion) / 20
    for row in whole["classes"]:
        assert row["right"] == confusion[row["class"], row["class"]]


@pytest.mark.parametrize("kind", ["cross-entropy", "hinge"])
def test_the_loss_is_that_of_the_next_step(kind: str, small: Trained, terminal: Terminal) -> None:
    rest = np.delete(np.arange(20), np.random.default_rng(0).permutation(20)[:4])
    np.savez(small.data, images=small.images[rest], labels=small.labels[rest])
    words = ("--data", small.data, "--loss", kind)
    whole = ("--batch", 16, "--steps", 1, "--validation", small.data)
    loss = terminal.answer(*small.words("train", *words, *whole))["loss"]
    found = terminal.answer(*small.words("evaluate", *words))
    assert found["loss"] == {"kind": kind, "mean": pytest.approx(loss[0], rel=1e-12)}


def test_screens_fit_and_name_the_classes(small: Trained, terminal: Terminal) -> None:
    names = small.network.parent / "names.txt"
    names.write_text("cat\ndog\nfrog [red]\n")
    one = small.network.parent / "one.npy"
    np.save(one, small.images[0])
    named = ("--labels", names)
    for given, more in ((one, ()), (small.input, ()), (small.data, ("--details",))):
        out = terminal.output(*small.words("predict", "--input", given, *named, *more))
        assert "frog [red]" in out
        assert len(out.splitlines()) <= 25 + bool(more)
    out = terminal.output(*small.words("predict", "--input", small.data, "--top", 1))
    assert "6 more images: --details" in out
    assert len(out.splitlines()) <= 25
    out = terminal.output(*small.words("evaluate", "--data", small.data, *named))
    assert "2 frog [red]" in out


def test_many_classes_show_the_pairs_that_were_confused(tmp_path: Path, terminal: Terminal) -> None:
    network, weights = tmp_path / "net.toml", tmp_path / "w.npz"
    network.write_text(network_text("wide", (1, 1, 20), layer("fc1", 20, relu=False)))
    kernel = np.roll(np.eye(20), 1, axis=0)
    kernel[:10] = np.eye(20)[:10]
    np.savez(weights, **{"fc1.kernel": kernel.reshape(20, 20, 1, 1), "fc1.bias": np.zeros(20)})
    data = tmp_path / "data.npz"
    np.savez(data, images=np.eye(20).reshape(20, 1, 1, 20), labels=np.arange(20))
    words = ("evaluate", network, "--weights", weights, "--data", data)
    assert "Confused classes" in terminal.output(*words)
    assert "Confusion matrix" in terminal.output(*words, "--details")
    assert terminal.answer(*words)["classes"][12]["mistaken_for"] == 13


def test_a_picture_is_scaled_as_asked(tmp_path: Path, terminal: Terminal) -> None:
    network, weights = tmp_path / "net.toml", tmp_path / "w.npz"
    network.write_text(network_text("dots", (1, 1, 3), layer("fc1", 3, relu=False)))
    np.savez(weights, **{"fc1.kernel": np.eye(3).reshape(3, 3, 1, 1), "fc1.bias": np.zeros(3)})
    picture, out = tmp_path / "dot.png", tmp_path / "out.npy"
    Image.fromarray(np.array([[[0, 51, 255]]], np.uint8)).save(picture)
    words = ("predict", network, "--weights", weights, "--input", picture, "-o", out)
    for more, wanted in (
        ((), [0.0, 0.2, 1.0]),
        (("--mean", "0.5", "--std", "0.5"), [-1.0, -0.6, 1.0]),
        (("--mean=0,0.2,0.5", "--std=1,2,0.25"), [0.0, 0.0, 2.0]),
    ):
        terminal.answer(*words, *more)
        np.testing.assert_allclose(np.load(out)[0], wanted, atol=1e-7)
    for more, said in (
        (("--std", "0"), "--std (0.0,): allowed are numbers other than 0"),
        (("--mean", "1,2"), "--mean: 2 numbers: allowed are 1 or 3, one for each channel"),
    ):
        assert said in terminal.refusal(*words, *more)
    assert "must be one number, or one for each channel" in terminal.run(*words, "--mean", "x").err


def test_channels_may_come_first(small: Trained, terminal: Terminal) -> None:
    out, first = small.network.parent / "out.npy", small.network.parent / "first.npy"
    found = []
    np.save(first, small.images[:5, np.newaxis])
    for given in (small.input, first):
        ended = terminal.run(*small.words("predict", "--input", given, "-o", out, "--json"))
        assert ("channels come first" in ended.err, ended.status) == (given is first, 0)
        found.append(np.load(out).tobytes())
    assert found[0] == found[1]


def changed(small: Trained, **arrays: Any) -> Path:
    """A file of its kernels and biases with other arrays; None leaves one out."""
    path = small.network.parent / "other.npz"
    with np.load(small.weights) as kept:
        own = {key: kept[key] for key in kept.files if key.endswith((".kernel", ".bias"))}
    own |= {key.replace("_", "."): array for key, array in arrays.items()}
    np.savez(path, **{key: array for key, array in own.items() if array is not None})
    return path


def test_wrong_files_are_refused_in_one_line(small: Trained, terminal: Terminal) -> None:
    folder = small.network.parent
    files = {
        "nan.npy": np.full((1, 4, 4), np.nan), "wide.npy": np.zeros((2, 4, 5)),
 "text.npy": np.array(["x"]), "none.npy": np.zeros(0),
    }  # fmt: skip
    for name, array in files.items():
        np.save(folder / name, array)
    np.savez(folder / "other_keys.npz", a=np.zeros(1))
    (folder / "broken.npy").write_bytes(b"\x93NUMPY\x01\x00")
    (folder / "two.txt").write_text("a\nb\n")
    (folder / "latin.txt").write_bytes(b"\xff\xfe\xff")
    predict = small.words("predict", "--input")
    bad = np.zeros((2, 1, 3, 3))
    bad[1, 0, 2, 2] = np.nan
    for words, said in (
        ((*predict, folder / "nan.npy"), "nan.npy[0, 0, 0, 0] = nan: allowed are finite numbers"),
        ((*predict, folder / "wide.npy"), "size (4, 5): small takes (4, 4, 1)"),
        ((*predict, folder / "text.npy"), "text.npy: type <U1: allowed are numbers"),
        ((*predict, folder / "none.npy"), "size (0,): allowed is one image or more"),
        ((*predict, folder / "broken.npy"), "allowed is an .npy file of an array"),
        ((*predict, folder / "no.npy"), "no.npy: cannot be read: No such file"),
        ((*predict, folder / "two.txt"), "two.txt: not a readable image"),
        ((*predict, folder / "other_keys.npz"), "keys a: allowed is one of input, images, x, X"),
        ((*predict, small.input, "--labels", folder / "two.txt"), "2 names: small has 3 outputs"),
        ((*predict, small.input, "--labels", folder / "latin.txt"), "allowed is text in UTF-8"),
        ((*predict, small.input, "--mean", "1"), "--mean: allowed with a picture"),
        ((*predict, small.input, "-o", folder / "out.csv"), "must end in .npy or .npz"),
        (
            ("predict", small.network, "--input", small.input),
            "--weights: small has no weights: allowed is a file of merp train --save or merp",
        ),
        (small.words("evaluate", "--data", folder / "other_keys.npz"), "other_keys.npz: keys a:"),
    ):
        assert said in terminal.refusal(*words), words
    for arrays, said in (
        ({"fc2_bias": None}, "other.npz: fc2.bias is missing: allowed is a file of merp train"),
        ({"fc2_bias": np.zeros(4)}, "other.npz: fc2.bias: size (4,): allowed is (3,)"),
        ({"conv1_kernel": bad}, "conv1.kernel[1, 0, 2, 2] = nan: allowed are numbers"),
        ({"fc9_bias": np.zeros(3)}, "unknown key 'fc9.bias'"),
    ):
        path = changed(small, **arrays)
        assert said in terminal.refusal(
            "predict", small.network, "--weights", path, "--input", small.input
        )


def test_a_layer_without_a_design_runs_in_golden_only(tmp_path: Path, terminal: Terminal) -> None:
    text = FLOAT.replace('design = "k3"\n', "", 1).partition("[design.k3]")[0]
    small = Trained(tmp_path, text.replace('design = "k3"\n', ""), terminal)
    words = small.words("predict", "--input", small.input)
    assert terminal.answer(*words)["images"] == 5
    assert "conv1" in terminal.refusal(*words, "--engine", "myhdl")


def test_fixed_point_takes_the_nearest_weights(tmp_path: Path, terminal: Terminal) -> None:
    small, out = Trained(tmp_path, FIXED, terminal), tmp_path / "out.npy"
    words = ("--input", small.input, "-o", out)
    terminal.answer(*small.words("predict", *words))
    wanted = np.load(out)
    with np.load(small.weights) as kept:
        near = {"conv1_kernel": kept["conv1.kernel"] + np.float32(1e-6)}
    terminal.answer("predict", small.network, "--weights", changed(small, **near), *words)
    np.testing.assert_array_equal(np.load(out), wanted)
    far = changed(small, fc2_bias=np.array([0.0, 1e6, 0.0]))
    ended = terminal.run("predict", small.network, "--weights", far, *words)
    assert ended.status == 0
    assert "other.npz: 1 of 91 numbers are saturated: 1 of fc2.bias" in ended.err


def test_the_history_is_written_and_drawn(
    small: Trained, tmp_path: Path, terminal: Terminal
) -> None:
    run = tmp_path / "run"
    words = ("train", small.network, "--data", small.data, "--batch", 4, "--epochs", 3)
    found = terminal.answer(*words, "--learning-rate-decay", 0.5, "-o", run)
    history = json.loads((run / "history.json").read_text())
    assert [each["loss"] for each in history["steps"]] == found["loss"]
    assert [each["learning_rate"] for each in history["epochs"]] == [0.05, 0.025, 0.0125]
    assert history["epochs"][-1]["validation_accuracy"] == found["accuracy"]
    assert [each["steps"] for each in history["epochs"]] == [4, 4, 4]
    picture = tmp_path / "losses.svg"
    terminal.output("losses", run, "-o", picture)
    assert b"accuracy on images not trained on" in picture.read_bytes()
    (run / "history.json").write_text('{"epochs": [{"steps": 0}]}')
    assert "history.json: epochs: {'steps': 0}" in terminal.refusal("losses", run, "-o", picture)


def test_values_beyond_the_format_are_told_apart(tmp_path: Path, terminal: Terminal) -> None:
    """Outputs that are not finite are null in JSON, and the largest is the class."""
    network, weights = tmp_path / "net.toml", tmp_path / "w.npz"
    network.write_text(network_text("dots", (1, 1, 3), layer("fc1", 3, relu=False)))
    kernel = (np.eye(3) * 1e38).reshape(3, 3, 1, 1)
    np.savez(weights, **{"fc1.kernel": kernel, "fc1.bias": np.zeros(3)})
    np.save(tmp_path / "x.npy", np.array([[[[1.0, 1e30, 2.0]]]]))
    words = ("predict", network, "--weights", weights, "--input", tmp_path / "x.npy")
    (row,) = terminal.answer(*words)["predictions"]
    assert [each["class"] for each in row["top"]] == [1, 2, 0]
    assert (row["top"][0]["output"], row["top"][0]["softmax"]) == (None, None)
    assert to_bits(np.array([row["top"][1]["output"]]), open_network(str(network)).fmt)[0]
    assert "-" in terminal.output(*words)
