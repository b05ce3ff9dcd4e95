"""Records of simulations: what they confirm, and what they do not."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.phases import maps_behind
from merp.models.network.branches import undone_shape
from merp.models.network.network import Network
from merp.models.network.network_file import read_network
from merp.models.network.phases import PHASES
from merp.models.traffic.closed_form import PhaseTraffic, network_traffic
from merp.models.traffic.count import Count
from merp.models.traffic.pass_words import (
    backward_port_words,
    begun_words,
    delta_port_words,
    port_words,
    update_port_words,
)
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.machines.cnn_merp.report.measured import read_records
from network_text import layer, max_pool, network_text
from simulated_records import DIGITS, run_of, write

pytestmark = pytest.mark.usefixtures("as_it_is")

FULL = Count(name="all", state="pooled")
FIRST, SECOND, LAST = (layer.shape for layer in DIGITS.layers)


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
    ("engine", "array", "told"),
    [
        ("myhdl", "behavioural", ""),
        ("myhdl", "rtl", " --cu-array rtl"),
        ("verilator", "rtl", ""),
        ("verilator", "behavioural", " --cu-array behavioural"),
        ("ghdl", "rtl", ""),
    ],
)
def test_the_command_names_an_array_that_is_not_the_engines_own(
    engine: str, array: str, told: str, tmp_path: Path
) -> None:
    run = run_of("conv2", "fp", port_words(SECOND, 2), engine=engine, cu_array=array)
    [found] = read_records([write(tmp_path, run)], DIGITS)
    assert found.command.endswith(f"--engine {engine}{told}")


def test_a_design_that_adds_has_its_port_for_layers_too_that_do_not(tmp_path: Path) -> None:
    """conv3 adds the output of conv1: back through conv2 its delta is what is begun at."""
    network = open_network("resnet-digits")
    first, second, third = (layer.shape for layer in network.layers[:3])
    elements = 2 * third.m * third.rows * third.columns
    words = {
        ("conv2", "fp"): (port_words(second, 2), 0),
        ("conv3", "fp"): (port_words(third, 2), elements),
        ("conv2", "dp"): (delta_port_words(second, first, first.m, 2, False), elements),
        ("conv3", "dp"): (delta_port_words(third, second, second.m, 2, False), 0),
    }
    there = [
        run_of(*which, found | {"add_in": add_in}, network)
        for which, (found, add_in) in words.items()
    ]
    found = read_records([write(tmp_path, *there)], network)
    assert [each.faults for each in found] == [()] * 4
    missing = [run_of(*which, found, network) for which, (found, _) in words.items()]
    told = [each.faults for each in read_records([write(tmp_path, *missing)], network)]
    assert ["add_in: None words" in faults[0] for faults in told] == [True] * 4


def test_deltas_that_start_at_others_are_confirmed(tmp_path: Path) -> None:
    """At a stored one, at one as it is, at nothing; conv5's is stored as conv6's."""
    residual = open_network("resnet-digits")
    starts = {
        "conv2": begun_words(residual.layer("conv3").shape, 8, 2),
        "conv4": {"add_in": 2 * 8 * 8 * 8, "add_state_in": 0},
        "conv5": {"add_in": 0, "add_state_in": 0},
    }
    runs = []
    for name, words in starts.items():
        shape = undone_shape(residual, residual.layer(name))
        own = delta_port_words(shape, shape, shape.m, 2, True)
        runs.append(run_of(name, "dp", own | words, residual))
    found = read_records([write(tmp_path, *runs)], residual)
    assert [each.faults for each in found] == [()] * 3
    assert {each.deltas for each in found} == {"pooled"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"images": 3}, "words, .* by closed form"),
        ({"layer": "conv1"}, "map_in: 512 words, 128 by closed form"),
        ({"bit_exact": False, "mismatches": 7}, "7 words differ from the golden model"),
        ({"failures": ["total: no sum"]}, "total: no sum"),
    ],
)
def test_a_record_that_does_not_fit_confirms_nothing(
    change: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    (found,) = read_records([write(tmp_path, FORWARD | change)], DIGITS)
    assert not found.confirms
    assert re.search(fault, "; ".join(found.faults))


def ports_of(words: dict[str, int], ways: tuple[str, ...]) -> dict[str, dict[str, int]]:
    return {port: dict.fromkeys(ways, count) for port, count in words.items()}


LYING = {
    "more groups than ran": ({"group": "all", "groups": 4}, "group all of 4: conv2 has 1"),
    "another group": ({"group": 1}, "group 1 of 1: conv2 has 1"),
    "nothing compared": ({"words_compared": 0}, "0 words compared of"),
    "other operations": ({"operations": 1}, "1 operations, .* by closed form"),
    "words of half the bytes": (
        {"mb_per_gflop": {"full": FORWARD["mb_per_gflop"]["full"] / 2}},
        "MB/GFlop, .* by its ports in 4-byte words",
    ),
    "one way of counting": (
        {"ports": ports_of(port_words(SECOND, 2), ("monitor",))},
        "map_in: counts differ",
    ),
    "a word that no one truly equal compares": (
        {"bit_exact": "yes"},
        "differ from the golden model",
    ),
    "mismatches": ({"mismatches": 1}, "1 words differ from the golden model"),
    "no phase": ({"phase": "up"}, "phase up: conv2 has none"),
    "a phase that the first layer has not": (
        run_of("conv1", "dp", {}), "phase dp: conv1 has none",
    ),
    "a port left out": (
        {"ports": {port: FORWARD["ports"][port] for port in ("map_in", "map_out", "kernel")}},
        "bias: None words",
    ),
    "a port too many": (
        {"ports": FORWARD["ports"] | ports_of({"state_in": 1}, tuple(FORWARD["ports"]["bias"]))},
        "state_in: 1 words, None by closed form",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "fault"), LYING.values(), ids=LYING)
def test_a_forged_record_confirms_nothing(
    change: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    (found,) = read_records([write(tmp_path, FORWARD | change)], DIGITS)
    assert not found.confirms
    assert re.search(fault, "; ".join(found.faults))
    for figure in (each.fp for each in network_traffic(DIGITS, 2)):
        assert not found.shows(figure, 2, every_port=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"images": 0}, "images = 0: must be a whole number from 1"),
        ({"images": True}, "images = True: must be"),
        ({"images": 2.0}, "images = 2.0: must be"),
        ({"words_compared": -1}, "words_compared = -1: must be a whole number from 0"),
        (
            {"ports": {"map_in": {"monitor": "512"}}},
            "ports = {'map_in': {'monitor': '512'}}: must be",
        ),
        ({"mb_per_gflop": {"full": "1"}}, "not a record of merp simulate"),
        ({"cycles": {"total": None, "kernel_load": 0}}, "cycles: total = None: must be"),
        ({"runs": []}, "it has no run"),
        ({"runs": {"a": 1}}, "it has no run"),
        ({"runs": [[]]}, "network is missing"),
        ({"layer": ["conv2"]}, "layer = ['conv2']: must be a name"),
        ({"engine": "\ud800"}, "must be a name"),
        ({"elaboration_sha": 7}, "elaboration_sha = 7: must be a name"),
        ({"group": []}, "group = []: must be the number of a group, or all"),
        ({"n_cu": {}}, "n_cu = {}: must be a whole number from 1"),
        ({"images": 1 << 64}, "must be a whole number from 1"),
        ({"failures": 3}, "failures = 3: must be a list of texts"),
        ({"ports": {"map_in": {"monitor": 1, "hardware": []}}}, "must be whole numbers from 0"),
        ({"ports": {"a\nb": {"monitor": 1}}}, "must be whole numbers from 0"),
        ({"operations": -1}, "operations = -1: must be"),
    ],
)
def test_values_of_no_record_are_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        read_records([write(tmp_path, FORWARD | change)], DIGITS)


GROUPED = network_text(
    "digits",
    (3, 3, 3),
    layer("conv1", 3, kernel=1, groups=3, design="k1"),
    layer("conv2", 6, kernel=1, groups=3, pool=max_pool(2, 1), design="k1"),
    designs={"k1": {"k": 1, "n_cu": 1, "r": 1}},
)


def grouped(tmp_path: Path, images: int) -> tuple[Network, list[dict[str, Any]]]:
    """A network whose groups do not fill bytes of state, and runs of all passes of its step."""
    file = tmp_path / "grouped.toml"
    file.write_text(GROUPED)
    network = read_network(file)
    runs = []
    for each in network_traffic(network, images, Count(name="all", state="pooled")):
        for phase in PHASES:
            figure: PhaseTraffic | None = getattr(each, phase)
            if figure is None:
                continue
            words = {
                port: count if port.startswith("state") else count // 4
                for port, count in figure.streams.items()
            }
            operations = each.layer.operations(images)
            runs.append(run_of("conv1", phase, words) | {
                "layer": each.layer.name, "group": "all", "groups": 3, "images": images,
                "operations": operations,
                "mb_per_gflop": {"full": figure.bytes / operations * 1000},
            })  # fmt: skip
    return network, runs


@pytest.mark.parametrize("images", [1, 2, 3, 8])
def test_a_record_shows_the_figure_of_its_own_batch_port_by_port(
    images: int, tmp_path: Path
) -> None:
    network, runs = grouped(tmp_path, images)
    found = read_records([write(tmp_path, *runs)], network)
    assert [each.faults for each in found] == [()] * 5
    for batch in (1, 2, 3, 8, 16):
        by_name = {
            each.layer.name: each
            for each in network_traffic(network, batch, Count(name="all", state="pooled"))
        }
        for each in found:
            figure: PhaseTraffic = getattr(by_name[each.layer.name], each.phase)
            shown = each.shows(figure, batch, every_port=True)
            # 9 and 4 * 3 * 2 bits a group: the latter always are whole bytes
            assert shown == (
                batch == images or each.layer.name == "conv2" or (images == 8 and batch == 16)
            )
            for port, count in figure.streams.items():
                forged = replace(figure, streams={**figure.streams, port: count + 1})
                assert not each.shows(forged, batch, every_port=True), port


def test_another_groupings_state_is_not_measured(tmp_path: Path) -> None:
    """27 bits in 4 bytes, where three groups move 6: once on the page, beside the record."""
    network, runs = grouped(tmp_path, 1)
    (found,) = read_records([write(tmp_path, runs[0])], network)
    figure = network_traffic(network, 1, Count(name="all", state="pooled"))[0].fp
    assert (figure.bytes, figure.streams["state_out"]) == (246, 6)
    old = replace(figure, streams={**figure.streams, "state_out": 4})
    assert found.shows(figure, 1, every_port=True)
    assert not found.shows(old, 1, every_port=True)


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
        ('{"network": "digits"}', "not a record of merp simulate: layer is missing"),
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
        "merp.tools.report.page.charts", lambda document, _: dict.fromkeys(document["figures"], "")
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
    assert "1 words differ from the golden model" in text
    assert 'class="basis measured"' not in text


FUSED = replace(DIGITS, backward="combined")
BOTH = run_of(
    "conv2",
    "bp",
    backward_port_words(SECOND, 2),
    operations=4 * DIGITS.layer("conv2").shape.macs(2),
)
BOTH["mb_per_gflop"] = {"full": BOTH["mb_per_gflop"]["full"] / 2}


@pytest.mark.full
def test_a_pass_of_both_backward_phases_is_confirmed_on_its_network(tmp_path: Path) -> None:
    [found] = read_records([write(tmp_path, BOTH)], DIGITS)
    assert found.faults == ()
    assert (found.network, found.deltas) == (FUSED, "pooled")
    assert found.command.endswith("--layer conv2 --phase bp --images 2 --engine myhdl")
    figure = network_traffic(FUSED, 16, FULL)[1].bp
    assert figure is not None
    assert found.shows(figure, 16, every_port=True)
    apart = network_traffic(DIGITS, 16, FULL)[1]
    assert apart.ku is not None
    assert not found.shows(apart.ku, 16, every_port=True)


@pytest.mark.sample(3)
@pytest.mark.parametrize("port", sorted(BOTH["ports"]))
def test_a_pass_that_read_anything_twice_is_none(tmp_path: Path, port: str) -> None:
    ways = dict.fromkeys(BOTH["ports"][port], 2 * BOTH["ports"][port]["monitor"])
    [found] = read_records(
        [write(tmp_path, BOTH | {"ports": BOTH["ports"] | {port: ways}})], DIGITS
    )
    assert any(fault.startswith(f"{port}: ") for fault in found.faults)
