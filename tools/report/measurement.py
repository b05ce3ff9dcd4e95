"""What a record of ``merp simulate`` found of a phase of a layer, on whatever machine.

A record confirms a phase of a layer when its bits were right, its ways of counting agree, and every
port moved the words that the closed form gives for *this* network, whatever the record's name. A
figure of the page is measured when such a record moved it, port by port.
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
    """One phase of one layer, as a simulation found it.

    Attributes:
        network: it is of, as that lies in memory and goes back.
        record: the file. command: that made it, by what it says.
        groups: that were run. deltas: resolution at which deltas lay in memory.
        turns: images of a batch of so many in which a port moves something.
        words: seen on the pins of each port, of those groups; of state bytes. moved: their bytes;
            none of velocities, which no figure counts.
        fingerprint: of the elaboration. faults: why it confirms nothing; empty if it does.
        cycles: total, first word in to last out, and where kernels are loaded before, kernel_load.
        units: of those that compute, how many ran.
        modelled: cycles by the model of the machine; None where it does not know such a run.
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
        """Whether every check held."""
        return not self.faults

    @property
    def of_forward(self) -> bool:
        """Whether it is of forward propagation, of one layer."""
        phase = phases_on(self.network, self.layer).get(self.phase)
        return phase is not None and phase.forward and not phase.fuses

    def shows(self, figure: PhaseTraffic, batch: int, *, every_port: bool) -> bool:
        """Whether this very figure, of all groups and ``batch`` images, was seen on the pins.

        Bytes of a port are brought to the batch, and those of the groups that ran to all of them.
        Where state fills its last byte they do not come to the figure of another batch: only a run
        of as many images shows that one.

        Args:
            figure: bytes by port. batch: images in it.
            every_port: the figure counts all ports; else only those that it names are compared.
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
    """Why a run confirms nothing of a layer; nothing if it does.

    Args:
        operations: of what ran, by formula. moved: bytes by port, as its monitors counted words.
        expected: words by port, by formula. compared: words that had to be.
    """
    return (
        *_told(run, network, layer, operations, sum(moved.values())),
        *_counted(run, expected, compared),
    )


def _told(
    run: Record, network: Network, layer: Layer, operations: int, moved: int
) -> Iterator[str]:
    """What is wrong with what the record says of the run as a whole."""
    yield from map(one_line, run["failures"])
    if HARDWARE not in run:
        yield f"{HARDWARE} is missing: the hardware may have changed since"
    if not has_phase(network, layer, run["phase"]):
        yield f"phase {run['phase']}: {layer.name} has none"
    if run["groups"] != layer.groups or run["group"] not in ("all", *range(layer.groups)):
        yield f"group {run['group']} of {run['groups']}: {layer.name} has {layer.groups}"
    if run["bit_exact"] is not True or run["mismatches"] != 0:
        yield f"{run['mismatches']} words differ from the golden"
    if run["operations"] != operations:
        yield f"{run['operations']} operations, {operations} by closed form"
    # A record counts words, and says only here how many bytes they have.
    told, found = run["mb_per_gflop"]["full"], moved / operations * 1e3
    if not math.isclose(told, found, rel_tol=1e-9):
        word = word_bytes(network)
        words = "words as they are stored" if word is None else f"{word}-byte words"
        yield f"{told} MB/GFlop, {found} by its ports in {words}"


def _counted(run: Record, expected: Mapping[str, int], compared: int) -> Iterator[str]:
    """What is wrong with the words of the ports, whether counted or compared."""
    yield from differing_counts(run["ports"])
    found = monitored(run)
    for port in sorted(found.keys() | expected.keys()):
        if found.get(port) != expected.get(port):
            yield f"{port}: {found.get(port)} words, {expected.get(port)} by closed form"
    if run["words_compared"] != compared:
        yield f"{run['words_compared']} words compared of {compared} that came out"


def monitored(run: Record) -> dict[str, int]:
    """Words on the pins of each port."""
    return {port: ways["monitor"] for port, ways in run["ports"].items()}


def check_hardware(run: Record, found: Measurement, *, state: bool = False) -> None:
    """Check that a record belongs to the hardware as it is; one without hardware has a fault.

    Args:
        state: FP wrote it, too.

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
