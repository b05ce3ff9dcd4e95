"""Measured evidence for a comparison: simulations, syntheses and trainings, from files of verbs.

Simulations are from ``merp simulate -o DIR``, the others from ``merp resources --json`` and
``merp train --json``. All of it is checked against the current network and hardware.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from merp.models.base.errors import BadInput, shown
from merp.models.base.file_format import RUNS, SYNTHESIS, TRAINING, check_format
from merp.models.comparison.compare import Comparison
from merp.models.comparison.figure import Figure
from merp.models.comparison.record import RESOURCES
from merp.models.network.network import Layer, Network
from merp.models.network.phases import NAMED, PHASES, has_phase, known_phases, phases_on
from merp.models.network.registry import machine_that_runs
from merp.tools.common.hardware import HARDWARE
from merp.tools.common.json_file import read_json
from merp.tools.common.json_value import is_number, is_text
from merp.tools.common.shipped import open_network, shipped_names
from merp.tools.report.measurement import Measurement
from merp.tools.report.record import (
    COUNT,
    FILE,
    LEAST_ONE,
    NAME,
    Keys,
    Record,
    check_values,
)

_NUMBER = is_number, "a number"

_SYNTHESIS: Final[Keys] = {
    **dict.fromkeys(("design", "part", HARDWARE), NAME),
    "layer": ((lambda value: value is None or is_text(value)), "a name, or null"),
    "phase": (
        (lambda value: value in (None, *known_phases())),
        f"null, or one of {', '.join(NAMED)}",
    ),
    **dict.fromkeys((f"total: {kind}" for kind in (*RESOURCES, "delay_ns")), _NUMBER),
}
_TRAINING: Final[Keys] = {
    "engine": NAME,
    **dict.fromkeys(("steps", "batch", "accumulate"), LEAST_ONE),
    **dict.fromkeys(("images: trained", "images: held_out"), LEAST_ONE),
    "seed": COUNT,
    "accuracy": ((lambda value: is_number(value) and 0 <= value <= 1), "a number from 0 to 1"),
}


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """The synthesis of a bitstream by Yosys.

    Attributes:
        network, bitstream, part: names.
        used: resources by kind, one of ``RESOURCES``.
        path_ns: estimate of the longest path.
    """

    network: str
    bitstream: str
    part: str
    used: Mapping[str, Figure]
    path_ns: float


@dataclass(frozen=True, kw_only=True)
class TrainingEvidence:
    """The accuracy of a network that was trained in the numbers of its hardware.

    Attributes:
        network, engine: names.
        steps, batch, seed, held_out: properties of the training.
        accuracy: from 0 to 1.
    """

    network: str
    engine: str
    steps: int
    batch: int
    seed: int
    held_out: int
    accuracy: float


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The evidence of each architecture, by its name.

    Attributes:
        runs: runs of every phase of the layers in scope, all with the same number of images.
        syntheses: in the given order.
        trainings: equal except for the numbers.
    """

    runs: Mapping[str, Sequence[Measurement]] = field(default_factory=dict)
    syntheses: Mapping[str, Sequence[Synthesis]] = field(default_factory=dict)
    trainings: Mapping[str, Sequence[TrainingEvidence]] = field(default_factory=dict)


def read_evidence(given: Sequence[str], asked: Comparison) -> Evidence:
    """Read the given files, each ``PATH`` or ``NETWORK=PATH``.

    Raises:
        BadInput: a file is missing, was not written by a verb, or belongs to another network,
            architecture or hardware. Or runs confirm nothing or are incomplete, or trainings
            differ in their properties.
    """
    runs: dict[str, list[Measurement]] = {}
    syntheses: dict[str, list[Synthesis]] = {}
    trainings: dict[str, list[TrainingEvidence]] = {}
    for each in given:
        path, record, network = _opened(each, asked)
        name = _architecture(path, network, asked)
        if path.name == FILE:
            _check_layers(path, network, asked)
            runs.setdefault(name, []).extend(_runs(path, network, asked))
        elif "yosys" in record:
            _check_layers(path, network, asked)
            _check_values(path, record, _SYNTHESIS)
            syntheses.setdefault(name, []).append(_synthesis(path, record, network))
        else:
            record = {"accumulate": 1, **record}  # older files have none
            _check_values(path, record, _TRAINING)
            trainings.setdefault(name, []).append(_training(record))
    for name, own in runs.items():
        _check_whole(name, own, asked)
    _check_alike("images", (each.images for own in runs.values() for each in own))
    courses = [each for own in trainings.values() for each in own]
    for key in ("steps", "batch", "seed", "held_out"):
        _check_alike(key, (getattr(each, key) for each in courses))
    return Evidence(runs=runs, syntheses=syntheses, trainings=trainings)


def _opened(given: str, asked: Comparison) -> tuple[Path, Record, Network]:
    """Return a file, its record and its network."""
    place, name = given, None
    if not os.path.exists(given) and "=" in given:
        name, _, place = given.partition("=")
    path = Path(place, FILE) if os.path.isdir(place) else Path(place)
    record = read_json(path)
    is_table = isinstance(record, dict)
    newest = SYNTHESIS if is_table and "yosys" in record else TRAINING
    check_format(f"--measured {path}", record, RUNS if path.name == FILE else newest)
    told = record.get("network") if is_table else None
    if name is None and told != asked.network.name:
        if told not in shipped_names():
            raise BadInput(
                f"--measured {path}: network = {shown(told)}: allowed are {asked.network.name} and "
                "shipped networks; for another file: --measured NETWORK.toml=PATH"
            )
        name = str(told)
    network = asked.network if name is None else open_network(name)
    if told != network.name:
        raise BadInput(f"--measured {path}: network = {shown(told)}: must be {network.name!r}")
    return path, record, network


def _architecture(path: Path, network: Network, asked: Comparison) -> str:
    """Return the name of the compared architecture whose hardware runs a network."""
    hardware = machine_that_runs(network).name
    names = [
        each.architecture.name for each in asked.answers if each.architecture.hardware == hardware
    ]
    if not names:
        raise BadInput(
            f"--measured {path}: {network.name} is for {hardware}: allowed are records of the "
            "compared architectures"
        )
    return names[0]


def _check_layers(path: Path, network: Network, asked: Comparison) -> None:
    """Check that a network equals the compared one, except for numbers and designs."""
    ours, theirs = (
        [(layer.name, layer.groups, layer.shape) for layer in each.layers]
        for each in (asked.network, network)
    )
    if ours != theirs:
        raise BadInput(
            f"--measured {path}: {network.name} has other layers than {asked.network.name}: "
            "allowed are the same"
        )


def _runs(path: Path, network: Network, asked: Comparison) -> Iterator[Measurement]:
    """Yield the runs of the layers in scope.

    Raises:
        BadInput: a run confirms nothing, or does not have all groups.
    """
    from merp.tools.report.reports import report_of  # imports NumPy only if needed

    for each in report_of(network).records([path.parent], network):
        if each.layer.name not in asked.scope:
            continue
        where = f"--measured {each.record}: {each.layer.name} {each.phase}"
        if not each.confirms:
            raise BadInput(f"{where}: {'; '.join(each.faults)}")
        if each.groups != each.layer.groups:
            raise BadInput(f"{where}: {each.groups} of {each.layer.groups} groups: allowed is all")
        yield each


def _check_whole(name: str, runs: Sequence[Measurement], asked: Comparison) -> None:
    """Check that every phase of the layers in scope ran exactly once.

    Raises:
        BadInput: it did not.
    """
    network = runs[0].network
    ran = [(each.layer.name, each.phase) for each in runs]
    for layer in network.layers:
        for phase in _phases(network, layer) if layer.name in asked.scope else ():
            times = ran.count((layer.name, phase))
            if times != has_phase(network, layer, phase):
                found = "is missing" if not times else f"is there {times} times"
                raise BadInput(
                    f"--measured: {name}: {layer.name} {phase} {found}: allowed is a run of each "
                    "phase of the layers in scope (merp simulate --layer all --phase all -o DIR)"
                )


def _phases(network: Network, layer: Layer) -> list[str]:
    """Return the phases of a step without combined ones: ``PHASES``, and parts of them."""
    brought = (name for name, each in phases_on(network, layer).items() if each.part_of)
    return list(dict.fromkeys((*PHASES, *brought)))


def _check_alike(what: str, values: Iterator[int]) -> None:
    """Check that compared numbers have the same size."""
    found = sorted(set(values))
    if len(found) > 1:
        raise BadInput(
            f"--measured: {what} = {', '.join(map(str, found))}: allowed is the same of all"
        )


def _check_values(path: Path, record: Record, keys: Keys) -> None:
    """Check the values of an answer.

    Raises:
        BadInput: it is not an answer of these verbs.
    """
    try:
        check_values(record, keys)
    except ValueError as error:
        raise BadInput(
            f"--measured {path}: not an answer of merp resources --json or merp train --json: "
            f"{error}"
        ) from error


def _synthesis(path: Path, record: Record, network: Network) -> Synthesis:
    """Return the synthesis of a file.

    Raises:
        BadInput: it belongs to no engine of the network, or to other hardware.
    """
    from merp.cosim.engines.myhdl_engine import elaboration_sha  # imports NumPy only if needed
    from merp.tools.fpga.bitstream.engines import engine_of

    layer, phase = record["layer"], record["phase"]
    engine = engine_of(network, layer, phase)
    now = elaboration_sha(engine.top())
    if record[HARDWARE] != now:
        raise BadInput(
            f"--measured {path}: {HARDWARE} = {record[HARDWARE]}: must be {now}, as the hardware "
            "is now: run merp resources again"
        )
    total = record["total"]
    return Synthesis(
        network=network.name,
        bitstream=engine.title,
        part=record["part"],
        used={kind: Figure(total[kind], "synthesised") for kind in RESOURCES},
        path_ns=total["delay_ns"],
    )


def _training(record: Record) -> TrainingEvidence:
    return TrainingEvidence(
        network=record["network"],
        engine=record["engine"],
        steps=record["steps"],
        batch=record["accumulate"] * record["batch"],
        seed=record["seed"],
        held_out=record["images"]["held_out"],
        accuracy=record["accuracy"],
    )
