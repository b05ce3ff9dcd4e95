"""Records of simulations: what they confirm, and what they do not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from merp.models.cnn_merp.phases import maps_behind
from merp.models.errors import BadInput
from merp.models.traffic.closed_form import delta_port_words, port_words, update_port_words
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.report.measured import read_records

DIGITS = open_network("digits")
FIRST, SECOND, LAST = (layer.shape for layer in DIGITS.layers)


def run_of(layer: str, phase: str, words: dict[str, int], **other: Any) -> dict[str, Any]:
    """A run as ``merp simulate`` writes it, of two images."""
    ways = ("closed_form", "counter", "hardware", "monitor")
    return {
        "network": "digits", "layer": layer, "group": 0, "groups": 1, "phase": phase,
        "engine": "myhdl", "cu_array": "behavioural", "cu_kind": "tree", "n_cu": 4,
        "elaboration_sha": "ab" * 32, "images": 2, "bit_exact": True, "mismatches": 0,
        "words_compared": 10, "failures": [], "cycles": {"total": 1000, "kernel_load": 100},
        "ports": {port: dict.fromkeys(ways, count) for port, count in words.items()},
    } | other  # fmt: skip


def write(folder: Path, *runs: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    record = runs[0] if len(runs) == 1 else {"network": "digits", "runs": runs}
    (folder / "simulate.json").write_text(json.dumps(record))
    return folder


FORWARD = run_of("conv2", "fp", port_words(SECOND, 2))


def test_each_phase_is_confirmed_against_this_network(tmp_path: Path) -> None:
    maps = maps_behind(SECOND, FIRST)
    runs = [
        FORWARD,
        run_of("conv2", "dp", delta_port_words(SECOND, FIRST, maps, 2, False)),
        run_of("conv2", "dp", delta_port_words(SECOND, SECOND, SECOND.m, 2, True)),
        run_of("conv2", "ku", update_port_words(SECOND, 2)),
        run_of("conv2", "ku", update_port_words(SECOND, 2, True)),
    ]
    found = read_records([write(tmp_path, *runs)], DIGITS)
    assert [each.faults for each in found] == [()] * 5
    assert [each.deltas for each in found] == ["sums", "sums", "pooled", "sums", "pooled"]
    assert (
        found[0].command
        == "merp simulate digits --layer conv2 --phase fp --images 2 --engine myhdl"
    )
    assert found[2].command.endswith("--delta-at pooled")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"images": 3}, "words, .* by closed form"),
        ({"layer": "conv1"}, "map_in: 512 words, 128 by closed form"),
        ({"bit_exact": False, "mismatches": 7}, "7 words differ from the golden"),
        ({"failures": ["total: no sum"]}, "total: no sum"),
    ],
)
def test_a_record_that_does_not_fit_confirms_nothing(
    change: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    (found,) = read_records([write(tmp_path, FORWARD | change)], DIGITS)
    assert not found.confirms
    assert re.search(fault, "; ".join(found.faults))


def test_counts_that_differ_confirm_nothing(tmp_path: Path) -> None:
    ports = json.loads(json.dumps(FORWARD["ports"]))
    ports["map_in"]["hardware"] += 1
    (found,) = read_records([write(tmp_path, FORWARD | {"ports": ports})], DIGITS)
    assert "map_in: counts differ" in found.faults[0]


def test_delta_propagation_of_a_first_layer_confirms_nothing(tmp_path: Path) -> None:
    (found,) = read_records([write(tmp_path, FORWARD | {"layer": "conv1", "phase": "dp"})], DIGITS)
    assert not found.confirms


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "network = None: must be 'digits'"),
        ('{"network": "alexnet"}', "network = 'alexnet': must be 'digits'"),
        ('{"network": "digits"}', "not what merp simulate wrote: 'layer'"),
    ],
)
def test_what_is_no_record_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "simulate.json").write_text(text)
    with pytest.raises(BadInput, match=message):
        read_records([tmp_path], DIGITS)


@pytest.fixture
def no_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw nothing: these tests read tables."""
    monkeypatch.setattr(
        "merp.tools.report.page.charts", lambda document: dict.fromkeys(document["figures"], "")
    )


@pytest.mark.usefixtures("no_charts")
def test_the_report_marks_what_was_measured(tmp_path: Path) -> None:
    good = write(tmp_path / "good", FORWARD)
    page = tmp_path / "report.html"
    assert main(["report", "digits", "--measured", str(good), "-o", str(page)]) == 0
    tables = json.loads(page.with_suffix(".json").read_text())["tables"]
    bases = {row["layer"]: row["fp_basis"] for row in tables["traffic-paper"]["rows"]}
    assert bases == {
        "conv1": "modelled", "conv2": "measured", "fc3": "modelled",
        "conv layers": "modelled", "all layers": "modelled",
    }  # fmt: skip
    assert {row["ku_basis"] for row in tables["traffic-paper"]["rows"]} == {"modelled"}
    assert {row["fp_basis"] for row in tables["traffic-full"]["rows"]} == {"modelled"}
    (row,) = tables["measured"]["rows"]
    assert (row["result"], row["link"], row["elaboration_sha"]) == (
        "confirmed", "good/simulate.json", "ab" * 32,
    )  # fmt: skip
    assert 'class="basis measured"' in page.read_text()


@pytest.mark.usefixtures("no_charts")
def test_a_record_with_a_fault_is_shown_and_fails_the_report(tmp_path: Path) -> None:
    bad = write(tmp_path / "bad", FORWARD | {"bit_exact": False, "mismatches": 1})
    page = tmp_path / "report.html"
    assert main(["report", "digits", "--measured", str(bad), "-o", str(page)]) == 1
    text = page.read_text()
    assert "1 words differ from the golden" in text
    assert 'class="basis measured"' not in text
