"""Traffic on footing ``board``: what the passes of a plan move."""

from __future__ import annotations

from merp.models.network.network import Layer, Network
from merp.models.network.phases import ONE_PASS
from merp.models.plan.plan import Plan, Planned
from merp.models.traffic.closed_form import LayerTraffic, Phase, velocity_bytes


def board_traffic(network: Network, found: Plan) -> tuple[LayerTraffic, ...]:
    """Return the traffic of every layer of ``network`` in the passes of its plan."""
    phases = {(p.work.layer.name, p.work.phase): _phase(p) for p in found.layers}

    def traffic_of(layer: Layer) -> LayerTraffic:
        found = {phase: phases.get((layer.name, phase)) for phase in ("dp", "ku", ONE_PASS)}
        return LayerTraffic(layer, fp=phases[layer.name, "fp"], **found)

    return tuple(map(traffic_of, network.layers))


def _phase(planned: Planned) -> Phase:
    work = planned.work
    updates = work.phase in ("ku", ONE_PASS)
    momentum = velocity_bytes(work.layer, work.engine) if updates else 0
    return Phase(planned.operations, planned.ports, momentum=momentum)
