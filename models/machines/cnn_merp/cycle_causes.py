"""Cycles of a run by cause, and the figures that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from merp.models.base.counters import PARTS


@dataclass(frozen=True, kw_only=True)
class Cycles:
    """Cycles by cause; all but ``kernel_load`` are between the first word in and the last word out.

    They are named like the hardware's counters (``models/base/counters.py``).

    Attributes:
        operations: operations in these cycles.
        n_cu, taps: CUs, and multipliers of each.
    """

    counts: ClassVar[tuple[str, ...]] = ("kernel_load", *PARTS, "operations")

    kernel_load: int
    fill: int
    issue: int
    stall_input: int
    stall_output: int
    stall_hazard: int
    drain: int
    operations: int
    n_cu: int
    taps: int

    @property
    def total(self) -> int:
        """Cycles from the first accepted map word to the last output word."""
        return self.fill + self.issue + sum(self.stalls.values()) + self.drain

    @property
    def phase(self) -> int:
        """Cycles including the loading of kernels."""
        return self.kernel_load + self.total

    @property
    def ideal(self) -> float:
        """Cycles if every CU were useful in each cycle."""
        return self.operations / (2 * self.taps * self.n_cu)

    @property
    def efficiency(self) -> float:
        """Ratio of CU-useful cycles to all cycles of the runs."""
        return self.ideal / self.total

    @property
    def slot_efficiency(self) -> float:
        """Ratio of CU-useful slots to issued slots."""
        return self.ideal / self.issue

    @property
    def stalls(self) -> dict[str, int]:
        """Cycles without a slot between the first and the last slot, by the awaited resource."""
        return {
            "input words": self.stall_input,
            "output port": self.stall_output,
            "accumulators": self.stall_hazard,
        }

    @property
    def waits_for(self) -> str:
        """The most frequent cause of stalls; ``nothing`` without stalls."""
        worst = max(self.stalls, key=self.stalls.__getitem__)
        return worst if self.stalls[worst] else "nothing"

    @property
    def bound(self) -> str:
        """The cause of most cycles other than slots, or ``compute``."""
        return self.waits_for if max(self.stalls.values()) > self.issue else "compute"

    def times(self, runs: int) -> Cycles:
        """Return the cycles of ``runs`` repetitions of the run."""
        counts = {key: runs * getattr(self, key) for key in self.counts}
        return replace(self, **counts)

    def plus(self, other: Cycles) -> Cycles:
        """Return the cycles of both runs, one after the other, on one design."""
        sums = {key: getattr(self, key) + getattr(other, key) for key in self.counts}
        return replace(self, **sums)


@dataclass(frozen=True, kw_only=True)
class BackwardCycles(Cycles):
    """Cycles of both backward phases in one pass, by the slots of the kernel update.

    Attributes:
        propagation_issue: slots of delta propagation.
        propagation_cus: its share of ``n_cu``.
    """

    counts: ClassVar[tuple[str, ...]] = (*Cycles.counts, "propagation_issue")

    propagation_issue: int
    propagation_cus: int

    @property
    def slot_efficiency(self) -> float:
        """Ratio of CU-useful slots to issued slots, of both halves."""
        update_cus = self.n_cu - self.propagation_cus
        issued = self.issue * update_cus + self.propagation_issue * self.propagation_cus
        return self.operations / (2 * self.taps * issued)


@dataclass(frozen=True, kw_only=True)
class FusedCycles(Cycles):
    """Cycles of two layers fused in forward propagation, by the slots of the second layer.

    Attributes:
        n_cu, taps: of the second layer, of all groups that are computed in parallel.
        first_issue: slots of the first layer.
        multipliers: of both layers.
    """

    counts: ClassVar[tuple[str, ...]] = (*Cycles.counts, "first_issue")

    first_issue: int
    multipliers: int

    @property
    def ideal(self) -> float:
        """Cycles if every multiplier of both layers were useful in each cycle."""
        return self.operations / (2 * self.multipliers)

    @property
    def slot_efficiency(self) -> float:
        """Ratio of CU-useful slots to issued slots, of both layers, weighted by their
        multipliers.
        """
        second = self.n_cu * self.taps
        issued = self.issue * second + self.first_issue * (self.multipliers - second)
        return self.operations / (2 * issued)
