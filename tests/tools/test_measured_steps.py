"""Rows of the report below the paper: what records of a step measured."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.word_counters import word_bytes
from merp.models.network.network import Layer, Network
from merp.models.network.phases import NAMED, PAIR, has_phase
from merp.models.traffic.closed_form import network_traffic
from merp.models.traffic.count import Count
from merp.tools.common.boards import open_board
from merp.tools.machines.cnn_merp.report.below import networks_below
from merp.tools.machines.cnn_merp.report.bounds import variants_table
from merp.tools.machines.cnn_merp.report.choice import PlannedChoice
from merp.tools.machines.cnn_merp.report.fused_figure import fused_figure
from merp.tools.machines.cnn_merp.report.measured import read_records
from simulated_records import DIGITS, run_of, write

pytestmark = pytest.mark.usefixtures("as_it_is")

FULL = Count(name="all", state="pooled")


def own_designs() -> Network:
    """Digits' convolutions, whose first layer has a design of its own, as images in bytes ask."""
    first = replace(DIGITS.layers[0], design="first")
    designs = {**DIGITS.designs, "first": DIGITS.designs["k3"]}
    return replace(DIGITS, layers=(first, DIGITS.layers[1]), designs=designs)


def as_run(network: Network, layer: Layer, phase: str) -> dict[str, Any]:
    """A right run of a phase on a network as that is stored and goes back."""
    if phase == PAIR:
        figure = fused_figure(network, 2, state=True)[2]
    else:
        figures = network_traffic(network, 2, FULL)[network.layers.index(layer)]
        figure = getattr(figures, phase)
    design = design_of(network, layer)
    words = {port: n // word_bytes(phase, port, design) for port, n in figure.streams.items()}
    told = {
        "layer": "+".join(network.layer_fusion) if phase == PAIR else layer.name,
        "operations": figure.operations,
        "mb_per_gflop": {"full": sum(figure.streams.values()) / figure.operations * 1e3},
        "deltas": "pooled",
    }
    return run_of(layer.name, phase, words, DIGITS) | told


def steps(network: Network) -> list[dict[str, Any]]:
    return [
        as_run(network, layer, phase)
        for layer in network.layers
        for phase in NAMED
        if has_phase(network, layer, phase)
    ]


def bases(tmp_path: Path, network: Network, runs: list[dict[str, Any]]) -> dict[str, str]:
    """Of the rows below the paper: which records measured."""
    measured = read_records([write(tmp_path, *runs)], network)
    assert [each.faults for each in measured] == [()] * len(runs)
    choice = PlannedChoice(network=network, batch=16, board=open_board("kc705"), measured=measured)
    return {row["variant"]: row["step_basis"] for row in variants_table(choice).rows}


@pytest.mark.full
def test_rows_below_the_paper_are_measured_by_records_of_their_own_conditions(
    tmp_path: Path,
) -> None:
    """A record does not say how words lie in memory: its bytes do, port by port."""
    plain = own_designs()
    for index, below in enumerate(networks_below(replace(plain, layer_fusion=("conv1", "conv2")))):
        runs = steps(below)
        found = bases(tmp_path / str(index), plain, runs)
        name = list(found)[2 + index]
        assert [row for row, basis in found.items() if basis == "measured"] == [name]
        for left_out in range(len(runs)):
            few = [run for place, run in enumerate(runs) if place != left_out]
            assert "measured" not in bases(tmp_path / f"{index}-{left_out}", plain, few).values()
    assert index == 15


def test_a_pair_that_keeps_no_state_is_of_no_step(tmp_path: Path) -> None:
    """In inference neither the map between two fused layers leaves nor their state."""
    plain = own_designs()
    fused = replace(plain, layer_fusion=("conv1", "conv2"))
    runs = steps(fused)
    assert "measured" in bases(tmp_path / "step", plain, runs).values()
    (pair,) = (run for run in runs if run["phase"] == PAIR)
    figure = fused_figure(fused, 2, state=False)[2]
    inference = run_of("conv1", PAIR, {port: n // 4 for port, n in figure.streams.items()}) | {
        "layer": pair["layer"],
        "operations": figure.operations,
        "mb_per_gflop": {"full": sum(figure.streams.values()) / figure.operations * 1e3},
    }
    others = [run for run in runs if run is not pair]
    assert "measured" not in bases(tmp_path / "none", plain, [*others, inference]).values()


def test_a_first_layer_that_shares_its_design_has_no_row_of_bytes_in_hardware() -> None:
    choice = PlannedChoice(network=DIGITS, batch=16, board=open_board("kc705"))
    built = {row["variant"]: row["hardware"] for row in variants_table(choice).rows}
    assert built["pooled deltas + one pass"] == "yes"
    assert {built[name] for name in built if "8-bit" in name} == {"no"}
    assert (built["base"], built["masks"]) == ("no", "no")
