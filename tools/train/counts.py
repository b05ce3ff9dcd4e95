"""What the phases of a step in the hardware moved and took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from merp.cosim.audit.audit import Audit
from merp.cosim.phases.cnn_merp.kernel_update import VELOCITY_PORTS
from merp.cosim.training.hardware_step import Audits
from merp.models.network.phases import PHASES


@dataclass(frozen=True, kw_only=True)
class PhaseCounts:
    """What one phase of a step moved and took, all its passes together.

    Attributes:
        maps: bytes of maps and deltas, which is what footing ``paper`` counts.
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
    def of(cls, audits: Sequence[Audit]) -> PhaseCounts:
        """Counts of audited passes, bytes as the monitors saw them on the pins.

        A port may have words of other sizes in another layer: bytes are summed, not words.
        """
        velocities = sum(each.moved.get(port, 0) for each in audits for port in VELOCITY_PORTS)
        return cls(
            maps=sum(each.moved.get(port, 0) for each in audits for port in each.maps),
            bytes=sum(sum(each.moved.values()) for each in audits) - velocities,
            velocities=velocities,
            cycles=sum(each.cycles["total"] for each in audits),
            kernel_load=sum(each.cycles["kernel_load"] for each in audits),
        )


def by_phase(audits: Audits) -> dict[str, PhaseCounts]:
    """Counts of each phase of a step."""
    return {
        phase: PhaseCounts.of([each for (_, of), each in audits.items() if of == phase])
        for phase in PHASES
    }
