"""The modelled numbers that a simulation of the MAC array confirmed: ``merp simulate`` records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from merp.cosim.engines.names import USUAL_ARRAYS
from merp.models.machines.mac_array.array_flow import array_cycles
from merp.models.machines.mac_array.array_traffic import OF_MAPS, OF_VELOCITIES
from merp.models.machines.mac_array.geometry import expanding_phase
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.pass_words import pass_words
from merp.models.machines.mac_array.passes import design_of, sized
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import SEPARATE
from merp.models.network.phases import PHASES, has_phase
from merp.tools.report.measurement import (
    DELTAS,
    Measurement,
    check_hardware,
    faults_of,
    monitored,
)
from merp.tools.report.record import LEAST_ONE, Record, read_runs

OWN = {"macs": LEAST_ONE}
"""Fields of a run of the array in addition to the fields of every machine."""

_GRADIENTS = ("gradient_in", "gradient_out")


def read_array_records(directories: Sequence[Path], network: Network) -> list[Measurement]:
    """Read the records of ``directories``, in order.

    Raises:
        BadInput: there is no record, it is not valid, or it belongs to another network or other
            hardware.
    """
    apart = replace(network, backward=SEPARATE)
    found = []
    for directory in directories:
        path, runs = read_runs(directory, network, OWN)
        for run in runs:
            found.append(_measurement(path, run, apart))
            check_hardware(run, found[-1])
    return found


def _measurement(path: Path, run: Record, network: Network) -> Measurement:
    layer, phase, images = network.layer(run["layer"]), run["phase"], run["images"]
    design, seen = design_of(network, layer), monitored(run)
    works = {
        deltas: tuple(_works(network, layer, phase, images, pooled=deltas == "pooled"))
        for deltas in DELTAS
    }
    words = {deltas: _words(each, design, seen) for deltas, each in works.items()}
    deltas = next((each for each in DELTAS if words[each] == seen), DELTAS[0])
    moved = {port: network.fixed.bytes * count for port, count in seen.items()}
    return Measurement(
        network=network,
        record=path,
        layer=layer,
        phase=phase,
        command=_command(run, deltas),
        engine=run["engine"],
        images=images,
        groups=1,
        deltas=deltas,
        turns=_turns_of(phase),
        words=seen,
        moved={port: count for port, count in moved.items() if port not in OF_VELOCITIES},
        fingerprint=run["elaboration_sha"],
        words_compared=run["words_compared"],
        cycles={"total": run["cycles"]["total"]},
        units=run["macs"],
        modelled=_modelled(works[deltas], design),
        faults=faults_of(
            run,
            network,
            layer,
            operations=layer.operations(images),
            moved=moved,
            expected=words[deltas],
            compared=sum(_compared(each, design) for each in works[deltas]),
        ),
    )


def _works(
    network: Network, layer: Layer, phase: str, images: int, *, pooled: bool
) -> Iterator[ArrayPass]:
    """Yield the passes of a phase, image by image; nothing if there is no such phase.

    Args:
        pooled: whether deltas are stored at pooled resolution; otherwise a separate pass expands
            them before KU, or before DP of a frozen layer.
    """
    if phase not in PHASES or not has_phase(network, layer, phase):
        return
    momentum = design_of(network, layer).momentum
    work = sized(network, layer, phase, fused=pooled or phase == "fp")
    for image in range(images):
        own = replace(work, first=image == 0, last=image == images - 1, has_momentum=momentum)
        expands = phase == expanding_phase(layer.trainable)
        if expands and own.pool > 1 and not pooled:
            yield replace(own, phase="upsample")
        yield own


def _words(
    works: Sequence[ArrayPass], design: ArrayDesign, ports: Mapping[str, int]
) -> dict[str, int]:
    """Return the words of passes on each port of the array."""
    found = Counter(dict.fromkeys(ports, 0))
    for work in works:
        found.update(pass_words(work, design))
    return dict(found)


def _compared(work: ArrayPass, design: ArrayDesign) -> int:
    """Return the number of meaningful output words, without padding of rows and unused lanes."""
    if work.phase == "fp":
        return work.outputs * work.pooled_rows * work.pooled_columns
    if work.phase == "dp":
        return work.inputs * work.rows * work.columns
    if work.phase == "upsample":
        across = work.pool * design.pox * design.column_blocks(work.pooled_columns)
        return work.outputs * work.delta_rows * min(work.out_columns, across)
    parameters = work.outputs * (work.inputs * work.taps + 1)
    return parameters * (1 + (work.last and work.has_momentum))


def _modelled(works: Sequence[ArrayPass], design: ArrayDesign) -> int:
    """Return the cycles of passes by the flow model, without stalls of the ports."""
    return sum(
        times * array_cycles(work, design, kernel_first=design.kernel_first).total
        for work, times in Counter(works).items()
    )


def _turns_of(phase: str) -> Callable[[str, int], int]:
    """Return the number of runs of a port: all images but the first read gradients.

    All images but the last write them.
    """

    def turns(port: str, images: int) -> int:
        if phase != "ku" or port in OF_MAPS:
            return images
        return images - 1 if port in _GRADIENTS else 1

    return turns


def _command(run: Record, deltas: str) -> str:
    parts = [f"merp simulate {run['network']} --layer {run['layer']} --phase {run['phase']}"]
    parts.append(f"--images {run['images']} --engine {run['engine']}")
    if run["cu_array"] != USUAL_ARRAYS.get(run["engine"]):
        parts.append(f"--cu-array {run['cu_array']}")
    if run["phase"] != "fp" and deltas == "pooled":
        parts.append("--delta-at pooled")
    return " ".join(parts)
