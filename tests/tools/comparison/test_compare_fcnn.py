"""``merp compare --measured`` and ``merp report --measured`` with runs of F-CNN's modules."""

import json
from pathlib import Path
from typing import Any

import pytest

from merp.models.network.network_file import read_network
from merp.models.traffic.bytes import bytes_of
from merp.models.traffic.count import Count
from merp.tools.cli import main
from network_text import layer, max_pool, network_text
from terminal import Terminal

FCNN = {"architecture": "fcnn", "lanes": 2, "mul_latency": 1, "add_latency": 1}
IMAGES = 2


def text(name: str, **designs: dict[str, Any]) -> str:
    """The same layers on a machine; 3 maps are no multiple of 2 maps at once."""
    return network_text(
        name,
        (5, 5, 1),
        layer("conv1", 2, kernel=2, pool=max_pool(2, 2), design="a"),
        layer("conv2", 3, kernel=1, design="b"),
        layer("fc3", 2, activation="none", design="c"),
        designs=designs,
    )


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both networks, and the runs of all their phases."""
    folder = tmp_path_factory.mktemp("machines")
    texts = {
        "ours": text("ours", a={"k": 2, "n_cu": 2}, b={"k": 1, "n_cu": 2}, c={"k": 1, "n_cu": 2}),
        "theirs": text("theirs", a=FCNN, b={**FCNN, "maps_at_once": 2}, c=FCNN),
    }
    for name, each in texts.items():
        (folder / f"{name}.toml").write_text(each)
        words = ["simulate", folder / f"{name}.toml", "--layer", "all", "--phase", "all"]
        words += ["--images", IMAGES, "-o", folder / name]
        assert main([str(word) for word in words]) == 0
    return folder


def compared(given: Path) -> list[str]:
    words = ["compare", given / "ours.toml", "--scope", "all", "--batch", IMAGES]
    words += ["--architecture", "cnn-merp,fcnn"]
    for name in ("ours", "theirs"):
        words += ["--measured", f"{given / name}.toml={given / name}"]
    return [str(word) for word in words]


@pytest.mark.full
def test_compare_shows_both_on_the_pins(given: Path, tmp_path: Path) -> None:
    """State is bytes. Pooling's bytes are in fp, without operations."""
    assert main([*compared(given), "-o", str(tmp_path / "page.html")]) == 0
    rows = json.loads((tmp_path / "page.json").read_text())["tables"]["pins"]["rows"]
    assert [(row["architecture"], row["network"]) for row in rows] == [
        ("cnn-merp", "ours"), ("fcnn", "theirs"),
    ]  # fmt: skip
    assert rows[1]["traffic_fp"] > 2 * rows[0]["traffic_fp"]
    runs = json.loads((given / "theirs" / "simulate.json").read_text())["runs"]
    assert rows[1]["cycles_step"] == sum(run["cycles"]["total"] for run in runs)
    assert rows[1]["words"] == sum(run["words_compared"] for run in runs)
    network = read_network(given / "theirs.toml")
    layers = bytes_of(network).layers(network, IMAGES, Count(name="all"))
    moved = sum(sum(each.fp.streams.values()) for each in layers)
    operations = sum(each.operations(IMAGES) for each in network.layers)
    assert rows[1]["traffic_fp"] == pytest.approx(1e3 * moved / operations)


@pytest.mark.parametrize("phase", ["pool", "unpool"])
def test_compare_asks_for_every_phase(phase: str, given: Path, terminal: Terminal) -> None:
    place = given / "theirs" / "simulate.json"
    whole = place.read_text()
    record = json.loads(whole)
    record["runs"] = [run for run in record["runs"] if run["phase"] != phase]
    place.write_text(json.dumps(record))
    try:
        assert f"conv1 {phase} is missing" in terminal.refusal(*compared(given))
    finally:
        place.write_text(whole)


def test_report_confirms_every_run(given: Path, tmp_path: Path, terminal: Terminal) -> None:
    page = tmp_path / "page.html"
    words = ["report", given / "theirs.toml", "--batch", IMAGES, "--measured", given / "theirs"]
    terminal.output(*words, "-o", page)
    tables = json.loads(page.with_suffix(".json").read_text())["tables"]
    rows = tables["measured"]["rows"]
    assert {row["result"] for row in rows} == {"confirmed"}
    assert {row["difference"] for row in rows} == {0}
    cycles = {(row["layer"], row["phase"]): row["cycles"] for row in tables["cycles"]["rows"]}
    assert cycles == {(row["layer"], row["phase"]): row["measured_cycles"] for row in rows}
