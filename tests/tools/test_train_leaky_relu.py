"""``merp train`` with leaky ReLU: every engine and machine leaves the golden's file."""

from pathlib import Path

import numpy as np
import pytest

from marks import engines, rows_in_full
from network_text import average_pool, layer, max_pool, network_text
from terminal import Terminal

UNITS = {"n_cu": 2, "d": 2, "mul_latency": 1, "add_latency": 1}
DESIGNS = {f"k{place}": {"k": 2, **UNITS} for place in (1, 2)} | {"full": {"k": 1, **UNITS}}
SIZE = (6, 6, 1)
LEAKY = {"activation": "leaky-relu"}

FLOATS = network_text(
    "leaky",
    SIZE,
    layer("conv1", 3, kernel=2, **LEAKY, slope=0.3, pool=max_pool(2, 1), design="k1"),
    layer("conv2", 4, kernel=2, **LEAKY, slope=0.7, pool=average_pool(2, 1), design="k2"),
    layer("fc3", 4, **LEAKY, design="full"),
    layer("fc4", 3, activation="none", design="full"),
    designs=DESIGNS,
)

WIDE = {"mul_latency": 2, "map_port": 4, "kernel_port": 2}
BEATS = network_text(
    "beats",
    SIZE,
    layer("conv1", 3, kernel=3, **LEAKY, slope=0.3, pool=max_pool(3, 2), pad=1, design="a"),
    layer("conv2", 4, kernel=3, **LEAKY, slope=0.7, pad=1, design="b"),
    layer("conv3", 4, kernel=3, **LEAKY, slope=0.2, pool=average_pool(2, 2), pad=1, design="b"),
    layer("fc4", 3, activation="none", design="b"),
    designs={"a": {"k": 3, **UNITS, **WIDE}, "b": {"k": 3, **UNITS, **WIDE}},
    format="bfloat16",
)
"""Several elements per beat."""

COMBINED = network_text(
    "combined",
    SIZE,
    layer("conv1", 3, kernel=2, **LEAKY, slope=0.3, pool=max_pool(2, 1), design="k1"),
    layer("conv2", 4, kernel=2, **LEAKY, slope=0.7, pad=1, design="k2"),
    layer("fc3", 3, activation="none", design="full"),
    designs=DESIGNS,
    backward="combined",
)

FUSED = COMBINED.replace('backward = "combined"', 'layer_fusion = ["conv1", "conv2"]')


@pytest.fixture
def command(tmp_path: Path):
    """``merp train`` on images of either sign, so that many sums are below 0."""

    def words(text: str) -> list[object]:
        network, data = tmp_path / "net.toml", tmp_path / "data.npz"
        network.write_text(text)
        rng = np.random.default_rng(0)
        images, labels = rng.uniform(-4, 4, (10, *SIZE)), rng.integers(0, 3, 10)
        np.savez(data, images=images, labels=labels)
        return [
            "train", network, "--data", data, "--batch", 2, "--steps", 2,
            "--learning-rate", 0.05, "--state-bits", "pooled",
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
        (BEATS, ("--engine", "myhdl")),
        (COMBINED, ("--engine", "myhdl")),
        (FUSED, ("--engine", "myhdl")),
        (FLOATS, ("--architecture", "pipeline", "--engine", "myhdl")),
        (FLOATS, ("--architecture", "chain", "--devices", 2, "--engine", "myhdl")),
        (FLOATS, ("--engine", "system")),
    ),
]


@pytest.mark.parametrize(("text", "way"), CASES)
def test_the_goldens_file(text: str, way, command, terminal: Terminal) -> None:
    words = command(text)
    assert trained(terminal, words, *way) == trained(terminal, words)


@pytest.mark.full
@pytest.mark.parametrize("text", [FLOATS, BEATS, COMBINED, FUSED])
@pytest.mark.parametrize("engine", engines("verilator"))
def test_the_goldens_file_in_verilator(text: str, engine: str, command, terminal: Terminal) -> None:
    words = command(text)
    assert trained(terminal, words, "--engine", engine) == trained(terminal, words)


def test_every_slope_counts(command, terminal: Terminal) -> None:
    """Otherwise the tests above would see no difference to ReLU."""
    found = trained(terminal, command(FLOATS))
    for old, new in (("0.3", "0.31"), ("0.7", "0.71"), ("fc3", "fc3")):
        text = FLOATS.replace(f"slope = {old}", f"slope = {new}")
        if old == new:
            head, _, tail = FLOATS.partition('name = "fc3"')
            text = f'{head}name = "fc3"{tail.replace("leaky-relu", "relu", 1)}'
        assert trained(terminal, command(text)) != found, old


@pytest.mark.parametrize("state", ["32", "1"])
def test_every_kind_of_state_trains_to_the_same_file(
    state: str, command, terminal: Terminal
) -> None:
    words = command(FLOATS)
    found = trained(terminal, words)
    words[words.index("--state-bits") + 1] = state
    assert trained(terminal, words) == found
