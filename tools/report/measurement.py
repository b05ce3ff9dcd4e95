"""The result of ``merp simulate`` for a phase of a layer, for every machine.

A record confirms a phase of a layer if its bits were right and its ways of counting agree. Every
port must also have moved the words of the closed form for *this* network. The network's name in the
record does not matter. A figure of the page is measured if such a record moved it, port by port.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from merp.models.base.errors import BadInput, one_line
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase, phase_on, phases_on
from merp.models.traffic.closed_form import PhaseTraffic
from merp.tools.common.hardware import HARDWARE, hardware_sha
from merp.tools.common.stored import word_bytes
from merp.tools.report.record import Record, differing_counts

DELTAS = ("sums", "pooled")


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The simulation of one phase of one layer.

    Attributes:
        network: the network, with its storage and backward pass.
        record: the file.
        layer: the layer.
        phase: name of the phase.
        command: the command in the record.
        engine: the simulator.
        images: number of images.
        groups: number of groups that ran.
        deltas: resolution of the deltas in memory.
        turns: number of images of a batch in which a port moves words.
        words: words on the pins of each port, of the groups that ran; for the ReLU/pooling mask,
            bytes.
        moved: bytes of ``words``, without velocities, which no figure counts.
        fingerprint: fingerprint of the elaboration.
        words_compared: words that were compared with the golden model.
        cycles: ``total``, from the first word in to the last out; ``kernel_load``, if kernels are
            loaded before.
        units: number of computing units that ran.
        modelled: cycles by the model of the machine; None if it has none for this run.
        faults: reasons why it confirms nothing; empty if it confirms its figures.
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
    turns: Callable[[str, int], int]
    words: Mapping[str, int]
    moved: Mapping[str, int]
    fingerprint: str
    words_compared: int
    cycles: Mapping[str, int]
    units: int
    modelled: int | None
    faults: tuple[str, ...]

    @property
    def confirms(self) -> bool:
        """Whether all checks hold."""
        return not self.faults

    @property
    def of_forward(self) -> bool:
        """Whether it is forward propagation of a single layer."""
        phase = phases_on(self.network, self.layer).get(self.phase)
        return phase is not None and phase.forward and not phase.fuses

    def shows(self, figure: PhaseTraffic, batch: int, *, every_port: bool) -> bool:
        """Return whether this figure, of all groups and ``batch`` images, was seen on the pins.

        The bytes of a port are scaled to the batch and to all groups. If the ReLU/pooling mask
        fills its last byte with padding, they do not scale to another batch. Only a run of as many
        images shows such a figure.

        Args:
            figure: bytes by port.
            batch: images of the figure.
            every_port: the figure counts all ports; otherwise only its own ports are compared.
        """
        ports = figure.streams.keys() | (self.moved.keys() if every_port else set())

        def equal(port: str) -> bool:
            ran, asked = self.turns(port, self.images), self.turns(port, batch)
            seen = self.moved.get(port, 0) * asked * self.layer.groups
            equals = seen == figure.streams.get(port, 0) * ran * self.groups
            return equals and (ran > 0 or asked == 0)

        return self.confirms and all(equal(port) for port in ports)


def faults_of(
    run: Record,
    network: Network,
    layer: Layer,
    *,
    operations: int,
    moved: Mapping[str, int],
    expected: Mapping[str, int],
    compared: int,
) -> tuple[str, ...]:
    """Return the reasons why a run confirms nothing of a layer; none if it confirms.

    Args:
        run: the record of the run.
        network: the network.
        layer: the layer.
        operations: operations of the run, by formula.
        moved: bytes by port, from the words of its monitors.
        expected: words by port, by formula.
        compared: words that had to be compared.
    """
    return (
        *_told(run, network, layer, operations, sum(moved.values())),
        *_counted(run, expected, compared),
    )


def _told(
    run: Record, network: Network, layer: Layer, operations: int, moved: int
) -> Iterator[str]:
    """Yield the faults of the run as a whole."""
    yield from map(one_line, run["failures"])
    if HARDWARE not in run:
        yield f"{HARDWARE} is missing: the hardware may have changed since"
    if not has_phase(network, layer, run["phase"]):
        yield f"phase {run['phase']}: {layer.name} has none"
    if run["groups"] != layer.groups or run["group"] not in ("all", *range(layer.groups)):
        yield f"group {run['group']} of {run['groups']}: {layer.name} has {layer.groups}"
    if run["bit_exact"] is not True or run["mismatches"] != 0:
        yield f"{run['mismatches']} words differ from the golden model"
    if run["operations"] != operations:
        yield f"{run['operations']} operations, {operations} by closed form"
    # A record counts words. Only this value shows how many bytes a word has.
    told, found = run["mb_per_gflop"]["full"], moved / operations * 1e3 if operations else None
    if told is None or found is None:
        alike = told is found
    else:
        alike = math.isclose(told, found, rel_tol=1e-9)
    if not alike:
        word = word_bytes(network)
        words = "words as they are stored" if word is None else f"{word}-byte words"
        yield f"{told} MB/GFlop, {found} by its ports in {words}"


def _counted(run: Record, expected: Mapping[str, int], compared: int) -> Iterator[str]:
    """Yield the faults of the words of the ports, counted or compared."""
    yield from differing_counts(run["ports"])
    found = monitored(run)
    for port in sorted(found.keys() | expected.keys()):
        if found.get(port) != expected.get(port):
            yield f"{port}: {found.get(port)} words, {expected.get(port)} by closed form"
    if run["words_compared"] != compared:
        yield f"{run['words_compared']} words compared of {compared} that came out"


def monitored(run: Record) -> dict[str, int]:
    """Return the words on the pins of each port."""
    return {port: ways["monitor"] for port, ways in run["ports"].items()}


def check_hardware(run: Record, found: Measurement, *, state: bool = False) -> None:
    """Check that a record belongs to the current hardware. A record without a fingerprint has a
    fault.

    Args:
        run: the record.
        found: its measurement.
        state: FP also wrote the ReLU/pooling mask.

    Raises:
        BadInput: it belongs to other hardware.
    """
    ran = has_phase(found.network, found.layer, found.phase)
    if HARDWARE not in run or not ran:
        return
    before = phase_on(found.network, found.layer, found.phase).backward and found.deltas == "pooled"
    now = hardware_sha(found.network, found.layer, found.phase, state=state, before=before)
    if run[HARDWARE] != now:
        raise BadInput(
            f"--measured {found.record}: {found.layer.name} {found.phase}: {HARDWARE} = "
            f"{run[HARDWARE]}: must be {now}, as the hardware is now: run {found.command} again"
        )
