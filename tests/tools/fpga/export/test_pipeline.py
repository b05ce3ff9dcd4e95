"""A network exported as a pipeline: one AXI shell, and a step of training in its bench."""

import shutil
from pathlib import Path
from typing import Any

import pipelines
import pytest

from merp.tools import cli
from merp.tools.common.data import DATA
from packages import bench, built, manifest_of
from terminal import Terminal

MAZOUZ = ("--architecture", "pipeline")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pipeline") / "small.toml"
    path.write_text(pipelines.SMALL)
    return path


def exported(network: Path, folder: Path, *more: object) -> Path:
    words = ["export", network, *MAZOUZ, "--images", 2, "-o", folder, *more]
    assert cli.main([str(word) for word in words]) == 0
    return folder / "small-pipeline"


@pytest.mark.full
def test_a_package_says_what_a_pipeline_is(network: Path, tmp_path: Path) -> None:
    package = exported(network, tmp_path, "--depth", 2)
    manifest = manifest_of(package)
    assert manifest["title"] == "small, a training pipeline of 2 layers, 3 CUs in each phase"
    assert (manifest["depth"], manifest["images"]) == (2, 2)
    kernels, biases = 4 * 9 + 2 * 32, 4 + 2
    assert manifest["vectors"]["small"]["words_compared"] == 2 * 2 + kernels + biases
    assert manifest["streams"]["s_axis_layer2_fp_kernel"]["port"] == "layer2_fp_kernel"
    page = (package / "README.md").read_text()
    assert "`layer1` is conv1, `layer2` is fc2" in page
    assert "kernels in the order m, n, row, column of fc2, for its update" in page
    assert "with at most 2 of them in flight takes" in page
    header = (package / "software" / "merp_small_pipeline.h").read_text()
    assert "#define MERP_SMALL_PIPELINE_CONFIG_LAYER2_DP_UNPOOL_CONFIG_MAPS 0x" in header


@pytest.mark.full
@pytest.mark.ghdl
def test_the_bench_of_a_step_passes_in_ghdl_alone(network: Path, tmp_path: Path) -> None:
    package = built(shutil.copytree(exported(network, tmp_path / "in"), tmp_path / "copy"))
    compared = manifest_of(package)["vectors"]["small"]["words_compared"]
    for generics in ((), ("-gPAUSE=30",), ("-gABORT_AT=150",)):
        status, lines = bench(package, *generics)
        assert (status, lines[-1]) == (0, "PASS"), lines
        assert f", compared {compared}, wrong 0;" in lines[-2]
    words = package / "vectors" / "small" / "m_axis_layer1_ku_kernel.txt"
    lines = words.read_text().split()
    words.write_text("\n".join([*lines[:2], f"{int(lines[2], 16) ^ 1:08x}", *lines[3:]]) + "\n")
    status, lines = bench(package)
    assert status != 0
    assert any("first mismatch on m_axis_layer1_ku_kernel, word 2: " in line for line in lines)


def test_what_no_pipeline_has_is_refused_in_one_line(
    network: Path, terminal: Terminal, tmp_path: Path
) -> None:
    fused = tmp_path / "fused.toml"
    text = (DATA / "tiny3.toml").read_text()
    fused.write_text(text.replace("input =", 'layer_fusion = ["conv1", "conv2"]\ninput =', 1))
    asked: list[tuple[tuple[Any, ...], str]] = [
        ((network, "--layer", "conv1", "--depth", 2), "--depth 2: allowed with --architecture"),
        ((network, *MAZOUZ, "--layer", "conv1"), "--layer: --architecture pipeline has all layers"),
        ((network, *MAZOUZ, "--phase", "fp"), "--phase: --architecture pipeline has all layers"),
        ((network, *MAZOUZ, "--images", 256, "--depth", 257), "from 1 to 256, not '257'"),
        (("resnet-digits", *MAZOUZ), "layer conv3: it adds the output of another layer"),
        ((fused, *MAZOUZ), "layer conv1: the network fuses layers: a pipeline does not support it"),
        (("alexnet", *MAZOUZ), "layer fc6 has no design"),
        (("cifar10-1x", *MAZOUZ), "7 layers in one AXI shell: pipeline_axi: 5192 bytes of regis"),
    ]
    for words, told in asked:
        assert told in terminal.refusal("export", *words, "-o", tmp_path), told
