"""Predictions, evaluations and the history of a training, from Python."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import merp
from network_text import layer, max_pool, network_text

NETWORK = network_text(
    "tiny",
    (4, 4, 1),
    layer("conv1", 2, kernel=3, pool=max_pool(2, 1), design="k3"),
    layer("fc2", 3, relu=False, design="k3"),
    designs={"k3": {"k": 3, "n_cu": 2}},
)
RANDOM = np.random.default_rng(1)
IMAGES = RANDOM.uniform(0, 1, (20, 4, 4))
LABELS = np.arange(20) % 3


@pytest.fixture(scope="module")
def saved(network_file: Path) -> Path:
    return network_file.with_name("saved.npz")


@pytest.fixture(scope="module")
def trained(network_file: Path, saved: Path) -> merp.Training:
    return merp.load(network_file).train((IMAGES, LABELS), batch=4, steps=6, save=saved)


def test_a_training_predicts_what_its_file_predicts(
    network_file: Path, saved: Path, trained: merp.Training
) -> None:
    found = trained.predict(IMAGES, labels=["a", "b", "c"])
    again = merp.load(network_file).predict(IMAGES[..., None].tolist(), weights=saved)
    assert found.outputs.tobytes() == again.outputs.tobytes()
    assert (found.outputs.shape, found.outputs.dtype) == ((20, 3), np.float64)
    assert found.classes.tolist() == found.outputs.argmax(axis=1).tolist()
    assert [row["class"] for row in found] == found.classes.tolist()
    assert found[3]["label"] == "abc"[found.classes[3]]
    top = found.top(-1, 2)
    assert [row["output"] for row in top] == sorted(found.outputs[-1])[:0:-1]
    assert sum(row["softmax"] for row in found.top(0)) == pytest.approx(1)
    assert repr(found) == "<tiny on golden: 20 image(s), 3 outputs>"
    assert pickle.loads(pickle.dumps(trained)).predict(IMAGES[0]).outputs[0].tolist() == (
        found.outputs[0].tolist()
    )


def test_hardware_predicts_the_same_bits(trained: merp.Training) -> None:
    said: list[str] = []
    found = trained.predict(IMAGES[:2], engine="myhdl", progress=said.append)
    assert found.outputs.tobytes() == trained.predict(IMAGES[:2]).outputs.tobytes()
    assert found.cycles
    assert said[-1].startswith("image 2 of 2")


def test_an_evaluation_is_of_the_images_that_were_held_out(trained: merp.Training) -> None:
    found = trained.evaluate()
    assert (found.images, found.accuracy) == (4, trained.accuracy)
    again = trained.evaluate((IMAGES, LABELS), held_out=True)
    assert again.json() == found.json()
    whole = trained.evaluate((IMAGES, LABELS), loss="squared")
    scores = trained.predict(IMAGES).outputs
    assert whole.loss == pytest.approx(
        0.5 * ((scores - np.eye(3)[LABELS]) ** 2).sum(axis=1).mean(), rel=1e-12
    )
    assert [row["images"] for row in whole] == [7, 7, 6]
    assert sum(row["images"] for row in whole.confusions) == 20 - np.trace(whole.confusion)


def test_the_history_has_every_step_and_epoch(
    network_file: Path, trained: merp.Training, tmp_path: Path
) -> None:
    history = trained.history
    np.testing.assert_array_equal(history.array("loss"), trained.losses)
    assert (history.array("accuracy") * 4 == np.rint(history.array("accuracy") * 4)).all()
    assert np.isnan(history.array("saturated")).all()
    first, last = history.epochs
    assert (first["steps"], last["steps"]) == (4, 2)
    assert first["loss"] == pytest.approx(trained.losses[:4].mean())
    assert last["validation_accuracy"] == trained.accuracy
    with pytest.raises(KeyError):
        history.array("speed")
    net = merp.load(network_file)
    kept = tmp_path / "kept.npz"
    net.train((IMAGES, LABELS), batch=4, steps=3, save=kept)
    resumed = net.train((IMAGES, LABELS), steps=6, resume=kept).history
    np.testing.assert_array_equal(resumed.array("loss"), trained.losses)
    assert np.isnan(resumed.array("accuracy")[:3]).all()
    assert resumed.steps[3:] == history.steps[3:]


def test_a_frame_needs_pandas(trained: merp.Training, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(merp.BadInput, match="pandas is not installed: pip install pandas"):
        trained.history.frame()


@pytest.mark.parametrize(
    ("said", "keywords"),
    [
        ("engine = 'vcs': allowed are golden, myhdl, verilator, ghdl, system", {"engine": "vcs"}),
        ("x: size (2, 8): tiny takes", {}),
        ("labels: 2 names: tiny has 3 outputs: allowed is one for each", {"labels": ["a", "b"]}),
        ("labels = [1]: allowed is a file, or a sequence of texts", {"labels": [1]}),
        ("mean: allowed with a picture", {"mean": 0.5}),
        ("std = 'x': must be one number, or one for each channel", {"std": "x"}),
        ("weights: tiny has no weights: allowed is a file", {"weights": None}),
        ("weights = 7: allowed is a path", {"weights": 7}),
    ],
)
def test_wrong_arguments_are_refused(
    said: str, keywords: dict[str, object], network_file: Path, saved: Path, trained: object
) -> None:
    x = IMAGES.reshape(20, 2, 8) if "size" in said else IMAGES
    words = {"weights": saved, **keywords}
    with pytest.raises(merp.BadInput) as told:
        merp.load(network_file).predict(x, **words)
    assert said in str(told.value)


def test_held_out_images_are_of_data(trained: merp.Training) -> None:
    with pytest.raises(merp.BadInput, match="held_out: allowed with data"):
        trained.evaluate(held_out=True)
