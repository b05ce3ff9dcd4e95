"""``merp train``: what it learns, saves, resumes and refuses."""

import json
import os
import resource
import sys
from pathlib import Path

import numpy as np
import pytest

from merp.models.base.errors import BadInput
from merp.models.golden import loss as golden_loss
from merp.models.golden import training
from merp.tools.common.output import Output
from merp.tools.common.shipped import open_network
from merp.tools.train import checkpoint
from merp.tools.train.data import batch_of, split
from merp.tools.train.datasets.digits import digits
from merp.tools.train.names import LOSSES
from needed_tools import needs
from small_training import SmallTraining
from terminal import Terminal


@pytest.fixture
def train(terminal: Terminal, tmp_path: Path) -> SmallTraining:
    return SmallTraining(terminal, tmp_path)


@pytest.fixture
def folder(train: SmallTraining) -> Path:
    return train.folder


def test_answer_has_the_keys_of_the_contract(train: SmallTraining, folder: Path) -> None:
    found = train.answer("--epochs", "5", "-o", folder / "out" / "run")
    contract = {"network", "engine", "steps", "loss", "accuracy", "bytes", "cycles"}
    assert contract <= set(found)
    assert (found["network"], found["engine"], found["steps"]) == ("small", "golden", 5 * 4)
    assert len(found["loss"]) == 20
    assert np.mean(found["loss"][-4:]) < 0.5 * np.mean(found["loss"][:4])
    assert 0 <= found["accuracy"] <= 1
    assert found["images"] == {"trained": 16, "held_out": 4}
    assert found["cycles"] == {"fp": None, "dp": None, "ku": None, "step": None}
    for count, more in (("paper", 0), ("full", 1)):
        counts = found["bytes"][count]
        assert counts["fp"] + counts["dp"] + counts["ku"] == counts["step"]
        assert len(counts) == 4 + more
    traffic = open_network(str(folder / "small.toml"))
    assert found["bytes"]["paper"]["fp"] == 4 * 4 * sum(
        layer.inputs + layer.outputs for layer in traffic.layers
    )
    written = json.loads((folder / "out" / "run" / "train.json").read_text())
    assert written == found
    assert (folder / "out" / "run" / "loss.png").read_bytes().startswith(b"\x89PNG")


def test_a_schedule_is_another_rate_from_an_epoch_on(train: SmallTraining, folder: Path) -> None:
    """As if the run were taken up with the next rate, by hand, to the byte."""
    once, twice = folder / "once.npz", folder / "twice.npz"
    train.answer(
        "--epochs",
        "5",
        "--learning-rate-decay",
        "0.5",
        "--learning-rate-every",
        "2",
        "--save",
        once,
    )
    for epochs, rate, resume in ((2, "0.1", ()), (4, "0.05", ("--resume", twice)),
                                 (5, "0.025", ("--resume", twice))):  # fmt: skip
        train.answer("--epochs", epochs, "--lr", rate, "--save", twice, *resume)
    assert once.read_bytes() == twice.read_bytes()
    train.answer("--epochs", "5", "--save", twice)
    assert once.read_bytes() != twice.read_bytes()


def test_a_run_with_a_schedule_is_resumed_to_the_same_bytes(
    train: SmallTraining, folder: Path
) -> None:
    whole, parts = folder / "whole.npz", folder / "parts.npz"
    decay = ("--learning-rate-decay", "0.3")
    train.answer("--steps", "11", *decay, "--save", whole)
    train.answer("--steps", "6", *decay, "--save", parts)  # amid an epoch
    train.answer("--steps", "11", *decay, "--save", parts, "--resume", parts)
    assert whole.read_bytes() == parts.read_bytes()


def test_a_schedule_that_is_none_is_refused(train: SmallTraining) -> None:
    assert "--learning-rate-every 3: allowed with --learning-rate-decay" in train.refusal(
        "--learning-rate-every", "3"
    )
    for value in ("0", "1", "nan", "-1"):
        told = train.refusal("--learning-rate-decay", value)
        assert "must be a number above 0 and below 1" in told
    told = train.refusal("--learning-rate-decay", "1e-30", "--epochs", "9")  # before any step
    assert (
        "--learning-rate 0.1: 1e-241 in epoch 9: over a batch of 4 the format has no such rate"
        in told
    )


def test_weight_decay_is_one_of_the_factors_of_every_step(
    train: SmallTraining, folder: Path
) -> None:
    """As large as it is, it is felt in a step; a run of two parts needs it in both."""
    whole, parts, other = folder / "whole.npz", folder / "parts.npz", folder / "other.npz"
    decay = ("--weight-decay", "0.25")
    train.answer("--steps", "6", *decay, "--save", whole)
    train.answer("--steps", "3", *decay, "--save", parts)
    train.answer("--steps", "6", *decay, "--save", parts, "--resume", parts)
    assert whole.read_bytes() == parts.read_bytes()
    train.answer("--steps", "6", "--save", other)
    train.answer("--steps", "6", "--weight-decay", "0", "--save", parts)
    assert other.read_bytes() == parts.read_bytes()
    with np.load(whole) as decayed, np.load(other) as kept:
        for key in (key for key in kept.files if key.endswith((".kernel", ".bias"))):
            assert (decayed[key] ** 2).sum() < (kept[key] ** 2).sum(), key


def test_accuracy_is_that_of_images_of_ones_own(train: SmallTraining, folder: Path) -> None:
    with np.load(folder / "data.npz") as data:
        images, labels = data["images"], data["labels"]
    right, wrong = folder / "right.npz", folder / "wrong.npz"
    found = train.answer("--epochs", "12", "--validation", folder / "data.npz")
    assert found["images"] == {"trained": 20, "held_out": 20}
    assert found["accuracy"] > 0.9
    np.savez(wrong, images=images[:7], labels=(labels[:7] + 1) % 3)
    found = train.answer("--epochs", "12", "--validation", wrong)
    assert found["images"] == {"trained": 20, "held_out": 7}
    assert found["accuracy"] < 0.1
    np.savez(right, images=images[:, :3], labels=labels)
    told = train.refusal("--validation", right)
    assert "right.npz: images: size (3, 5, 2): small takes (4, 5, 2)" in told
    np.savez(right, images=images[:0], labels=labels[:0])
    assert "images: 0: allowed are 1 or more" in train.refusal("--validation", right)
    assert "cannot be read" in train.refusal("--validation", folder / "gone.npz")


def test_table(train: SmallTraining) -> None:
    status, out, _ = train.run("--steps", "3", "--momentum", "0", "--loss", "squared")
    assert status == 0
    assert "small, engine golden: 3 steps of 4 images, loss" in out
    assert "of 4 held-out images" in out
    assert "velocities, apart: 0.000 MB" in out


@pytest.mark.parametrize("cut", [1, 4, 7])
def test_resumed_training_ends_in_the_same_bits(
    train: SmallTraining, folder: Path, cut: int
) -> None:
    whole = train.answer("--steps", "9", "--seed", "3", "--save", folder / "whole.npz")
    part = folder / "part.npz"
    train.answer("--steps", cut, "--seed", "3", "--save", part)
    resumed = train.answer("--steps", "9", "--resume", part, "--save", part)
    assert resumed == whole
    assert part.read_bytes() == (folder / "whole.npz").read_bytes()


def test_a_run_is_not_resumed_with_other_layers_frozen(train: SmallTraining, folder: Path) -> None:
    part, network = folder / "part.npz", folder / "small.toml"
    train.answer("--steps", "2", "--save", part)
    before = part.read_bytes()
    text = network.read_text()
    first = text.index("[[layer]]\n") + len("[[layer]]\n")
    network.write_text(f"{text[:first]}trainable = false\n{text[first:]}")
    status, out, err = train.run("--steps", "4", "--resume", part, "--save", part)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "saved with another small" in err
    assert part.read_bytes() == before


def test_saved_file_has_the_keys_of_the_contract(train: SmallTraining, folder: Path) -> None:
    train.answer("--steps", "2", "--seed", "7", "--save", folder / "f.npz")
    with np.load(folder / "f.npz") as file:
        arrays = {key: file[key] for key in file.files}
    layers = {
        f"{name}.{key}" for name in ("conv1", "fc2") for key in ("kernel", "bias", "velocity")
    }
    assert set(arrays) == layers | {
        *("step", "seed", "network", "batch", "loss", "inputs", "file_format", "sha256")
    }
    assert (arrays["step"], arrays["seed"], str(arrays["network"])) == (2, 7, "small")
    assert arrays["conv1.kernel"].shape == (3, 2, 2, 2)
    assert arrays["conv1.velocity"].shape == (3 * 8 + 3,)
    assert arrays["fc2.velocity"].any()


def test_an_interrupted_run_saves_its_last_whole_step(
    train: SmallTraining, folder: Path, monkeypatch
) -> None:
    step = training.train_step
    calls = []

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return step(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(training, "train_step", interrupted)
        status, _, _ = train.run("--steps", "9", "--save", folder / "part.npz")
    assert status == 130
    resumed = train.answer("--steps", "9", "--resume", folder / "part.npz")
    assert len(resumed["loss"]) == 9
    assert resumed == train.answer("--steps", "9")


def test_each_epoch_is_saved(train: SmallTraining, folder: Path, monkeypatch) -> None:
    steps = []
    monkeypatch.setattr(checkpoint, "save", lambda _, done, network: steps.append(done.step))
    train.answer("--steps", "10", "--save", folder / "f.npz")
    assert steps == [4, 8, 10]


def test_a_full_disk_leaves_the_old_file(train: SmallTraining, folder: Path, monkeypatch) -> None:
    """A limit on the size of files stands for the full disk."""
    saved = folder / "f.npz"
    train.answer("--steps", "1", "--save", saved)
    before = saved.read_bytes()
    assert len(before) > 1000
    save = checkpoint.save

    def save_on_full_disk(*arguments) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        try:
            save(*arguments)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    monkeypatch.setattr(checkpoint, "save", save_on_full_disk)
    text = train.refusal("--steps", "2", "--save", saved)
    assert text == f"merp: --save {saved}: cannot be written: File too large"
    assert saved.read_bytes() == before
    assert not list(folder.glob(".*"))


def test_data_that_did_not_reach_the_disk_replaces_nothing(
    train: SmallTraining, folder: Path, monkeypatch
) -> None:
    saved = folder / "f.npz"
    train.answer("--steps", "1", "--save", saved)
    before = saved.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    text = train.refusal("--steps", "2", "--save", saved)
    assert text == f"merp: --save {saved}: cannot be written: No space left on device"
    assert saved.read_bytes() == before
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"images": np.zeros((20, 4, 4, 2))},
         "images: size (4, 4, 2): small takes (4, 5, 2)"),
        ({"images": np.zeros((20, 20))},
         "images: size (20,): small takes (4, 5, 2)"),
        ({"images": np.zeros((20, 4, 5, 2), "U1")}, "images: type <U1: allowed are numbers"),
        ({"images": np.full((20, 4, 5, 2), 1e39)},
         "images[0, 0, 0, 0] = 1e+39: allowed are finite numbers"),
        ({"images": np.zeros((4, 4, 5, 2)), "labels": np.zeros(4, int)},
         "images: 4: allowed are 5 or more"),
        ({"labels": np.zeros(19, int)}, "labels: size (19,): allowed is (20,), one per image"),
        ({"labels": np.full(20, 0.5)}, "labels[0] = 0.5: allowed are whole numbers"),
        ({"labels": np.full(20, 3)},
         "labels[0] = 3: small has 3 outputs: allowed are 0 to 2"),
        ({"labels": np.arange(20) - 19}, "labels[0] = -19: small has 3 outputs"),
        ({"more": np.zeros(1)}, "keys images, labels, more: allowed are images and labels, x and"),
        ({"labels": np.array([{}] * 20)}, "labels: type '|O': allowed are numbers"),
    ],
)  # fmt: skip
def test_data_that_cannot_be_used(
    train: SmallTraining, folder: Path, change, complaint: str
) -> None:
    with np.load(folder / "data.npz") as file:
        arrays = dict(file)
    np.savez(folder / "data.npz", **(arrays | change))
    assert complaint in train.refusal()


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_data_that_is_no_number_is_named(train: SmallTraining, folder: Path, number: float) -> None:
    with np.load(folder / "data.npz") as file:
        arrays = dict(file)
    arrays["images"][13, 2, 4, 1] = number
    np.savez(folder / "data.npz", **arrays)
    assert f"images[13, 2, 4, 1] = {number}" in train.refusal()


def test_channels_first_train_to_the_same_bits_with_a_notice(
    train: SmallTraining, folder: Path
) -> None:
    once = train.answer("--steps", "2")
    with np.load(folder / "data.npz") as data:
        arrays = {"x": np.moveaxis(data["images"], -1, 1), "y": data["labels"]}
    np.savez(folder / "first.npz", **arrays)
    ended = train.run("--steps", "2", "--json", "--data", folder / "first.npz")
    assert (ended.status, json.loads(ended.out)) == (0, once)
    (line,) = ended.err.splitlines()
    assert line.endswith("first.npz: x: (2, 4, 5): channels come first, taken as (4, 5, 2)")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no arrays", None])
def test_files_that_cannot_be_read(
    train: SmallTraining, folder: Path, content: bytes | None
) -> None:
    data = folder / "data.npz"
    data.unlink()
    if content is not None:
        data.write_bytes(content)
    assert f"{data}: cannot be read: " in train.refusal()
    assert f"{folder}: pictures have 1 or 3 channels" in train.refusal("--data", folder)


@pytest.fixture
def saved(train: SmallTraining, folder: Path) -> Path:
    train.answer("--steps", "3", "--save", folder / "f.npz")
    return folder / "f.npz"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"network": np.array("digits")}, "network = 'digits': allowed is 'small'"),
        ({"network": None}, "network: missing: allowed is a file of merp train for small"),
        ({"network": np.array(3)}, "network = '3': allowed is 'small'"),
        ({"conv1.bias": None}, "conv1.bias: missing"),
        ({"conv9.bias": np.zeros(3, np.float32)}, "conv9.bias: unknown"),
        ({"conv1.kernel": np.zeros((3, 2, 3, 3), np.float32)},
         "conv1.kernel: type float32 of size (3, 2, 3, 3): allowed for small is size (3, 2, 2, 2)"),
        ({"fc2.bias": np.zeros(3, int)}, "fc2.bias: type int64 of size (3,): allowed"),
        ({"fc2.bias": np.array([0, np.nan, 0])}, "fc2.bias[1] = nan: allowed are finite numbers"),
        ({"fc2.velocity": np.full(21, 0.1)}, "fc2.velocity[0] = 0.1: allowed are finite numbers"),
        ({"step": np.array(4)}, "loss: type float64 of size (3,): allowed for small is size (4,)"),
        ({"step": np.array(-1)}, "step = -1: allowed is 0 or more"),
        ({"batch": np.array(0)}, "batch = 0: allowed is 1 or more"),
        ({"seed": np.array([1])}, "seed: type int64 of size (1,)"),
    ],
)  # fmt: skip
def test_resume_files_that_cannot_be_used(
    train: SmallTraining, saved: Path, change, complaint: str
) -> None:
    with np.load(saved) as file:
        arrays = dict(file)
    fits = arrays["fc2.velocity"].shape
    arrays |= {
        key: np.full(fits, 0.1) if key == "fc2.velocity" else value for key, value in change.items()
    }
    np.savez(saved, **{key: value for key, value in arrays.items() if value is not None})
    text = train.refusal("--resume", saved)
    assert f"{saved}: {complaint}" in text


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--batch", "17"), "--batch 17: allowed are 1 to 16, the images to train with"),
        (("--lr", "0"), "argument --learning-rate/--lr: must be a number above 0, not '0'"),
        (("--lr", "nan"), "argument --learning-rate/--lr: must be a number above 0, not 'nan'"),
        (("--lr", "1e-38"), "--learning-rate 1e-38: over a batch of 4 the format has no such rate"),
        (("--momentum", "1"), "argument --momentum: must be a number from 0 to below 1, not '1'"),
        (("--momentum", "1e-99"), "--momentum 1e-99: the format has no such factor"),
        *(
            (
                ("--weight-decay", value),
                f"argument --weight-decay: must be a number of 0 or more, not '{value}'",
            )
            for value in ("-0.1", "nan", "inf", "much")
        ),
        *(
            (
                ("--weight-decay", value),
                f"--weight-decay {value}: times a batch of 4 the format has no such factor",
            )
            for value in ("1e+38", "1e-40")
        ),
        (("--lr", "1e30"), "--learning-rate 1e+30: the loss is nan at step 2: allowed is less"),
        (("--save", "/dev/null/f.npz"), "--save /dev/null/f.npz: null is no folder"),
        (("--steps", "0"), "argument --steps: must be a whole number from 1"),
        (("--steps", "2", "--epochs", "2"), "not allowed with argument --steps"),
        (("--loss", "l1"), "argument --loss: invalid choice"),
    ],
)
def test_options_that_cannot_be_used(train: SmallTraining, options, complaint: str) -> None:
    assert complaint in train.refusal(*options)


def test_options_that_a_resumed_run_cannot_change(train: SmallTraining, saved: Path) -> None:
    text = train.refusal("--resume", saved, "--seed", "1")
    assert f"--seed 1: {saved} was made with 0: allowed: 0" in text
    assert "--batch 5" in train.refusal("--resume", saved, "--batch", "5")
    text = train.refusal("--resume", saved, "--steps", "2")
    assert f"--resume {saved}: at step 3: allowed are up to 2" in text


def test_a_run_that_diverges_does_not_touch_what_was_saved(train: SmallTraining, saved) -> None:
    before = saved.read_bytes()
    options = ("--resume", saved, "--save", saved, "--lr", "1e30")
    assert "the loss is nan" in train.refusal(*options)
    assert saved.read_bytes() == before


def test_a_model_that_overflowed_is_not_saved(folder: Path, saved: Path) -> None:
    before = saved.read_bytes()
    network = open_network(str(folder / "small.toml"))
    done = checkpoint.resume(saved, network)
    done.model.parameters["fc2"][1][2] = network.fmt.inf
    said = r"not saved: fc2.bias overflowed: allowed is less --learning-rate"
    with pytest.raises(BadInput, match=said), Output.of_file("--save", saved) as output:
        checkpoint.save(output, done, network)
    assert saved.read_bytes() == before


def test_an_output_folder_that_cannot_be_made(train: SmallTraining, folder: Path) -> None:
    target = folder / "data.npz" / "out"
    assert f"-o {target}: data.npz is no folder" in train.refusal("-o", target)


def test_help_names_the_losses_there_are() -> None:
    assert LOSSES == golden_loss.LOSSES


def test_every_epoch_takes_each_image_once_in_another_order() -> None:
    orders = [np.concatenate([batch_of(11, 3, 5, 3 * e + i) for i in range(3)]) for e in range(3)]
    for order in orders:
        assert len(set(order.tolist())) == 9
    assert not (orders[0] == orders[1]).all()
    assert not (batch_of(11, 3, 5, 0) == batch_of(11, 3, 6, 0)).all()


@needs("scikit-learn")
def test_digits_are_shuffled_before_a_fifth_is_held_out() -> None:
    data = digits(10)
    assert data.images.shape == (1797, 8, 8, 1)
    assert (data.images.min(), data.images.max()) == (0, 1)
    parts = split(data, open_network("digits"))
    assert (len(parts.labels), len(parts.held_labels)) == (1438, 359)
    assert np.bincount(parts.held_labels).min() > 20


def test_digits_need_scikit_learn(train: SmallTraining, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    assert "needs scikit-learn: pip install 'merp[train]'" in train.refusal("--data", "digits")


@pytest.mark.full
@needs("scikit-learn")
def test_the_digits_are_learnt(terminal: Terminal) -> None:
    found = terminal.answer("train", "digits", "--data", "digits", "--engine", "golden")
    assert found["steps"] == 440
    assert found["accuracy"] >= 0.97


def test_a_saved_file_that_was_changed_is_refused(train: SmallTraining, saved: Path) -> None:
    with np.load(saved) as file:
        arrays = dict(file)
    arrays["conv1.bias"] = arrays["conv1.bias"] * 0
    np.savez(saved, **arrays)
    text = train.refusal("--resume", saved)
    assert text == f"merp: {saved}: damaged, sha256 differs: train again"


def test_training_is_not_resumed_with_other_data(
    train: SmallTraining, folder: Path, saved: Path
) -> None:
    with np.load(folder / "data.npz") as file:
        arrays = dict(file)
    arrays["images"][0, 0, 0, 0] += 1
    np.savez(folder / "data.npz", **arrays)
    text = train.refusal("--resume", saved)
    assert text.startswith(
        f"merp: {saved}: saved with another small, other sums, storage or data: allowed"
    )
