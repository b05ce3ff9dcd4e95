"""The cost of a plan, in the same terms for every architecture.

Useful work is defined by ``Layer.operations``, so it is equal in every record of a network. The
architecture sets the times of a record, because it knows which activities overlap. Throughput, use
of the multipliers and traffic follow from the times and the rows. The formulas are the same for all
architectures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from merp.models.comparison.figure import Figure, derived, summed

CLASSES: Final = {
    "maps": "feature and delta maps to and from memory, each once",
    "again": "the same maps again, if layers run in parts",
    "kernels": "kernels and biases, their gradients and new values",
    "state": "masks of ReLU' and un-pooling",
    "partial": "partial sums",
    "host": "to and from the host",
    "link": "from board to board",
    "config": "bitstreams",
    "chip": "buffers on the chip, for information",
}
"""Meaning of each class of bytes."""

DRAM: Final = ("maps", "again", "kernels", "state", "partial")
"""Classes of bytes that pass the external memory."""

FULL: Final = (*DRAM, "host")
"""Classes of count ``all``: all bytes of a step that are exchanged with memory or host."""

COUNTS: Final = {"own": "own", "maps": "maps", "full": "all"}
"""Names of counts by their keys in JSON: ``own`` is the count of the architecture's paper, ``maps``
the class of that name.
"""

RESOURCES: Final = ("lut", "ff", "bram", "dsp")
"""Kinds of a part's resources; block RAM is in the part's own blocks."""


@dataclass(frozen=True, kw_only=True)
class PhaseRow:
    """A phase of a layer on one device, all images of the batch.

    Attributes:
        device: from 0.
        layer, phase: names.
        cycles: cycles of the device's clock, including waits.
        waits: waiting cycles by cause, included in ``cycles``.
        macs: useful multiply-adds.
        bytes: by class, of ``CLASSES``; a missing class is 0.
        runs_as: the part of the plan that runs it.
        binds: the cause of most waits; may be "".
    """

    device: int = 0
    layer: str
    phase: str
    cycles: Figure
    macs: int
    bytes: Mapping[str, Figure] = field(default_factory=dict)
    waits: Mapping[str, Figure] = field(default_factory=dict)
    runs_as: str = ""
    binds: str = ""

    def __post_init__(self) -> None:
        """Check the classes of bytes."""
        _known(self.bytes, CLASSES)


@dataclass(frozen=True, kw_only=True)
class Device:
    """The use of one device; for several bitstreams, the largest use of each resource.

    Attributes:
        used: by kind, of ``RESOURCES``; unknown kinds are missing.
        memory: bytes on the chip by use.
    """

    used: Mapping[str, Figure] = field(default_factory=dict)
    memory: Mapping[str, Figure] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the kinds."""
        _known(self.used, RESOURCES)


@dataclass(frozen=True)
class Excess:
    """A resource that a device has too little of."""

    device: int
    resource: str
    need: float
    limit: float


@dataclass(frozen=True, kw_only=True)
class Record:
    """The cost of a training step.

    Attributes:
        architecture, network, board, part: names.
        options: all options of the plan, as plain JSON values, so that the plan can be repeated.
        scope: names of the requested layers.
        left_out: layers that the architecture cannot run, with the reason. A record with such
            layers has no comparable total.
        batch: images.
        word_bits: of memory and links.
        accumulator_bits: of sums on the chip.
        clock_mhz: of all devices.
        memory_gbs: reachable rate of their external memories, 10^9 bytes a second; None if the
            architecture uses none.
        devices: in order; at least one.
        limits: the largest use of each kind of resource that is allowed on a device.
        block_bits: bits of a block RAM of the part.
        rows: in the order of a step.
        own: classes of bytes that the paper counts.
        multipliers: multiply-adds a cycle of all devices together, for the largest bitstreams.
        latency_s: from the first image in to the last result out.
        interval_s: from batch to batch, including all waits.
        reconfiguration_s: the part of ``interval_s`` for loading bitstreams.
        power_w: power of a device at work, if a source has one. The power of waiting devices is
            included in it or not known.
        at_work: devices that work at the same time.
        notes: omissions and choices of the record.
    """

    architecture: str
    network: str
    board: str
    part: str
    options: Mapping[str, str | int | float | bool | None]
    scope: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    batch: int
    word_bits: int
    accumulator_bits: int
    clock_mhz: Figure
    memory_gbs: Figure | None
    devices: tuple[Device, ...]
    limits: Mapping[str, int]
    block_bits: int
    rows: tuple[PhaseRow, ...]
    own: tuple[str, ...]
    multipliers: Figure
    latency_s: Figure
    interval_s: Figure
    reconfiguration_s: Figure
    power_w: Figure | None = None
    at_work: int = 1
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the conditions that users of a record rely on."""
        _known(self.own, CLASSES)
        _known(self.limits, RESOURCES)
        if not self.devices or any(row.device >= len(self.devices) for row in self.rows):
            raise ValueError("every row must be of a device, and there must be one")
        if not 1 <= self.at_work <= len(self.devices):
            raise ValueError(f"{self.at_work} of {len(self.devices)} devices cannot be at work")

    @property
    def violated(self) -> tuple[Excess, ...]:
        """Return every exceeded resource."""
        return tuple(
            Excess(index, kind, device.used[kind].value, self.limits[kind])
            for index, device in enumerate(self.devices)
            for kind in RESOURCES
            if kind in device.used and device.used[kind].value > self.limits[kind]
        )

    @property
    def fits(self) -> bool:
        """Whether every device has enough resources."""
        return not self.violated

    @property
    def macs(self) -> int:
        """Useful multiply-adds of a batch."""
        return sum(row.macs for row in self.rows)

    @property
    def images_per_s(self) -> Figure:
        """Images per second in a sequence of batches."""
        return derived(self.batch / self.interval_s.value, self.interval_s)

    @property
    def gop_per_s(self) -> Figure:
        """Useful operations, 10^9 a second; a multiply-add is two operations."""
        return derived(2 * self.macs / self.interval_s.value / 1e9, self.interval_s)

    @property
    def busy(self) -> Figure:
        """Ratio of useful multiplier cycles to all multiplier cycles of an interval."""
        there = self.multipliers.value * self.clock_mhz.value * 1e6 * self.interval_s.value
        return derived(self.macs / there, self.multipliers, self.clock_mhz, self.interval_s)

    @property
    def energy_j(self) -> Figure | None:
        """Energy of a batch, of the devices at work; None if no source has their power."""
        if self.power_w is None:
            return None
        joule = self.power_w.value * self.at_work * self.interval_s.value
        return derived(joule, self.power_w, self.interval_s)

    def of_phase(self, phase: str | None) -> tuple[PhaseRow, ...]:
        """Return the rows of a phase, or all rows."""
        return tuple(row for row in self.rows if phase in (None, row.phase))

    def cycles(self, phase: str | None = None) -> Figure:
        """Return the cycles of a phase, summed over its rows, which may have run in parallel."""
        return summed(row.cycles for row in self.of_phase(phase))

    def classes(self, count: str) -> tuple[str, ...]:
        """Return the classes of bytes that a count includes, by its key of ``COUNTS``."""
        return {"own": self.own, "maps": ("maps",), "full": FULL}[count]

    def bytes(self, classes: Iterable[str], phase: str | None = None) -> Figure:
        """Return the bytes of some classes."""
        wanted = tuple(classes)
        rows = self.of_phase(phase)
        return summed(row.bytes[each] for row in rows for each in wanted if each in row.bytes)

    def mb_per_gflop(self, classes: Iterable[str], phase: str | None = None) -> Figure | None:
        """Return the 10^6 bytes of some classes per 10^9 operations; None without classes or
        operations.
        """
        wanted = tuple(classes)
        macs = sum(row.macs for row in self.of_phase(phase))
        found = self.bytes(wanted, phase)
        return derived(found.value / (2 * macs) * 1e3, found) if wanted and macs else None

    @property
    def on_chip_bytes(self) -> Figure | None:
        """Block RAM of all devices in bytes; None if it is not known."""
        blocks = [device.used["bram"] for device in self.devices if "bram" in device.used]
        if len(blocks) < len(self.devices):
            return None
        return derived(summed(blocks).value * self.block_bits / 8, *blocks)


def _known(names: Iterable[str], allowed: Iterable[str]) -> None:
    """Check names.

    Raises:
        ValueError: a name is unknown.
    """
    unknown = set(names) - set(allowed)
    if unknown:
        raise ValueError(f"{', '.join(sorted(unknown))}: must be of {', '.join(allowed)}")
