"""Traffic on count ``board``: the bytes that the passes of a plan move."""

from __future__ import annotations

from collections.abc import Iterator

from merp.models.machines.cnn_merp.plan.planned import NetworkPlan, PlannedPhase
from merp.models.machines.cnn_merp.plan.words import closed_form
from merp.models.network.network import Layer, Network
from merp.models.network.phases import ONE_PASS, PAIR
from merp.models.traffic.closed_form import LayerTraffic, PhaseTraffic, velocity_bytes


def board_traffic(network: Network, found: NetworkPlan) -> tuple[LayerTraffic, ...]:
    """Return the traffic of every layer of ``network`` in the passes of its plan."""
    phases = {(name, phase): moved for p in found.layers for name, phase, moved in _phases(p)}

    def traffic_of(layer: Layer) -> LayerTraffic:
        found = {phase: phases.get((layer.name, phase)) for phase in ("dp", "ku", ONE_PASS)}
        return LayerTraffic(layer, fp=phases[layer.name, "fp"], **found)

    return tuple(map(traffic_of, network.layers))


def _phases(planned: PlannedPhase) -> Iterator[tuple[str, str, PhaseTraffic]]:
    """Yield layer, phase and traffic. Two fused layers each have their share, in phase ``fp``."""
    work = planned.work
    if work.phase == PAIR and work.halves is not None:
        for half in work.halves:
            ports = closed_form(half, *half.whole)
            if half.layer is not work.layer:
                ports["map_in"] = 0  # they are passed from the layer in front, on chip
            yield half.layer.name, "fp", PhaseTraffic(half.layer.operations(half.images), ports)
        return
    updates = work.phase in ("ku", ONE_PASS)
    momentum = velocity_bytes(work.layer, work.engine) if updates else 0
    moved = PhaseTraffic(planned.operations, planned.ports, momentum=momentum)
    yield work.layer.name, work.phase, moved
