"""Sizes that a network asks for: what no machine has is one line, before anything is allocated."""

import resource
from pathlib import Path

import numpy as np
import pytest

from merp.models.base import memory
from merp.tools.cli import main

HEAD = '[network]\nname = "big"\ninput = {{ rows = {}, columns = {}, channels = {} }}\n'
LAYER = '[[layer]]\nname = "{}"\nmaps = {}\n'
DESIGN = "[design.k]\nk = {}\nn_cu = {}\nr = 1\n"


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What is said, within 4 GB more than this process has."""
    with Path("/proc/self/statm").open() as statm:
        now = int(statm.read().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + (4 << 30), limits[1]))
    try:
        status = main([str(word) for word in words])
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    out, err = capsys.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)
    return err


def test_training_a_huge_fully_connected_layer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, data = tmp_path / "net.toml", tmp_path / "data.npz"
    file.write_text(HEAD.format(1, 1, 65536) + LAYER.format("fc1", 65536))
    np.savez(data, images=np.zeros((10, 1, 1, 65536)), labels=np.arange(10))
    said = refusal(capsys, "train", file, "--data", data, "--batch", 4, "-o", tmp_path / "made")
    assert "merp: train big, batch 4: needs at least 120.3 GB of memory: allowed are " in said


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        ("", ["--images", "200"]),
        ("", ["--images", "200", "--phase", "ku"]),
        (LAYER.format("fc9", 65536), ["--phase", "all"]),
        (LAYER.format("fc9", 65536), ["--state"]),
    ],
)
def test_simulating_and_exporting_huge_maps(
    layer: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "net.toml"
    text = HEAD.format(1024, 1024, 3) + LAYER.format("conv1", 8) + 'kernel = 1\ndesign = "k"\n'
    file.write_text(text + layer + DESIGN.format(1, 4))
    assert "merp: simulate big, " in refusal(capsys, "simulate", file, *words)
    if "all" not in words:
        made = tmp_path / "made"
        said = refusal(capsys, "export", file, "--layer", "conv1", "-o", made, *words)
        assert "merp: export big, " in said
        assert "GB of memory: allowed are " in said
        assert not made.exists()


def test_memories_that_no_simulation_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "net.toml"
    layer = LAYER.format("conv1", 2) + 'kernel = 11\ndesign = "k"\n'
    design = DESIGN.format(11, 1) + "row_words = 1000000\n"
    file.write_text(HEAD.format(16, 16, 1) + layer + design)
    said = refusal(capsys, "registers", file, "--layer", "conv1")
    assert "input and pooling memories of 121,000,001 words: at most 2,097,152 are" in said


@pytest.mark.parametrize("verb", [["simulate", "--phase", "dp"], ["registers", "--phase", "dp"]])
def test_a_way_back_beyond_a_limit(
    verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "net.toml"
    layers = [LAYER.format(f"conv{i}", maps) + "kernel = 1\n" for i, maps in ((1, 1), (2, 32768))]
    layers[1] += 'design = "k"\n'
    file.write_text(HEAD.format(40, 40, 1) + "".join(layers) + DESIGN.format(1, 64))
    said = refusal(capsys, verb[0], file, "--layer", "conv2", *verb[1:])
    assert "merp: big: design k: its layers in backward propagation: row_words must be" in said


def test_fewer_cus_than_the_kernels_fit_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "net.toml"
    layer = LAYER.format("conv1", 65536) + 'kernel = 1\ndesign = "k"\n'
    file.write_text(HEAD.format(2, 2, 32) + layer + DESIGN.format(1, 64))
    said = refusal(capsys, "simulate", file, "--cus", 1)
    assert "merp: --cus 1: kernel_words must be a whole number from 1 to 1048576" in said


def test_a_machine_gives_what_its_container_and_limit_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "CGROUP", tmp_path / "memory.max")
    whole = memory.machine_memory()
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.machine_memory() == whole
    (tmp_path / "memory.max").write_text("1000000\n")
    assert memory.machine_memory() == 1_000_000


@pytest.mark.parametrize("words", [["plan", "--board", "kc705"], ["traffic", "--count", "board"]])
def test_planning_huge_layers(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "net.toml"
    text = HEAD.format(4096, 4096, 65536)
    for name, kernel, pad in (("conv1", 3, 1), ("conv2", 11, 5)):
        text += LAYER.format(name, 65536) + f"kernel = {kernel}\npad = {pad}\n"
    file.write_text(text + LAYER.format("fc3", 10))
    said = refusal(capsys, words[0], file, *words[1:])
    assert "no design for conv2, fc3 fits xc7k325t" in said
