"""Which modelled numbers a hardware simulation confirmed: the records of ``merp simulate -o DIR``.

A record confirms a phase of a layer when its bits were right, its ways of counting agree, and every
port moved the words that the closed form gives for *this* network, whatever the record's name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.models.cnn_merp.phases import maps_behind
from merp.models.errors import BadInput
from merp.models.network.network import Layer, Network
from merp.models.network.phases import previous
from merp.models.traffic.closed_form import (
    delta_port_words,
    port_words,
    state_bytes,
    update_port_words,
)

FILE = "simulate.json"
DELTAS = ("sums", "pooled")


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One phase of one layer, as a simulation found it.

    Attributes:
        record: the file. command: that made it, by what it says.
        groups: that were run. deltas: resolution at which deltas lay in memory.
        state: whether forward propagation wrote the state for backward propagation.
        fingerprint: of the elaboration. faults: why it confirms nothing; empty if it does.
        cycles: total, first word in to last out, and kernel load. n_cu: CUs that ran.
    """

    record: Path
    layer: Layer
    phase: str
    command: str
    engine: str
    images: int
    groups: int
    deltas: str
    state: bool
    fingerprint: str
    words_compared: int
    cycles: Mapping[str, int]
    n_cu: int
    faults: tuple[str, ...]

    @property
    def confirms(self) -> bool:
        """Whether every check held."""
        return not self.faults


def read_records(directories: Sequence[Path], network: Network) -> list[Measurement]:
    """Read the records of ``directories``, in order.

    Raises:
        BadInput: no record, not one, or one of another network.
    """
    return [found for each in directories for found in _read(each, network)]


def _read(directory: Path, network: Network) -> list[Measurement]:
    path = directory / FILE
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(
            f"--measured {directory}: {FILE}: {error.strerror}: allowed is a folder that "
            "merp simulate -o has finished"
        ) from error
    except ValueError as error:
        raise BadInput(f"--measured {path}: not JSON: {error}") from error
    if not isinstance(record, dict) or record.get("network") != network.name:
        found = record.get("network") if isinstance(record, dict) else None
        raise BadInput(f"--measured {path}: network = {found!r}: must be {network.name!r}")
    try:
        return [_measurement(path, run, network) for run in record.get("runs", [record])]
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"--measured {path}: not what merp simulate wrote: {error}") from error


def _measurement(path: Path, run: Mapping[str, Any], network: Network) -> Measurement:
    layer = network.layer(run["layer"])
    groups = layer.groups if run["group"] == "all" else 1
    found = {port: counts["monitor"] for port, counts in run["ports"].items()}
    deltas = next(
        (at for at in DELTAS if _expected(network, layer, run, at, groups) == found), DELTAS[0]
    )
    state = "state_out" in found
    return Measurement(
        record=path,
        layer=layer,
        phase=run["phase"],
        command=_command(run, network.design(layer).n_cu, deltas, state),
        engine=run["engine"],
        images=run["images"],
        groups=groups,
        deltas=deltas,
        state=state,
        fingerprint=run["elaboration_sha"],
        words_compared=run["words_compared"],
        cycles={key: run["cycles"][key] for key in ("total", "kernel_load")},
        n_cu=run["n_cu"],
        faults=tuple(_faults(run, found, _expected(network, layer, run, deltas, groups))),
    )


def _faults(
    run: Mapping[str, Any], found: Mapping[str, int], expected: Mapping[str, int]
) -> list[str]:
    faults = list(run["failures"])
    if not run["bit_exact"]:
        faults.append(f"{run['mismatches']} words differ from the golden")
    for port, counts in run["ports"].items():
        if len(set(counts.values())) != 1:
            faults.append(f"{port}: counts differ: {counts}")
    for port in sorted(found.keys() | expected.keys()):
        if found.get(port) != expected.get(port):
            faults.append(f"{port}: {found.get(port)} words, {expected.get(port)} by closed form")
    return faults


def _expected(
    network: Network, layer: Layer, run: Mapping[str, Any], deltas: str, groups: int
) -> dict[str, int]:
    """Words by port, state in bytes, of the groups that were run."""
    shape, images, before = layer.shape, run["images"], deltas == "pooled"
    if run["phase"] == "fp":
        words = port_words(shape, images)
        if "state_out" in run["ports"]:
            words["state_out"] = state_bytes(shape, shape.m, images)
    elif run["phase"] == "ku":
        words = update_port_words(shape, images, before)
    else:
        earlier = previous(network, layer)
        if earlier is None:
            return {}
        maps = shape.m if before else maps_behind(shape, earlier.shape)
        words = delta_port_words(shape, shape if before else earlier.shape, maps, images, before)
    return {port: groups * count for port, count in words.items()}


def _command(run: Mapping[str, Any], n_cu: int, deltas: str, state: bool) -> str:
    parts = [f"merp simulate {run['network']} --layer {run['layer']} --phase {run['phase']}"]
    if run["groups"] > 1:
        parts.append(f"--group {run['group']}")
    parts.append(f"--images {run['images']} --engine {run['engine']}")
    if run["engine"] == "myhdl" and run["cu_array"] == "rtl":
        parts.append("--cu-array rtl")
    if run["n_cu"] != n_cu:
        parts.append(f"--cus {run['n_cu']}")
    if run["phase"] != "fp" and deltas == "pooled":
        parts.append("--delta-at pooled")
    if state:
        parts.append("--state")
    return " ".join(parts)
