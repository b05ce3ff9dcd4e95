"""What folded layers reach of what ports and memory allow, by the model that walks every slot.

Their weights are moved once for few products each, so that ports and memory bound them, not units.
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
        planned: of which layer and phase.
        ports: of the slowest port, that of kernels too, and of the memory, as if all else went on
            beside it: nothing is quicker.
        walked: by the cycle model, kernels in front of the slots, or their update behind them.
    """

    planned: PlannedPhase
    ports: float
    walked: float

    @property
    def share_of_plan(self) -> float:
        """Of what the plan says that ports and memory allow, its kernels one after the slots."""
        return self.planned.seconds / self.walked

    @property
    def share_of_ports(self) -> float:
        """Of what ports and memory allow if nothing waited for them."""
        return self.ports / self.walked


def reached(plan: NetworkPlan) -> Iterator[Reached]:
    """The folded layers of a plan that there is hardware for."""
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
    """Cycles of one pass of a kind of a folded layer, kernels included."""
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
    biases = 0 if kind.part.biases else outputs  # they take a cycle each, where there are any
    return update_cycles(shape, work.images, design).phase - biases
