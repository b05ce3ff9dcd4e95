"""AlexNet's second layer on F-CNN's module: bytes per operation on the pins, beside CNN-MERP's."""

import json
from pathlib import Path

import pytest
from module_cycles import check_run

from merp.models.machines.fcnn.words import MAPS, work_of
from merp.models.network.network_file import read_network
from network_text import layer, network_text
from terminal import Terminal

IMAGES, MAPS_OF_L2 = 12, 128
CNN_MERP = 1.0113740283493369
"""MB/GFlop, count maps, that ``merp simulate alexnet --layer conv2 --phase fp`` measures."""


def l2(folder: Path, maps: int) -> Path:
    """A group of AlexNet's conv2 without pooling, with 12 images in a beat."""
    design = {"architecture": "fcnn", "lanes": IMAGES, "max_images": IMAGES, "maps_at_once": 1}
    path = folder / f"l2-{maps}.toml"
    conv2 = layer("conv2", maps, kernel=5, pad=2, design="l2")
    path.write_text(network_text(f"l2-{maps}", (27, 27, 48), conv2, designs={"l2": design}))
    return path


def by_formula(path: Path) -> tuple[float, float]:
    """MB/GFlop of counts maps and all, by the closed form."""
    network = read_network(path)
    (conv2,) = network.layers
    words = work_of(network, conv2, "fp", IMAGES).words
    operations = conv2.operations(IMAGES)
    maps = sum(count for port, count in words.items() if port in MAPS)
    return 4e3 * maps / operations, 4e3 * sum(words.values()) / operations


@pytest.mark.parametrize("maps", [1, 12, MAPS_OF_L2])
def test_ratio_does_not_depend_on_the_output_maps(maps: int, tmp_path: Path) -> None:
    """With m = 1, each output map reads n maps and n - 1 partial sums, and writes n sums.

    Kernels and biases of a map are n k^2 + 1 elements, whatever the number of maps.
    """
    n, taps, elements = 48, 25, 27 * 27 * IMAGES
    operations = 2 * n * taps * elements
    streams = 4e3 * (3 * n - 1) * elements / operations
    every = streams + 4e3 * (n * taps + 1) / operations
    assert by_formula(l2(tmp_path, maps)) == pytest.approx((streams, every), rel=1e-12)


def test_ratio_beside_cnn_merp(tmp_path: Path) -> None:
    """F-CNN moves 236 times the bytes of maps per operation."""
    assert by_formula(l2(tmp_path, MAPS_OF_L2))[0] / CNN_MERP == pytest.approx(235.65, abs=0.01)


@pytest.mark.full
@pytest.mark.verilator
def test_on_the_pins(tmp_path: Path, terminal: Terminal) -> None:
    """Every word of 12 output maps; the other 116 follow from the closed form."""
    path = l2(tmp_path, 12)
    words = ["simulate", path, "--phase", "fp", "--images", IMAGES, "--engine", "verilator"]
    ended = terminal.run(*words, "--json")
    assert ended.status == 0, ended.err
    run = json.loads(ended.out)
    check_run(read_network(path), run)
    assert run["words_compared"] == 48 * 12 * 27 * 27 * IMAGES
    found = run["mb_per_gflop"]
    assert (found["paper"], found["full"]) == pytest.approx(by_formula(path), rel=1e-12)


@pytest.mark.full
@pytest.mark.verilator
def test_cnn_merp_on_the_pins(terminal: Terminal) -> None:
    words = ["simulate", "alexnet", "--layer", "conv2", "--phase", "fp", "--group", "all"]
    ended = terminal.run(*words, "--engine", "verilator", "--json")
    assert ended.status == 0, ended.err
    assert json.loads(ended.out)["mb_per_gflop"]["paper"] == pytest.approx(CNN_MERP, rel=1e-12)
