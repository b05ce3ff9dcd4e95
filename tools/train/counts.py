"""Count the bytes and cycles of each phase of a training step that ran in the hardware."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from merp.cosim.machines.training.hardware_step import Audits
from merp.cosim.phases.audit.audit import Audit, combine
from merp.models.network.network import Network
from merp.models.network.phases import counted_as, phases_counted


@dataclass(frozen=True, kw_only=True)
class PhaseCounts:
    """Bytes and cycles of one phase of a step, for all its passes together.

    Attributes:
        maps: bytes of maps and deltas, as in count ``maps``.
        bytes: bytes of every port but the velocities'.
        velocities: bytes of velocities, read and written.
        cycles: from the first accepted map word of a pass to its last output word.
        kernel_load: cycles before the first map word.
    """

    maps: int = 0
    bytes: int = 0
    velocities: int = 0
    cycles: int = 0
    kernel_load: int = 0

    @classmethod
    def of(cls, audits: Sequence[Audit], velocities: Sequence[str]) -> PhaseCounts:
        """Return the counts of audited passes, with bytes from the monitors on the pins.

        Args:
            audits: audits of the passes.
            velocities: names of the velocity ports.
        """
        if not audits:  # delta propagation of a single layer
            return cls()
        passes = combine(audits)
        moved = passes.moved
        apart = sum(moved.get(port, 0) for port in velocities)
        return cls(
            maps=sum(moved.get(port, 0) for port in passes.maps),
            bytes=sum(moved.values()) - apart,
            velocities=apart,
            cycles=passes.cycles["total"],
            kernel_load=passes.cycles.get("kernel_load", 0),
        )


def by_phase(audits: Audits, network: Network, velocities: Sequence[str]) -> dict[str, PhaseCounts]:
    """Return the counts of each phase of a step; two fused layers count as their ``fp``.

    Args:
        audits: audits by layer and phase.
        network: the network.
        velocities: names of the velocity ports.
    """
    return {
        phase: PhaseCounts.of(
            [each for (_, of), each in audits.items() if counted_as(of) == phase], velocities
        )
        for phase in phases_counted(network)
    }
