"""The models half of the machine: the object that the entry point names."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.base.formats import FloatFormat
from merp.models.network.machine import Machine
from merp.models.network.network import Layer, Network
from merp.models.network.phases import FP, KU, has_phase
from merp.models.traffic.bytes import Bytes
from merp.models.traffic.closed_form import LayerTraffic, PhaseTraffic
from merp.models.traffic.count import Count
from pointwise.counts import cycles, port_words
from pointwise.design import KEYS, Design, read_design

OF_MAPS = ("map_in", "delta_in", "map_out")
"""Ports that count ``maps`` counts."""


class Cycles(NamedTuple):
    """Cycles of a run: kernels load within ``total``."""

    total: int
    kernel_load: int = 0


def layer_cycles(network: Network, layer: Layer, phase: str, images: int) -> Cycles:
    """Cycles of a phase of a layer over a batch."""
    return Cycles(cycles(phase, layer.shape, images))


def _traffic(network: Network, layer: Layer, batch: int, count: Count) -> LayerTraffic:
    def phase(name: str) -> PhaseTraffic | None:
        if not has_phase(network, layer, name):
            return None
        words = port_words(name, layer.shape, batch)
        counted = [port for port in words if count.name != "maps" or port in OF_MAPS]
        return PhaseTraffic(
            layer.operations(batch),
            {port: words[port] * network.fmt.bytes for port in counted if words[port]},
        )

    forward = phase("fp")
    assert forward is not None
    return LayerTraffic(layer, fp=forward, dp=None, ku=phase("ku"))


BYTES = Bytes(
    layers=lambda network, batch, count: [
        _traffic(network, layer, batch, count) for layer in network.layers
    ],
    caption=lambda count: f"Count {count.name}: words on the ports. MB = 10^6 bytes.",
)

MACHINE = Machine(
    name="pointwise",
    design=Design,
    numbers=FloatFormat,
    keys=KEYS,
    read=read_design,
    phases=(FP, KU),
    cycles="pointwise.machine:layer_cycles",
    bytes="pointwise.machine:BYTES",
    hardware="pointwise.parts:HARDWARE",
    comparison="pointwise.comparison:ARCHITECTURE",
)
