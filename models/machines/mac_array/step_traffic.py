"""Traffic of a network's training step on the MAC array, layer by layer, in bytes on its ports.

Count ``maps`` includes maps and deltas. Count ``all`` also includes kernels and gradients. No
ReLU/pooling mask leaves the array. If deltas are stored at pooled resolution, pooling and
un-pooling are fused into other passes. Otherwise both are passes over DRAM, as in the paper's
machine.
"""

from __future__ import annotations

from merp.models.machines.mac_array.array_traffic import (
    OF_MAPS,
    OF_VELOCITIES,
    passes_of,
    port_words,
)
from merp.models.machines.mac_array.geometry import geometry
from merp.models.machines.mac_array.params.window import largest_window
from merp.models.machines.mac_array.passes import design_of
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase
from merp.models.traffic.closed_form import LayerTraffic, PhaseTraffic
from merp.models.traffic.count import Count


def array_traffic(network: Network, images: int, counts: Count) -> tuple[LayerTraffic, ...]:
    """Return the traffic of every layer for a batch of ``images``.

    Raises:
        BadInput: a layer has no design of the array.
    """

    def phase(layer: Layer, name: str) -> PhaseTraffic | None:
        if not has_phase(network, layer, name):
            return None
        design = design_of(network, layer)
        seen = geometry(network, layer, largest_window(design.max_kernel, design.reach))
        streams: dict[str, int] = {}
        momentum = 0
        for each in passes_of(seen, name):
            words = port_words(
                seen, design, images, each, fused=counts.pooled, momentum=design.momentum
            )
            for port, count in words.items():
                if port in OF_VELOCITIES:
                    momentum += network.fixed.bytes * count
                elif port in OF_MAPS or counts.name != "maps":
                    streams[port] = streams.get(port, 0) + network.fixed.bytes * count
        return PhaseTraffic(
            layer.operations(images), streams, momentum if counts.name != "maps" else 0
        )

    found = []
    for layer in network.layers:
        forward = phase(layer, "fp")
        assert forward is not None
        found.append(LayerTraffic(layer, forward, phase(layer, "dp"), phase(layer, "ku")))
    return tuple(found)
