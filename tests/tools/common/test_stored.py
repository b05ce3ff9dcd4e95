"""What answers, tables and the page say of a network whose tensors lie in memory as it says."""

import json
from pathlib import Path

import pytest
from stored_networks import MIXED, stored

from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.phases import delta_design, update_design
from merp.models.machines.cnn_merp.throughput import with_cus
from merp.models.traffic.closed_form import network_traffic, total
from merp.models.traffic.count import Count
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.simulate.picked import pick
from terminal import Terminal

NETWORK = """
base = "digits"
[network]
name = "narrow"
storage = {{ {} }}
"""
HALVES = 'maps = "bfloat16", deltas = "bfloat16"'
FORMATS = {"maps": "bfloat16", "deltas": "bfloat16", "kernels": "binary32", "gradients": "binary32"}
GROUPED = "maps, deltas bfloat16; kernels, gradients binary32"
SAID = "maps bfloat16, deltas bfloat16, kernels binary32, gradients binary32"


@pytest.fixture
def narrow(tmp_path: Path) -> str:
    path = tmp_path / "narrow.toml"
    path.write_text(NETWORK.format(HALVES))
    return str(path)


def test_answers_of_traffic_name_the_format_of_each_tensor(
    narrow: str, terminal: Terminal, tmp_path: Path
) -> None:
    words = ("--count", "all", "--state-bits", "pooled", "--batch", "3")
    found = terminal.answer("traffic", narrow, *words)
    assert found["storage"] == FORMATS
    assert "word_bytes" not in found
    layers = network_traffic(open_network(narrow), 3, Count(name="all", state="pooled"))
    assert found["total_all"]["step"]["bytes"] == total(layers, "step").bytes
    conv2 = found["layers"][1]
    assert conv2["fp"]["streams"]["map_in"] == 2 * 3 * 16 * 4 * 4
    assert conv2["dp"]["streams"]["kernel"] == 4 * 16 * 32 * 9
    assert conv2["ku"]["momentum_bytes"] == 2 * 4 * (16 * 32 * 9 + 32)
    both = terminal.answer("traffic", "digits", "--compare", narrow)["networks"]
    assert both[0]["word_bytes"] == 4
    assert "storage" not in both[0]
    assert both[1]["storage"] == FORMATS
    steps = terminal.answer("traffic", narrow, "--strategies")
    assert steps["storage"] == FORMATS
    # All of one width, though not of the arithmetic's: a word has two bytes.
    same = tmp_path / "same.toml"
    formats = 'maps = "bfloat16", deltas = "binary16", kernels = "bfloat16", gradients = "bfloat16"'
    same.write_text(NETWORK.format(formats))
    found = terminal.answer("traffic", same)
    assert (found["word_bytes"], found["storage"]["deltas"]) == (2, "binary16")


def test_tables_say_how_words_are_stored_if_the_file_does(narrow: str, terminal: Terminal) -> None:
    for words in (["traffic"], ["traffic", "--strategies"], ["plan", "--board", "kc705"]):
        verb, *options = words
        assert f"In memory: {SAID}." in terminal.prose(verb, narrow, *options)
        assert "In memory" not in terminal.prose(verb, "digits", *options)
    assert f"B: In memory: {SAID}." in terminal.prose("traffic", "digits", "--compare", narrow)


def test_a_plan_moves_what_is_stored(narrow: str, terminal: Terminal) -> None:
    words = ("--board", "kc705", "--batch", "2")
    found = terminal.answer("plan", narrow, *words)
    plain = terminal.answer("plan", "digits", *words)
    assert found["storage"] == FORMATS
    assert "storage" not in plain
    for ours, before in zip(found["layers"], plain["layers"], strict=True):
        assert ours["cycles"] == before["cycles"]
        for port, count in ours["ports"].items():
            narrower = port.startswith(("map", "delta"))
            assert before["ports"][port] == (2 if narrower else 1) * count


def test_the_page_says_it_where_it_spoke_of_a_word(narrow: str, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert main(["report", narrow, "--batch", "2", "--board", "kc705", "-o", str(page)]) == 0
    found = json.loads(page.with_suffix(".json").read_text())
    assert found["storage"] == FORMATS
    assert "word_bytes" not in found
    assert any(f"computed in binary32 and stored as: {SAID}." in x for x in found["assumptions"])
    tables = found["tables"]
    assert "the 16-bit activation" in tables["traffic-full"]["caption"]
    for row in tables["attainable"]["rows"]:
        assert row["bits"] is None
        assert row["includes"].endswith(SAID)
    assert "or words differ" in tables["attainable"]["caption"]
    rows = {row["variant"]: row for row in tables["variants"]["rows"]}
    stored = rows["pooled deltas + formats as stored"]
    assert (stored["formats"], stored["hardware"]) == (GROUPED, "yes")
    network = open_network(narrow)
    for state, table in (("32", "traffic-full"), ("pooled", "traffic-pooled")):
        layers = network_traffic(network, 2, Count(name="all", state=state))
        sums = tables[table]["rows"][-1]
        for phase in ("fp", "dp", "ku"):
            assert sums[f"{phase}_bytes"] == total(layers, phase).bytes
    bounds = {(row["layer"], row["phase"]): row for row in tables["bounds"]["rows"]}
    conv2 = bounds["conv2", "FP"]
    assert conv2["fused_bytes"] == 2 * 2 * (16 * 16 + 32 * 4) + 4 * 16 * 32 * 9


def test_designs_that_are_sized_anew_store_as_the_network_does() -> None:
    """Those of the way back, and of another number of units."""
    network = stored(open_network("digits"))
    layer = network.layer("conv2")
    other = design_of(pick(network, "conv2", None, 8).network, layer)
    assert (other.n_cu, other.storage) == (8, MIXED)
    assert with_cus(network, 2).design(layer).storage == MIXED
    assert delta_design(network, layer).engine.storage == MIXED
    assert update_design(network, layer).storage == MIXED
