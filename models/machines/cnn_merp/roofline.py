"""Roofline model: multipliers or external memory limit a layer's phase.

S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model", CACM
52(4), 2009. The roof is that of the CUs of the layer's design, without the idle slots of a last,
partial group. Stalls of the schedule are a third limit, found by the cycle model.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.machines.cnn_merp.cycle_causes import Cycles


@dataclass(frozen=True)
class RooflinePoint:
    """A phase of a layer under its roof; throughputs in GFlop/s.

    Attributes:
        intensity: operations per byte moved.
        peak: of all multipliers.
        compute: with the cycles of the schedule, including the loading of kernels.
        memory: throughput that the bandwidth feeds.
    """

    intensity: float
    peak: float
    compute: float
    memory: float
    stalled: str

    @property
    def attainable(self) -> float:
        """The lower of ``compute`` and ``memory``."""
        return min(self.compute, self.memory)

    @property
    def bound(self) -> str:
        """``memory``, ``compute``, or the main cause of the schedule's cycles."""
        return "memory" if self.memory < self.compute else self.stalled


def point(cycles: Cycles, moved: int, clock_mhz: float, bandwidth_gbs: float) -> RooflinePoint:
    """Place a phase of ``cycles`` that moves ``moved`` bytes."""
    peak = 2 * cycles.taps * cycles.n_cu * clock_mhz / 1e3
    intensity = cycles.operations / moved
    return RooflinePoint(
        intensity=intensity,
        peak=peak,
        compute=cycles.operations / cycles.phase * clock_mhz / 1e3,
        memory=intensity * bandwidth_gbs,
        stalled=cycles.bound,
    )
