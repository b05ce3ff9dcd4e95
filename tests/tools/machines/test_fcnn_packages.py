"""Packages of F-CNN's modules: their benches pass in GHDL alone, and the schedule has every run."""

import json
from pathlib import Path

import pytest

from marks import few
from network_text import layer, max_pool, network_text
from packages import bench, built, manifest_of
from terminal import Terminal

FAST = {"architecture": "fcnn", "mul_latency": 1, "add_latency": 2}
TEXT = network_text(
    "small",
    (6, 6, 2),
    layer("conv1", 3, kernel=2, pool=max_pool(2, 2), design="a"),
    layer("conv2", 2, kernel=2, pool=max_pool(2, 2), pad=1, design="a"),
    layer("fc3", 3, activation="none", design="b"),
    designs={
        "a": {**FAST, "lanes": 2, "maps_at_once": 2},
        "b": {**FAST, "lanes": 2, "block": 2},
    },
)
PACKAGES = ("a-fp", "a-pool", "a-unpool", "a-dp", "a-ku", "b-fp", "b-dp", "b-ku")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All designs of the network in all phases."""
    from merp.tools.cli import main

    folder = tmp_path_factory.mktemp("fcnn")
    file = folder / "small.toml"
    file.write_text(TEXT)
    words = ["export", str(file), "--all", "--images", "4", "-o", str(folder / "all")]
    assert main(words) == 0
    return folder / "all"


@pytest.mark.ghdl
@pytest.mark.parametrize("package", few(PACKAGES, "a-unpool"))
def test_the_bench_passes_in_ghdl_alone(package: str, exported: Path) -> None:
    folder = built(exported / f"small-{package}")
    for generics in ((), ("-gPAUSE=40", "-gSEED=3"), ("-gABORT_AT=40",)):
        status, lines = bench(folder, *generics)
        assert (status, lines[-1]) == (0, "PASS"), lines
        compared = manifest_of(folder)["vectors"]["small"]["words_compared"]
        assert compared > 0
        assert f", compared {compared}, wrong 0;" in lines[-2]


def test_the_schedule_has_each_run_with_its_arrays(exported: Path) -> None:
    """Arrays are read after they are written; the host makes kernels, and reads gradients."""
    assert {path.name for path in exported.iterdir() if path.is_dir()} == {
        f"small-{package}" for package in PACKAGES
    }
    schedule = json.loads((exported / "schedule.json").read_text())
    ran = [(each["layer"], each["bitstream"].rpartition("-")[2]) for each in schedule["passes"]]
    assert ran == [
        ("conv1", "fp"), ("conv1", "pool"), ("conv2", "fp"), ("conv2", "pool"), ("fc3", "fp"),
        ("fc3", "dp"), ("conv2", "unpool"), ("conv2", "dp"), ("conv1", "unpool"),
        ("conv1", "ku"), ("conv2", "ku"), ("fc3", "ku"),
    ]  # fmt: skip
    known = {("images", None)}
    for each in schedule["passes"]:
        streams = each["streams"]
        arrays = {name: (told["array"], told["layer"]) for name, told in streams.items()}
        read = {array for name, array in arrays.items() if name.startswith("s_")}
        written = {array for name, array in arrays.items() if name.startswith("m_")}
        of_host = {array for array in read if array[0] in ("kernels", "biases", "turned kernels")}
        of_host |= {array for array in read if array == ("maps and ones", "conv2")}
        of_loss = {array for array in read if array in (("deltas", "fc3"),)}
        own = written if each["bitstream"].endswith(("-fp", "-dp")) else set()  # partial sums
        assert read <= known | of_host | of_loss | own, each
        known |= written
    assert {layer for array, layer in known if array == "gradients"} == {"conv1", "conv2", "fc3"}


def test_images_of_an_export_fill_the_lanes(tmp_path: Path, terminal: Terminal) -> None:
    file, out = tmp_path / "small.toml", tmp_path / "out"
    file.write_text(TEXT)
    told = terminal.refusal("export", file, "--layer", "conv1", "--images", 3, "-o", out)
    assert told == (
        "merp: small: conv1: 3 images: allowed are multiples of 2 (lanes) up to 128 (max_images)"
    )
    assert not out.exists()
