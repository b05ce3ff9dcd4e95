"""What the phases of a step in the hardware moved and took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from merp.cosim.phases.audit.audit import Audit, combine
from merp.cosim.training.hardware_step import Audits
from merp.models.network.network import Network
from merp.models.network.phases import counted_as, phases_counted


@dataclass(frozen=True, kw_only=True)
class PhaseCounts:
    """What one phase of a step moved and took, all its passes together.

    Attributes:
        maps: bytes of maps and deltas, which is what count ``maps`` counts.
        bytes: of every port but the velocities'. velocities: of those, read and written.
        cycles: from the first accepted map word of a pass to its last output word.
        kernel_load: cycles before that.
    """

    maps: int = 0
    bytes: int = 0
    velocities: int = 0
    cycles: int = 0
    kernel_load: int = 0

    @classmethod
    def of(cls, audits: Sequence[Audit], velocities: Sequence[str]) -> PhaseCounts:
        """Counts of audited passes, bytes as the monitors saw them on the pins.

        velocities: the ports of these.
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
    """Counts of each phase of a step of the network, of two fused layers as of their ``fp``.

    velocities: the ports of these.
    """
    return {
        phase: PhaseCounts.of(
            [each for (_, of), each in audits.items() if counted_as(of) == phase], velocities
        )
        for phase in phases_counted(network)
    }
