"""Steps of several minibatches on F-CNN: golden's bits and bytes, and who refuses them."""

import json
from pathlib import Path

import numpy as np
import pytest

import merp
from marks import few
from merp.cosim.machines.training import hardware_step
from merp.models.base.errors import BadInput
from merp.models.network.registry import machines, runners
from network_text import layer, max_pool, network_text
from small_training import SmallTraining
from terminal import Terminal

FAST = {"architecture": "fcnn", "mul_latency": 1, "add_latency": 2}
SMALL = network_text(
    "small",
    (5, 4, 2),
    layer("conv1", 3, kernel=2, pool=max_pool(2, 2), design="a"),
    layer("fc2", 3, activation="none", design="b"),
    designs={"a": {**FAST, "lanes": 2, "maps_at_once": 2}, "b": {**FAST, "lanes": 2, "block": 2}},
)
# Layers that share a design, groups, a frozen layer, and two layers that take conv1's output.
BRANCHES = network_text(
    "branches",
    (5, 4, 2),
    layer("conv1", 4, kernel=3, pad=1, design="a"),
    layer("conv2", 4, kernel=3, pad=1, groups=2, design="a"),
    layer("conv3", 2, kernel=1, input="conv1", activation="none", trainable=False, design="b"),
    layer("fc4", 4, input=["conv2", "conv3"], activation="tanh", design="c"),
    layer("fc5", 3, activation="none", design="d"),
    designs={
        "a": {**FAST, "lanes": 2, "maps_at_once": 3},
        "b": {**FAST, "lanes": 1},
        "c": {**FAST, "lanes": 2, "block": 3},
        "d": {**FAST, "lanes": 1, "block": 2},
    },
)
NETWORKS = {"small": SMALL, "branches": BRANCHES}


class Accumulating:
    """``merp train`` on batches of 2 of 12 images, on a network of F-CNN."""

    def __init__(self, folder: Path, terminal: Terminal) -> None:
        dice = np.random.default_rng(0)
        self.folder, self._terminal = folder, terminal
        self.images, self.labels = dice.standard_normal((15, 5, 4, 2)), dice.integers(0, 3, 15)
        np.savez(folder / "data.npz", images=self.images, labels=self.labels)
        for name, text in NETWORKS.items():
            (folder / f"{name}.toml").write_text(text)

    def words(self, name: str, *options: object) -> list[object]:
        data = self.folder / "data.npz"
        return ["train", self.folder / f"{name}.toml", "--data", data, "--batch", 2, *options]

    def __call__(self, name: str, *options: object, steps: int = 1) -> tuple[dict, bytes]:
        """The answer and the saved file."""
        saved = self.folder / "saved.npz"
        words = self.words(name, "--steps", steps, "--save", saved, *options)
        return self._terminal.answer(*words), saved.read_bytes()

    def refusal(self, *options: object) -> str:
        return self._terminal.refusal(*self.words("small", *options))


@pytest.fixture
def train(tmp_path: Path, terminal: Terminal) -> Accumulating:
    return Accumulating(tmp_path, terminal)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules in the order in which they are elaborated."""
    found: list[str] = []
    run = hardware_step.run_and_audit

    def counted(top, *args, **keywords):
        found.append(top.name)
        return run(top, *args, **keywords)

    monkeypatch.setattr(hardware_step, "run_and_audit", counted)
    return found


@pytest.mark.verilator
@pytest.mark.parametrize("name", few(NETWORKS, "small"))
def test_verilator_accumulates_like_golden(
    name: str, train: Accumulating, loads: list[str]
) -> None:
    """A module is elaborated once for all minibatches."""
    rule = ("--momentum", 0.9, "--weight-decay", 0.01, "--accumulate", 2)
    _, golden = train(name, *rule, steps=2)
    answer, found = train(name, *rule, "--engine", "verilator", steps=2)
    assert found == golden
    counted = answer["bytes"]
    assert counted["measured"] == {key: counted[key] for key in counted["measured"]}
    if name == "small":
        step = ["fcnn_conv", "fcnn_pool", "fcnn_mlp", "fcnn_mlp", "fcnn_mlp"]
        assert sorted(loads) == sorted(2 * [*step, "fcnn_unpool", "fcnn_gradient"])


@pytest.mark.full
@pytest.mark.verilator
def test_words_and_cycles_are_those_of_all_minibatches(train: Accumulating) -> None:
    engine = ("--engine", "verilator")
    (one, _), (three, _) = (train("small", "--accumulate", n, *engine) for n in (1, 3))
    for phase, cycles in one["cycles"].items():
        assert three["cycles"][phase] == {key: 3 * count for key, count in cycles.items()}
    for key, moved in one["bytes"]["measured"].items():
        assert three["bytes"]["measured"][key] == {of: 3 * size for of, size in moved.items()}


@pytest.mark.full
@pytest.mark.parametrize("name", NETWORKS)
def test_myhdl_accumulates_like_golden(name: str, train: Accumulating) -> None:
    _, golden = train(name, "--accumulate", 3)
    assert train(name, "--accumulate", 3, "--engine", "myhdl")[1] == golden


def test_answers_and_saved_files(train: Accumulating) -> None:
    """One minibatch changes nothing; several are said, saved and counted."""
    plain, saved = train("small", steps=3)
    assert train("small", "--accumulate", 1, steps=3) == (plain, saved)
    assert plain["accumulate"] == 1
    folder = train.folder / "out"
    answer, several = train("small", "--accumulate", 3, "-o", folder, steps=3)
    assert (answer["accumulate"], answer["batch"], answer["steps"]) == (3, 2, 3)
    for key in ("paper", "full"):
        counted = answer["bytes"][key]
        assert counted == {of: 3 * size for of, size in plain["bytes"][key].items()}
    large, whole = train("small", "--batch", 6, steps=3)
    assert several != whole
    assert answer["loss"] == pytest.approx(large["loss"], rel=1e-4)
    with np.load(train.folder / "saved.npz") as file:
        assert "accumulate" not in file
    rows = json.loads((folder / "history.json").read_text())["steps"]
    assert [row["epoch"] for row in rows] == [0, 0, 1]  # two steps of six images an epoch
    for row in rows:
        assert 6 * row["accuracy"] == pytest.approx(round(6 * row["accuracy"]))


def test_what_people_read(train: Accumulating, terminal: Terminal) -> None:
    folder = train.folder / "out"
    words = train.words("small", "--accumulate", 3, "--epochs", 2, "-o", folder)
    ended = terminal.run(*words)
    assert "4 steps of 3 x 2 images" in " ".join(ended.out.split())
    assert "3 x 2" in terminal.output("losses", folder, "-o", train.folder / "losses.svg")
    (run,) = terminal.answer("losses", folder, "-o", train.folder / "losses.svg")["runs"]
    assert (run["batch"], run["accumulate"]) == (2, 3)


def test_resumed_training_keeps_its_minibatches(train: Accumulating) -> None:
    part = train.folder / "part.npz"
    _, whole = train("small", "--accumulate", 2, steps=5)
    _, first = train("small", "--accumulate", 2, steps=2)
    part.write_bytes(first)
    answer, rest = train("small", "--resume", part, steps=5)
    assert rest == whole
    assert answer["accumulate"] == 2
    told = train.refusal("--resume", part, "--accumulate", 3)
    assert told == f"merp: --accumulate 3: {part} was made with 2: allowed: 2"
    _, plain = train("small", steps=2)
    part.write_bytes(plain)
    told = train.refusal("--resume", part, "--accumulate", 2)
    assert told == f"merp: --accumulate 2: {part} was made with 1: allowed: 1"


def test_python_has_the_same_keyword(train: Accumulating) -> None:
    net = merp.load(str(train.folder / "small.toml"))
    data = train.images, train.labels
    trained = net.train(data, batch=2, accumulate=3, steps=2)
    assert trained.accumulate == trained.json()["accumulate"] == 3
    assert "2 steps of 3 x 2 images" in repr(trained)
    assert net.train(data, batch=2, steps=1).accumulate == 1
    with pytest.raises(BadInput, match="accumulate = 0"):
        net.train(data, accumulate=0)
    with pytest.raises(BadInput, match="accumulate = 2: digits runs on cnn-merp"):
        merp.load("digits").train(accumulate=2)


def test_refusals(train: Accumulating) -> None:
    for value in ("0", "4097", "1.5"):
        assert "from 1 to 4096" in train.refusal("--accumulate", value)
    told = train.refusal("--accumulate", 7)
    assert told == (
        "merp: --accumulate 7: 12 images to train with, 2 in a batch: allowed are 1 to 6"
    )


@pytest.mark.parametrize("engine", ["golden", "myhdl"])
def test_machines_that_update_with_every_batch_refuse_it(
    engine: str, terminal: Terminal, tmp_path: Path
) -> None:
    small = SmallTraining(terminal, tmp_path)
    ended = "which updates kernels with every batch: allowed: 1"
    found = small.refusal("--accumulate", 2, "--engine", engine)
    assert found == f"merp: --accumulate 2: small runs on cnn-merp, {ended}"
    fixed = ("train", "digits-fixed", "--accumulate", 2, "--engine", engine)
    assert ended in terminal.refusal(*fixed)
    assert [each.name for each in machines() if each.accumulates] == ["fcnn"]
    for each in runners():
        if engine == "myhdl":
            words = ("train", "tiny3", "--architecture", each.name, "--accumulate", 2)
            assert f"tiny3 runs on {each.name}, {ended}" in terminal.refusal(*words)
    assert small.answer("--accumulate", 1, "--steps", 1)["accumulate"] == 1


def test_a_saved_file_has_their_number(train: Accumulating) -> None:
    """The key is there only if there are several."""
    saved, part = train.folder / "saved.npz", train.folder / "part.npz"
    train("small", "--accumulate", 2)
    with np.load(saved) as file:
        arrays = {key: file[key] for key in file.files}
    assert arrays["accumulate"] == 2
    np.savez(part, **{**arrays, "accumulate": np.array(0)})
    told = train.refusal("--resume", part)
    assert told == f"merp: {part}: accumulate = 0: allowed is 2 or more"
    text = network_text(
        "small",
        (5, 4, 2),
        layer("conv1", 3, kernel=2, pool=max_pool(2, 2)),
        layer("fc2", 3, activation="none"),
    )
    (train.folder / "small.toml").write_text(text)
    told = train.refusal("--resume", saved)
    assert told.startswith(f"merp: {saved}: accumulate = 2: small runs on cnn-merp, which updates")
