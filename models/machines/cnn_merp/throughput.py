"""Throughput of forward propagation, also with more CUs than a network has: figure 13, table 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from merp.models.base.ordered_sum import ordered_sum
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.cycles import network_cycles
from merp.models.machines.cnn_merp.designs import designs_of
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import MAXIMA, size_design
from merp.models.network.network import Network


def with_cus(network: Network, factor: int) -> Network:
    """Return ``network`` with ``factor`` times as many CUs in every design, sized again."""
    if factor == 1:
        return network
    designs: dict[str, EngineDesign] = {}
    for name, design in designs_of(network).items():
        shapes: list[Shape] = [layer.shape for layer in network.layers if layer.design == name]
        chosen = {
            field.name: getattr(design, field.name)
            for field in fields(EngineDesign)
            if field.name not in (*MAXIMA, "average")
        }
        designs[name] = size_design(shapes, **(chosen | {"n_cu": factor * design.n_cu}))
    return replace(network, designs=designs)


@dataclass(frozen=True)
class Throughput:
    """GFlop/s of forward propagation by layer.

    Attributes:
        peaks: with every CU useful in every cycle.
        modelled: by the cycle model, including the loading of kernels.
        overall: operations of all layers divided by their time.
    """

    peaks: Mapping[str, float]
    modelled: Mapping[str, float]
    overall: float

    @property
    def mean_peak(self) -> float:
        """Mean of the layers' peaks, with equal weights."""
        return ordered_sum(self.peaks.values()) / len(self.peaks)


def forward_throughput(network: Network, batch: int, clock_mhz: float) -> Throughput | None:
    """Return the throughput of the convolution layers with a design; None if there are none."""
    peaks, modelled = {}, {}
    operations = cycles = 0
    for layer, _, found in network_cycles(network, batch, ("fp",)):
        if layer.kind != "conv":
            continue
        peaks[layer.name] = 2 * found.taps * found.n_cu * clock_mhz / 1e3
        modelled[layer.name] = found.operations / found.phase * clock_mhz / 1e3
        operations += found.operations
        cycles += found.phase
    if not cycles:
        return None
    return Throughput(peaks, modelled, operations / cycles * clock_mhz / 1e3)
