"""A network exported on a chain of boards: a package for each node, with its part of a step."""

import json
import shutil
from pathlib import Path
from typing import Any

import clusters
import pytest

from merp.tools import cli
from packages import bench, built, manifest_of
from terminal import Terminal

CHAIN = ("--architecture", "chain", "--devices", 3)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chain") / "cut.toml"
    path.write_text(clusters.CUT)
    return path


@pytest.fixture(scope="module")
def exported(network: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three nodes, and more images than may be on their way."""
    folder = tmp_path_factory.mktemp("exported")
    words = ["export", network, *CHAIN, "--images", 3, "--depth", 2, "-o", folder]
    assert cli.main([str(word) for word in words]) == 0
    return folder


@pytest.mark.full
def test_what_leaves_a_node_goes_into_its_neighbour(exported: Path) -> None:
    schedule = json.loads((exported / "schedule.json").read_text())
    nodes = [each["name"] for each in schedule["nodes"]]
    assert nodes == ["cut-node-0", "cut-node-1", "cut-node-2"]
    shares = [share for node in schedule["nodes"] for share in node["shares"]]
    assert [(each["layer"], each["maps"]) for each in shares] == [
        ("conv1", [0, 1]), ("conv2", [0, 1]), ("conv2", [1, 3]), ("fc3", [0, 12]),
    ]  # fmt: skip
    assert len(schedule["links"]) == 7
    for link in schedule["links"]:
        out, into = (vectors_of(exported, nodes, link[end]) for end in ("from", "to"))
        assert out == into
        assert len(out) == link["words"] > 0


def vectors_of(folder: Path, nodes: list[str], end: dict[str, Any]) -> list[str]:
    path = folder / nodes[end["node"]] / "vectors" / "small" / f"{end['stream']}.txt"
    return path.read_text().split()


@pytest.mark.full
def test_pages_say_what_a_node_is(exported: Path) -> None:
    manifest = manifest_of(exported / "cut-node-1")
    assert manifest["title"] == "cut on a chain of 3, node 1: conv2 maps 1 to 2"
    assert manifest["answers"] == {
        "s_axis_back_errors": {"stream": "m_axis_back_maps", "words": 12, "given": 12}
    }
    page = (exported / "cut-node-1" / "README.md").read_text()
    assert "`share3` is conv2 maps 1 to 2" in page
    assert "| `s_axis_front_sums` | partial sums in the order image, row, column, map |" in page
    whole = (exported / "README.md").read_text()
    assert "| node 0 `m_axis_back_sums` | node 1 `s_axis_front_sums` | 144 |" in whole


@pytest.mark.full
@pytest.mark.ghdl
@pytest.mark.parametrize("node", [0, 1, 2])
def test_the_bench_of_a_node_passes_in_ghdl_alone(
    exported: Path, tmp_path: Path, node: int
) -> None:
    package = built(shutil.copytree(exported / f"cut-node-{node}", tmp_path / "copy"))
    compared = manifest_of(package)["vectors"]["small"]["words_compared"]
    for generics in ((), ("-gPAUSE=30",), ("-gABORT_AT=150",)):
        status, lines = bench(package, *generics)
        assert (status, lines[-1]) == (0, "PASS"), lines
        assert f", compared {compared}, wrong 0;" in lines[-2]
    words = package / "vectors" / "small" / "m_axis_back_maps.txt"
    lines = words.read_text().split()
    words.write_text("\n".join([*lines[:2], f"{int(lines[2], 16) ^ 1:08x}", *lines[3:]]) + "\n")
    status, lines = bench(package)
    assert status != 0
    assert any("first mismatch on m_axis_back_maps, word 2: " in line for line in lines)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--devices", 3), "--devices 3: allowed with --architecture chain"),
        ((*CHAIN, "--layer", "conv1"), "--layer: --architecture chain has all layers and phases"),
        ((*CHAIN[:3], 6), "--devices 6: cut has pieces for 5 nodes at most"),
        ((*CHAIN, "--images", 257), "--images: must be a whole number from 1 to 256, not '257'"),
    ],
)
def test_what_no_chain_has_is_refused_in_one_line(
    network: Path, terminal: Terminal, more: tuple[object, ...], told: str
) -> None:
    words = [str(word) for word in ("export", network, *more)]
    err = terminal.refusal(*words)
    assert told in err


def test_words_too_long_for_a_bench_are_refused(
    network: Path, terminal: Terminal, tmp_path: Path
) -> None:
    wide = tmp_path / "wide.toml"
    text = network.read_text().replace(
        "k = 3\n", 'k = 3\ncu_kind = "fused"\naccumulator_precision = 28\n'
    )
    wide.write_text(text)
    line = terminal.refusal("export", wide, *CHAIN, "-o", tmp_path / "out")
    assert "has words of 40 bits: allowed are 32" in line
    assert not (tmp_path / "out").exists()
