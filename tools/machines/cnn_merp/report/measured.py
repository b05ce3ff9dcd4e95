"""The modelled numbers that a simulation of CNN-MERP confirmed: records of ``merp simulate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from merp.cosim.engines.names import USUAL_ARRAYS
from merp.models.base.delta_shape import delta_shape
from merp.models.base.fused_shape import FusedShape
from merp.models.machines.cnn_merp.cycles import layer_cycles
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.fused_pair import fused_layers, fused_shape
from merp.models.machines.cnn_merp.params.word_counters import word_bytes as port_word_bytes
from merp.models.machines.cnn_merp.phases import maps_behind
from merp.models.network.branches import begun, behind, beside, previous, undone_shape
from merp.models.network.network import Layer, Network
from merp.models.network.phases import (
    NAMED,
    ONE_PASS,
    PAIR,
    going_back_for,
    has_phase,
    pair_named,
    phase_operations,
)
from merp.models.traffic.closed_form import EACH_IMAGE
from merp.models.traffic.pass_words import (
    added_words,
    backward_port_words,
    begun_words,
    delta_port_words,
    fused_port_words,
    port_words,
    state_bytes,
    update_port_words,
)
from merp.tools.machines.cnn_merp.report.below import networks_below
from merp.tools.report.measurement import (
    DELTAS,
    Measurement,
    check_hardware,
    faults_of,
    monitored,
)
from merp.tools.report.record import COUNT, LEAST_ONE, read_runs

OWN = {"n_cu": LEAST_ONE, "cycles: kernel_load": COUNT}
"""Fields of a run of CNN-MERP in addition to the fields of every machine."""


def read_records(directories: Sequence[Path], network: Network) -> list[Measurement]:
    """Read the records of ``directories``, in order.

    A record does not name the stored formats of tensors. It belongs to the requested network, or to
    the row below the paper whose bytes its ports moved.

    Raises:
        BadInput: there is no record, it is not valid, or it belongs to another network or other
            hardware.
    """
    found = []
    for directory in directories:
        path, runs = read_runs(directory, network, OWN)
        for run in runs:
            measured = _told_apart(path, run, network)
            check_hardware(run, measured, state="state_out" in measured.moved)
            found.append(measured)
    return found


def _told_apart(path: Path, run: Mapping[str, Any], network: Network) -> Measurement:
    """Return the measurement of a run, for the first network that it confirms."""
    if run["phase"] == PAIR:
        network = replace(network, layer_fusion=pair_named(network, run["layer"]))
    asked = _measurement(path, run, going_back_for(network, run["phase"]))
    others = (
        _measurement(path, run, other)
        for other in networks_below(network)
        if run["phase"] in NAMED and has_phase(other, asked.layer, run["phase"])
    )
    return asked if asked.confirms else next((each for each in others if each.confirms), asked)


def _measurement(path: Path, run: Mapping[str, Any], network: Network) -> Measurement:
    layer = network.layer(network.layer_fusion[0] if network.layer_fusion else run["layer"])
    groups = layer.groups if run["group"] == "all" else 1
    found = monitored(run)
    # If a layer does not pool, its ports do not show the resolution; a stored record names it.
    one_pass = run["phase"] == ONE_PASS
    told = "pooled" if "add_state_in" in found or one_pass else run.get("deltas")
    said = sorted(DELTAS, key=lambda at: at != told)
    deltas = next(
        (at for at in said if _expected(network, layer, run, at, groups) == found), said[0]
    )
    design = design_of(network, layer)
    phase = run["phase"]
    known = found if phase in NAMED else {}  # ports of other phases have no formats
    moved = {port: count * port_word_bytes(phase, port, design) for port, count in known.items()}
    operations = phase_operations(layer, phase, run["images"]) * groups // layer.groups
    if phase == PAIR:
        operations = 2 * groups * _pair(network).macs(run["images"])
    return Measurement(
        network=network,
        record=path,
        layer=layer,
        phase=phase,
        command=_command(run, design.n_cu, deltas, "state_out" in found),
        engine=run["engine"],
        images=run["images"],
        groups=groups,
        deltas=deltas,
        turns=_turns,
        words=found,
        moved=moved,
        fingerprint=run["elaboration_sha"],
        words_compared=run["words_compared"],
        cycles={key: run["cycles"][key] for key in ("total", "kernel_load")},
        units=run["n_cu"],
        modelled=_modelled(network, layer, run, deltas, groups),
        faults=faults_of(
            run,
            network,
            layer,
            operations=operations,
            moved=moved,
            expected=_expected(network, layer, run, deltas, groups),
            compared=sum(count for port, count in found.items() if port.endswith("_out")),
        ),
    )


def _modelled(
    network: Network, layer: Layer, run: Mapping[str, Any], deltas: str, groups: int
) -> int | None:
    """Return the cycles of the simulated groups, if the run had the network's CUs and deltas."""
    phase, own = run["phase"], run["n_cu"] == design_of(network, layer).n_cu
    if phase not in NAMED or not own or (phase in ("dp", "ku") and deltas != "sums"):
        return None
    cycles = layer_cycles(network, layer, phase, run["images"])
    return cycles.total * groups // layer.groups if cycles else None


def _turns(port: str, images: int) -> int:
    return images if port in EACH_IMAGE else 1


def _expected(
    network: Network, layer: Layer, run: Mapping[str, Any], deltas: str, groups: int
) -> dict[str, int]:
    """Return the words by port (of masks: bytes) of the simulated groups."""
    shape, images, before = layer.shape, run["images"], deltas == "pooled"
    added = design_of(network, layer).added  # the port exists, also for layers without an addition
    if before and run["phase"] != "fp":
        shape = undone_shape(network, layer)
    if run["phase"] == PAIR:
        words = fused_port_words(_pair(network), images, "state_out" in run["ports"])
    elif run["phase"] == "fp":
        words = port_words(shape, images)
        if added:
            words["add_in"] = added_words(shape, images) if layer.add else 0
        if "state_out" in run["ports"]:
            words["state_out"] = state_bytes(shape, shape.m, images)
    elif run["phase"] == ONE_PASS:
        words = backward_port_words(undone_shape(network, layer), images)
    elif run["phase"] == "ku":
        words = update_port_words(shape, images, before)
    else:
        if run["phase"] != "dp" or previous(network, layer) is None:
            return {}
        undone = shape if before else behind(network, layer).shape
        maps = shape.m if before else maps_behind(shape, undone)
        words = delta_port_words(shape, undone, maps, images, before)
        if added:
            words |= _starting(network, layer, run, before)
    return {port: groups * count for port, count in words.items()}


def _pair(network: Network) -> FusedShape:
    return fused_shape(network, *fused_layers(network))


def _starting(
    network: Network, layer: Layer, run: Mapping[str, Any], before: bool
) -> dict[str, int]:
    """Return the words and mask bytes at which the sums of a delta propagation start, if any."""
    start, images = beside(network, layer), run["images"]
    if before and start is not None:
        return begun_words(start.shape, layer.shape.n, images)
    begins = begun(network, layer)
    found = {"add_in": added_words(delta_shape(layer.shape), images) if begins else 0}
    if "add_state_in" in run["ports"]:  # another layer of the design needs the port
        found["add_state_in"] = 0
    return found


def _command(run: Mapping[str, Any], n_cu: int, deltas: str, state: bool) -> str:
    parts = [f"merp simulate {run['network']} --layer {run['layer']} --phase {run['phase']}"]
    if run["groups"] > 1:
        parts.append(f"--group {run['group']}")
    parts.append(f"--images {run['images']} --engine {run['engine']}")
    if run["cu_array"] != USUAL_ARRAYS.get(run["engine"]):
        parts.append(f"--cu-array {run['cu_array']}")
    if run["n_cu"] != n_cu:
        parts.append(f"--cus {run['n_cu']}")
    if run["phase"] in ("dp", "ku") and deltas == "pooled":
        parts.append("--delta-at pooled")
    if state:
        parts.append("--state")
    return " ".join(parts)
