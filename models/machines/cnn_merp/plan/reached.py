"""Comparison of folded layers with the limits of ports and memory, by the model of every slot.

Each weight of such a layer is moved once for few products. Therefore ports and memory limit the
layer, not units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.cycles import delta_cycles, forward_cycles, update_cycles
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan, PassKind, PlannedPhase


@dataclass(frozen=True, kw_only=True)
class Reached:
    """Seconds of all passes of a folded layer and phase.

    Attributes:
        planned: the layer and phase.
        ports: of the slowest port, including that of kernels, and of the memory, if everything else
            ran in parallel. This is a lower bound.
        walked: by the cycle model, with kernels before the slots, or their update after them.
    """

    planned: PlannedPhase
    ports: float
    walked: float

    @property
    def share_of_plan(self) -> float:
        """Ratio of the plan's seconds to the walked seconds; the plan loads kernels outside the
        slots.
        """
        return self.planned.seconds / self.walked

    @property
    def share_of_ports(self) -> float:
        """Ratio of the port and memory limit, without any waits, to the walked seconds."""
        return self.ports / self.walked


def reached(plan: NetworkPlan) -> Iterator[Reached]:
    """Yield the folded layers of a plan for which there is hardware."""
    clock = plan.board.clock_mhz * 1e6
    for planned in plan.layers:
        if not (planned.work.folded and planned.work.built):
            continue
        ports = walked = 0.0
        for kind, cost in planned.costs:
            streams = [count for port, count in cost.cycles.items() if port != "units"]
            slowest = max(float(count[0]) for count in (*streams, cost.parameters)) / clock
            memory = float(cost.bytes[0]) / (plan.board.bytes_per_cycle * clock)
            ports += kind.passes * max(slowest, memory)
            walked += kind.passes * max(walked_cycles(planned, kind) / clock, memory)
        yield Reached(planned=planned, ports=ports, walked=walked)


def walked_cycles(planned: PlannedPhase, kind: PassKind) -> int:
    """Return the cycles of one pass of a kind of a folded layer, kernels included."""
    work, design, (inputs, outputs) = planned.work, planned.engine.design, kind.maps
    start = (planned.in_parts - 1) * planned.tile[0] if kind.part.last else 0
    elements = work.elements(start, start + inputs)
    if work.phase == "fp":
        shape = replace(work.shape, n=elements, m=outputs)
        return forward_cycles(shape, work.images, design, kind.part).phase
    if work.phase == "dp":
        shape = replace(work.shape, n=outputs, m=elements)
        behind = Shape(n=1, m=outputs, k=1, rows=1, columns=1)
        return delta_cycles(shape, behind, outputs, work.images, design, kind.part).phase
    shape = replace(work.shape, n=elements, m=outputs)
    biases = 0 if kind.part.biases else outputs  # biases, if any, take a cycle each
    return update_cycles(shape, work.images, design).phase - biases
