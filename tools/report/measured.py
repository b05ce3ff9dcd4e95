"""Which modelled numbers a hardware simulation confirmed: the records of ``merp simulate -o DIR``.

A record confirms a phase of a layer when its bits were right, its ways of counting agree, and every
port moved the words that the closed form gives for *this* network, whatever the record's name. A
figure of the page is measured when such a record moved it, port by port.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from merp.models.cnn_merp.fused_pair import fused_layers, fused_shape
from merp.models.cnn_merp.phases import maps_behind
from merp.models.errors import BadInput, one_line
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
from merp.models.params.cnn_merp.fused_design import FusedShape
from merp.models.params.cnn_merp.word_counters import word_bytes as port_word_bytes
from merp.models.params.delta_shape import delta_shape
from merp.models.traffic.closed_form import EACH_IMAGE, Phase
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
from merp.tools.common.stored import word_bytes
from merp.tools.report.below import networks_below
from merp.tools.report.hardware import hardware_sha
from merp.tools.report.record import HARDWARE, differing_counts, read_runs

DELTAS = ("sums", "pooled")


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One phase of one layer, as a simulation found it.

    Attributes:
        network: it is of, as that lies in memory and goes back.
        record: the file. command: that made it, by what it says.
        groups: that were run. deltas: resolution at which deltas lay in memory.
        moved: bytes seen on the pins of each port, of those groups.
        fingerprint: of the elaboration. faults: why it confirms nothing; empty if it does.
        cycles: total, first word in to last out, and kernel load. n_cu: CUs that ran.
    """

    network: Network
    record: Path
    layer: Layer
    phase: str
    command: str
    engine: str
    images: int
    groups: int
    deltas: str
    moved: Mapping[str, int]
    fingerprint: str
    words_compared: int
    cycles: Mapping[str, int]
    n_cu: int
    faults: tuple[str, ...]

    @property
    def confirms(self) -> bool:
        """Whether every check held."""
        return not self.faults

    def shows(self, figure: Phase, batch: int, *, every_port: bool) -> bool:
        """Whether this very figure, of all groups and ``batch`` images, was seen on the pins.

        Bytes that each image moves are brought to the batch, and those of the groups that ran to
        all of them. Where state fills its last byte they do not come to the figure of another
        batch: only a run of as many images shows that one.

        Args:
            figure: bytes by port. batch: images in it.
            every_port: the figure counts all ports; else only those that it names are compared.
        """
        ports = figure.streams.keys() | (self.moved.keys() if every_port else set())

        def equal(port: str) -> bool:
            images = batch if port in EACH_IMAGE else self.images
            seen = self.moved.get(port, 0) * images * self.layer.groups
            return seen == figure.streams.get(port, 0) * self.images * self.groups

        return self.confirms and all(equal(port) for port in ports)


def read_records(directories: Sequence[Path], network: Network) -> list[Measurement]:
    """Read the records of ``directories``, in order.

    A record does not say how tensors lie in memory: it is of the network as asked for, or else as
    one of the rows below the paper has it, whose bytes its ports then moved.

    Raises:
        BadInput: no record, not one, or one of another network or of other hardware.
    """
    found = []
    for directory in directories:
        path, runs = read_runs(directory, network)
        for run in runs:
            measured = _told_apart(path, run, network)
            _check_hardware(run, measured)
            found.append(measured)
    return found


def _told_apart(path: Path, run: Mapping[str, Any], network: Network) -> Measurement:
    """What a run measured, of the first of the networks that it confirms."""
    if run["phase"] == PAIR:
        network = replace(network, fuse=pair_named(network, run["layer"]))
    asked = _measurement(path, run, going_back_for(network, run["phase"]))
    others = (
        _measurement(path, run, other)
        for other in networks_below(network)
        if run["phase"] in NAMED and has_phase(other, asked.layer, run["phase"])
    )
    return asked if asked.confirms else next((each for each in others if each.confirms), asked)


def _check_hardware(run: Mapping[str, Any], found: Measurement) -> None:
    """Check that a record which says what hardware it belongs to belongs to this.

    Raises:
        BadInput: it belongs to other hardware.
    """
    if HARDWARE not in run:
        return
    before = found.phase not in ("fp", PAIR) and found.deltas == "pooled"
    now = hardware_sha(
        found.network, found.layer, found.phase, state="state_out" in found.moved, before=before
    )
    if run[HARDWARE] != now:
        raise BadInput(
            f"--measured {found.record}: {found.layer.name} {found.phase}: {HARDWARE} = "
            f"{run[HARDWARE]}: must be {now}, as the hardware is now: run {found.command} again"
        )


def _measurement(path: Path, run: Mapping[str, Any], network: Network) -> Measurement:
    layer = network.layer(network.fuse[0] if network.fuse else run["layer"])
    groups = layer.groups if run["group"] == "all" else 1
    found = {port: counts["monitor"] for port, counts in run["ports"].items()}
    # Where a layer does not pool, its ports do not tell: a record that is kept says it.
    one_pass = run["phase"] == ONE_PASS
    told = "pooled" if "add_state_in" in found or one_pass else run.get("deltas")
    said = sorted(DELTAS, key=lambda at: at != told)
    deltas = next(
        (at for at in said if _expected(network, layer, run, at, groups) == found), said[0]
    )
    design = network.design(layer)
    phase = run["phase"]
    known = found if phase in NAMED else {}  # of another one ports have no formats
    moved = {port: count * port_word_bytes(phase, port, design) for port, count in known.items()}
    return Measurement(
        network=network,
        record=path,
        layer=layer,
        phase=run["phase"],
        command=_command(run, design.n_cu, deltas, "state_out" in found),
        engine=run["engine"],
        images=run["images"],
        groups=groups,
        deltas=deltas,
        moved=moved,
        fingerprint=run["elaboration_sha"],
        words_compared=run["words_compared"],
        cycles={key: run["cycles"][key] for key in ("total", "kernel_load")},
        n_cu=run["n_cu"],
        faults=(
            *_told(network, layer, run, groups, moved),
            *_counted(run, found, _expected(network, layer, run, deltas, groups)),
        ),
    )


def _told(
    network: Network, layer: Layer, run: Mapping[str, Any], groups: int, moved: Mapping[str, int]
) -> list[str]:
    """What is wrong with what the record says of the run as a whole."""
    faults = [one_line(failure) for failure in run["failures"]]
    if run["phase"] not in NAMED or not has_phase(network, layer, run["phase"]):
        faults.append(f"phase {run['phase']}: {layer.name} has none")
    if run["groups"] != layer.groups or run["group"] not in ("all", *range(layer.groups)):
        faults.append(f"group {run['group']} of {run['groups']}: {layer.name} has {layer.groups}")
    if run["bit_exact"] is not True or run["mismatches"] != 0:
        faults.append(f"{run['mismatches']} words differ from the golden")
    operations = phase_operations(layer, run["phase"], run["images"]) * groups // layer.groups
    if run["phase"] == PAIR:
        operations = 2 * groups * _pair(network).macs(run["images"])
    if run["operations"] != operations:
        faults.append(f"{run['operations']} operations, {operations} by closed form")
    # A record counts words, and says only here how many bytes they have.
    told, found = run["mb_per_gflop"]["full"], sum(moved.values()) / operations * 1e3
    if not math.isclose(told, found, rel_tol=1e-9):
        word = word_bytes(network)
        words = "words as they are stored" if word is None else f"{word}-byte words"
        faults.append(f"{told} MB/GFlop, {found} by its ports in {words}")
    return faults


def _counted(
    run: Mapping[str, Any], found: Mapping[str, int], expected: Mapping[str, int]
) -> list[str]:
    """What is wrong with the words of the ports, whether counted or compared."""
    faults = differing_counts(run["ports"])
    for port in sorted(found.keys() | expected.keys()):
        if found.get(port) != expected.get(port):
            faults.append(f"{port}: {found.get(port)} words, {expected.get(port)} by closed form")
    left = sum(count for port, count in found.items() if port.endswith("_out"))
    if run["words_compared"] != left:
        faults.append(f"{run['words_compared']} words compared of {left} that came out")
    return faults


def _expected(
    network: Network, layer: Layer, run: Mapping[str, Any], deltas: str, groups: int
) -> dict[str, int]:
    """Words by port, state in bytes, of the groups that were run."""
    shape, images, before = layer.shape, run["images"], deltas == "pooled"
    added = network.design(layer).added  # the port is there, also for layers that do not add
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
    """Words, and bytes of state, at which the sums of a delta propagation start, if at any."""
    start, images = beside(network, layer), run["images"]
    if before and start is not None:
        return begun_words(start.shape, layer.shape.n, images)
    begins = begun(network, layer)
    found = {"add_in": added_words(delta_shape(layer.shape), images) if begins else 0}
    if "add_state_in" in run["ports"]:  # for the sake of another layer of the design
        found["add_state_in"] = 0
    return found


def _command(run: Mapping[str, Any], n_cu: int, deltas: str, state: bool) -> str:
    parts = [f"merp simulate {run['network']} --layer {run['layer']} --phase {run['phase']}"]
    if run["groups"] > 1:
        parts.append(f"--group {run['group']}")
    parts.append(f"--images {run['images']} --engine {run['engine']}")
    if run["engine"] == "myhdl" and run["cu_array"] == "rtl":
        parts.append("--cu-array rtl")
    if run["n_cu"] != n_cu:
        parts.append(f"--cus {run['n_cu']}")
    if run["phase"] in ("dp", "ku") and deltas == "pooled":
        parts.append("--delta-at pooled")
    if state:
        parts.append("--state")
    return " ".join(parts)
