"""Checks of simulated runs of F-CNN's modules against formulas and the cycle model."""

from collections.abc import Mapping
from typing import Any

from merp.models.machines.fcnn.words import work_of
from merp.models.network.network import Network
from merp.models.network.phases import has_phase, phases_of_step


def check_all_runs(network: Network, answer: Mapping[str, Any]) -> None:
    """Check an answer of ``merp simulate --layer all --phase all``: each phase of each layer."""
    asked = [
        (layer.name, phase)
        for layer in network.layers
        for phase in phases_of_step(network)
        if has_phase(network, layer, phase)
    ]
    ran = {(run["layer"], run["phase"]): run for run in answer["runs"]}
    assert ran.keys() == set(asked)
    for run in ran.values():
        check_run(network, run)


def check_run(network: Network, run: Mapping[str, Any]) -> None:
    """Check the bits of a run, its words on each port by all counts, and its cycles.

    Args:
        network: the network.
        run: all groups of a layer in a phase, as ``merp simulate --json`` answers.
    """
    layer, phase = network.layer(run["layer"]), run["phase"]
    where = f"{layer.name} {phase}"
    work = work_of(network, layer, phase, run["images"])
    assert (run["failures"], run["bit_exact"]) == ([], True), where
    words = {port: layer.groups * count for port, count in work.words.items()}
    assert run["ports"].keys() == words.keys(), where
    for port, ways in run["ports"].items():
        assert set(ways.values()) == {words[port]}, f"{where}, {port}"
    assert run["cycles"]["total"] == layer.groups * work.cycles, where
