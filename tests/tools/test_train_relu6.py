"""``merp train`` with ReLU6: every engine and machine leaves the golden's file."""

from pathlib import Path

import numpy as np
import pytest

from marks import engines, rows_in_full
from network_text import average_pool, layer, max_pool, network_text
from terminal import Terminal

UNITS = {"n_cu": 2, "d": 2, "mul_latency": 1, "add_latency": 1}
DESIGNS = {f"k{place}": {"k": 2, **UNITS} for place in (1, 2)} | {"full": {"k": 1, **UNITS}}
SIZE = (6, 6, 1)

FLOATS = network_text(
    "six",
    SIZE,
    layer("conv1", 3, kernel=2, activation="relu6", pool=max_pool(2, 1), design="k1"),
    layer("conv2", 4, kernel=2, activation="relu6", pool=average_pool(2, 1), design="k2"),
    layer("fc3", 4, activation="relu6", design="full"),
    layer("fc4", 3, activation="none", design="full"),
    designs=DESIGNS,
)

FUSED = network_text(
    "fused",
    SIZE,
    layer("conv1", 3, kernel=2, activation="relu6", pool=max_pool(2, 1), design="k1"),
    layer("conv2", 4, kernel=2, activation="relu6", pad=1, design="k2"),
    layer("fc3", 3, activation="none", design="full"),
    designs=DESIGNS,
    backward="combined",
    layer_fusion=["conv1", "conv2"],
)

ARRAY = network_text(
    "fixed",
    SIZE,
    layer("conv1", 5, kernel=3, pad=1, activation="relu6", pool=max_pool(2, 2), design="array"),
    layer("conv2", 3, kernel=3, pad=1, activation="relu6", design="array"),
    layer("fc3", 3, activation="none", design="array"),
    designs={"array": {"architecture": "mac-array", "pox": 4, "poy": 4, "pof": 4}},
    format="fixed16",
)
ARRAY += "[fractions]\ninput = 9\nmap = 10\n"


@pytest.fixture
def command(tmp_path: Path):
    """``merp train`` on images so bright that many sums pass 6."""

    def words(text: str) -> list[object]:
        network, data = tmp_path / "net.toml", tmp_path / "data.npz"
        network.write_text(text)
        more = ("--loss", "hinge") if "fixed16" in text else ("--state-bits", "pooled")
        rng = np.random.default_rng(0)
        images, labels = rng.uniform(0, 24, (10, *SIZE)), rng.integers(0, 3, 10)
        np.savez(data, images=images, labels=labels)
        return [
            "train", network, "--data", data, "--batch", 2, "--steps", 2,
            "--learning-rate", 0.01, *more,
        ]  # fmt: skip

    return words


def trained(terminal: Terminal, words: list[object], *more: object) -> bytes:
    """The file that a training leaves."""
    file = Path(str(words[1])).with_name("saved.npz")
    assert terminal.run(*words, *more, "--save", file).status == 0
    return file.read_bytes()


CASES = [
    (FLOATS, ("--engine", "myhdl")),
    *rows_in_full(
        (FLOATS, ("--architecture", "pipeline", "--engine", "myhdl")),
        (FLOATS, ("--architecture", "chain", "--devices", 2, "--engine", "myhdl")),
        (FUSED, ("--engine", "myhdl")),
        (FLOATS, ("--engine", "system")),
    ),
]


@pytest.mark.parametrize(("text", "way"), CASES)
def test_floats_train_to_the_goldens_file(text: str, way, command, terminal: Terminal) -> None:
    words = command(text)
    assert trained(terminal, words, *way) == trained(terminal, words)


@pytest.mark.full
@pytest.mark.parametrize("text", [FLOATS, FUSED])
@pytest.mark.parametrize("engine", engines("verilator"))
def test_floats_train_to_the_goldens_file_in_verilator(
    text: str, engine: str, command, terminal: Terminal
) -> None:
    words = command(text)
    assert trained(terminal, words, "--engine", engine) == trained(terminal, words)


@pytest.mark.parametrize("engine", ["myhdl", *engines("verilator")])
def test_an_array_trains_to_the_goldens_file(engine: str, command, terminal: Terminal) -> None:
    words = command(ARRAY)
    assert trained(terminal, words, "--engine", engine) == trained(terminal, words)


@pytest.mark.parametrize("text", [FLOATS, ARRAY], ids=["floats", "fixed"])
def test_relu_without_a_stop_trains_to_another_file(text: str, command, terminal: Terminal) -> None:
    """Otherwise the tests above would see no difference between the two."""
    words = command(text)
    found = trained(terminal, words)
    for name in ("conv1", "conv2"):
        head, _, tail = text.partition(f'name = "{name}"')
        words = command(f'{head}name = "{name}"{tail.replace("relu6", "relu", 1)}')
        assert trained(terminal, words) != found, name
