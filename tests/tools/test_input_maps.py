"""``merp simulate`` on input of any number of channels, a user's or its own."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.network.network_file import read_network
from merp.tools.common.input_maps import input_maps
from merp.tools.machines.cnn_merp.simulated import CNN_MERP
from merp.tools.machines.usual import simulated as usual
from merp.tools.simulate.maps_file import read_maps
from network_text import layer, network_text
from terminal import Terminal

NETWORK = network_text(
    "five",
    (3, 4, 5),
    layer("conv1", 2, kernel=2, design="k2"),
    layer("fc2", 2, design="k1"),
    designs={
        "k2": {"k": 2, "n_cu": 1, "r": 1, "mul_latency": 1, "add_latency": 1, "max_images": 3},
        "k1": {"k": 1, "n_cu": 1, "r": 1, "mul_latency": 1, "add_latency": 1},
    },
)
SIZE = 3, 4, 5
NUMBERS = np.random.default_rng(0).standard_normal((3, *SIZE))


def file_of(folder: Path, **arrays: Any) -> Path:
    np.savez(folder / "maps.npz", **arrays)
    return folder / "maps.npz"


@pytest.mark.parametrize("phase", ["fp", "all"])
def test_any_number_of_channels_is_simulated(
    phase: str, network_file: Path, terminal: Terminal
) -> None:
    answer = terminal.answer("simulate", network_file, "--layer", "all", "--phase", phase)
    assert answer["total"]["bit_exact"] is True
    network = read_network(network_file)
    assert input_maps(network, 2).shape == (2, *SIZE)
    assert (input_maps(network, 1) == input_maps(network, 2)[:1]).all()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("maps", "words"),
    [
        (NUMBERS, to_bits(NUMBERS, BINARY32)),
        (NUMBERS.astype(np.float32), to_bits(NUMBERS.astype(np.float32), BINARY32)),
        (NUMBERS.astype(">f2"), to_bits(NUMBERS.astype(np.float16), BINARY32)),
        (to_bits(NUMBERS, BINARY32), to_bits(NUMBERS, BINARY32)),
        (to_bits(NUMBERS, BINARY32).astype(">u4"), to_bits(NUMBERS, BINARY32)),
    ],
    ids=["float64", "float32", "float16", "words", "words of another byte order"],
)
def test_the_hardware_runs_on_the_files_maps(
    maps: np.ndarray,
    words: Bits,
    network_file: Path,
    terminal: Terminal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []
    group_pass = usual._group

    def spied(phase: Any, layer: Any, group: Any, step: Any) -> Any:
        seen.append(step.x(layer))
        return group_pass(phase, layer, group, step)

    monkeypatch.setattr(usual, "_group", spied)
    file = file_of(tmp_path, input=maps)
    for images, options in ((3, ()), (2, ("--images", "2"))):
        answer = terminal.answer("simulate", network_file, "--input", file, *options)
        assert (answer["images"], answer["bit_exact"]) == (images, True)
        assert answer["ports"]["map_in"]["monitor"] == images * 60
        np.testing.assert_array_equal(seen.pop(), words[:images])


def test_words_of_any_class_are_taken_as_they_are(
    network_file: Path, terminal: Terminal, tmp_path: Path
) -> None:
    words = np.random.default_rng(0).integers(0, 1 << 32, (2, *SIZE), np.uint32)
    words[0, 0, 0, :4] = 1, BINARY32.sign_bit, BINARY32.inf, BINARY32.nan | 1
    file = file_of(tmp_path, input=words)
    answer = terminal.answer(
        "simulate", network_file, "--input", file, "--phase", "all", "-o", tmp_path
    )
    assert answer["total"]["bit_exact"] is True


@pytest.fixture
def narrow_file(network_file: Path, tmp_path: Path) -> Path:
    """The same network in bfloat16."""
    path = tmp_path / "narrow.toml"
    text = network_file.read_text().replace("[[layer]]", 'format = "bfloat16"\n[[layer]]', 1)
    path.write_text(text)
    return path


def test_words_of_a_narrow_format(narrow_file: Path, tmp_path: Path) -> None:
    network = read_network(narrow_file)
    words = to_bits(NUMBERS, BFLOAT16)
    assert (read_maps(file_of(tmp_path, input=NUMBERS), None, network, CNN_MERP) == words).all()
    assert (read_maps(file_of(tmp_path, input=words), None, network, CNN_MERP) == words).all()


def changed(place: tuple[int, ...], value: float) -> np.ndarray:
    numbers = NUMBERS.copy()
    numbers[place] = value
    return numbers


@pytest.mark.parametrize(
    ("arrays", "options", "wanted"),
    [
        ({"images": NUMBERS}, (), "maps.npz: keys images: allowed is input"),
        ({"input": NUMBERS, "labels": NUMBERS}, (), "keys input, labels: allowed is input"),
        ({}, (), "keys none: allowed is input"),
        ({"input": NUMBERS[0]}, (), "input: size (3, 4, 5): five takes (images, 3, 4, 5)"),
        ({"input": NUMBERS[:0]}, (), "input: size (0, 3, 4, 5): five takes"),
        ({"input": NUMBERS[..., :3]}, (), "input: size (3, 3, 4, 3): five takes"),
        ({"input": np.full((3, *SIZE), (1 << 24) + 1)}, (), "input[0, 0, 0, 0] = 16777217: allow"),
        ({"input": np.zeros((3, *SIZE), complex)}, (), "input: type '<c16': allowed are"),
        ({"input": np.full((3, *SIZE), {})}, (), "input: type '|O': allowed are numbers"),
        ({"input": changed((1, 2, 3, 4), np.nan)}, (), "input[1, 2, 3, 4] = nan: allowed are fin"),
        ({"input": changed((0, 0, 0, 1), 1e39)}, (), "input[0, 0, 0, 1] = 1e+39: allowed are"),
        ({"input": NUMBERS}, ("--images", "4"), "--images 4: "),
        ({"input": NUMBERS}, ("--image", "a.png"), "not allowed with argument --i"),
        ({"input": np.zeros((4, *SIZE))}, (), "needs max_images = 4: the design has"),
    ],
)  # fmt: skip
def test_maps_that_cannot_be_used_are_one_line(
    arrays: dict[str, np.ndarray],
    options: tuple[str, ...],
    wanted: str,
    network_file: Path,
    terminal: Terminal,
    tmp_path: Path,
) -> None:
    file, folder = file_of(tmp_path, **arrays), tmp_path / "out"
    words = ["simulate", str(network_file), "--input", str(file), "-o", str(folder), *options]
    output = terminal.refusal(*words)
    assert wanted in output
    assert not folder.exists()


def test_a_word_wider_than_the_format_is_named(
    narrow_file: Path, terminal: Terminal, tmp_path: Path
) -> None:
    words = np.zeros((1, *SIZE), np.uint32)
    words[0, 1, 2, 3] = 1 << 16
    line = terminal.refusal("simulate", narrow_file, "--input", file_of(tmp_path, input=words))
    assert "input[0, 1, 2, 3] = 0x10000: allowed are words of 16 bits" in line


@pytest.fixture
def in_bytes(tmp_path: Path) -> Path:
    """The network, its image in bytes."""
    path = tmp_path / "bytes.toml"
    path.write_text(f"{NETWORK}[network.storage]\nimage = 'uint8'\nimage_scale = 0.125\n")
    return path


def test_an_image_in_bytes_is_random_bytes_or_what_is_given(
    in_bytes: Path, tmp_path: Path, terminal: Terminal
) -> None:
    network = read_network(in_bytes)
    own = to_values(input_maps(network, 2), BINARY32) * 8
    assert (own == np.rint(own)).all()
    assert own.min() >= 0
    assert own.max() <= 255
    assert own.std() > 50
    maps = np.arange(120.0).reshape(2, *SIZE) / 8
    words = "simulate", in_bytes, "--input", file_of(tmp_path, input=maps)
    for phase, port in (("fp", "map_in"), ("ku", "map_in")):
        found = terminal.answer(*words, "--layer", "conv1", "--phase", phase)
        assert found["bit_exact"]
        assert found["ports"][port]["monitor"] == maps.size
    every = terminal.answer(*words, "--layer", "all", "--phase", "all")
    moved = [run["mb_per_gflop"]["full"] * run["operations"] for run in every["runs"]]
    total = every["total"]  # of words of one byte and of four on ports of one name
    assert total["mb_per_gflop"]["full"] * total["operations"] == pytest.approx(sum(moved))
    with pytest.raises(BadInput, match=r"input\[0, 0, 0, 1\] = 32.0: allowed are 0 to 31.875: "):
        read_maps(
            file_of(tmp_path, input=(maps[:1] == maps[0, 0, 0, 1]) * 32.0), None, network, CNN_MERP
        )
