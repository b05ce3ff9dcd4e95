"""Results of the passes of a layer and phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from merp.cosim.machines.cnn_merp.passes.of_plan import OfPlan
from merp.cosim.machines.cnn_merp.passes.unit import PassUnit, differences
from merp.cosim.phases.audit.audit import Audit, combine
from merp.models.machines.cnn_merp.plan.planned import PlannedPhase


@dataclass(frozen=True)
class RanUnit:
    """A simulated unit.

    Attributes:
        audit: audit of all its passes.
        elaboration_sha: fingerprint of the elaborated design.
        build_seconds: time of its elaboration or build.
    """

    unit: PassUnit
    audit: Audit
    elaboration_sha: str
    build_seconds: float


@dataclass(frozen=True)
class TilesResult:
    """A layer and phase: its simulated units, and its plan.

    Attributes:
        ran: the units; empty if there is no hardware.
    """

    planned: PlannedPhase
    ran: Sequence[RanUnit]

    @cached_property
    def audit(self) -> Audit | None:
        """Audit of all simulated passes; None if there are none."""
        return combine([each.audit for each in self.ran]) if self.ran else None

    @property
    def passes(self) -> int:
        """Number of simulated passes."""
        return sum(len(each.unit.places(self.planned.in_parts)) for each in self.ran)

    @cached_property
    def formula(self) -> Mapping[str, int]:
        """Bytes of each port: closed form of all passes, or formula of each simulated pass."""
        if self.complete:
            return self.planned.ports
        found: dict[str, int] = {}
        for each in self.ran:
            for place in each.unit.places(self.planned.in_parts):
                for port, count in OfPlan(self.planned).bytes_of(place).items():
                    found[port] = found.get(port, 0) + count
        return found

    @property
    def complete(self) -> bool:
        """Whether every pass ran."""
        return self.passes == self.planned.passes

    @cached_property
    def failures(self) -> list[str]:
        """Every failed check. If all passes ran, the plan's closed form is one of the checks."""
        if self.audit is None:
            return []
        found = list(self.audit.failures)
        if self.complete:
            told = differences(self.audit.moved, self.formula)
            found += [f"sum of all passes: {each}" for each in told]
        return found

    @property
    def measured(self) -> bool:
        """Whether all passes ran without failure and moved the closed form of every port."""
        return self.complete and not self.failures
