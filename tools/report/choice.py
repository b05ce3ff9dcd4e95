"""What a report is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from merp.models.cnn_merp.cycles import Cycles, network_cycles
from merp.models.fpga.parts import Part
from merp.models.network.network import Layer, Network
from merp.models.traffic import published
from merp.tools.report.measured import Measurement


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a report is asked for.

    Attributes:
        batch: images of a training step. part: FPGA whose memory and bitstream count.
        clock_mhz: of the engine. bandwidth_gbs: of the external memory, 10^9 bytes a second.
        measured: what simulations found.
    """

    network: Network
    batch: int
    part: Part
    clock_mhz: float
    bandwidth_gbs: float
    measured: Sequence[Measurement] = ()

    @property
    def papers(self) -> bool:
        """Whether the paper's printed values are of this network and batch."""
        return self.batch == published.BATCH and published.is_papers_network(self.network)

    @property
    def convolutions(self) -> list[Layer]:
        """Convolution layers, in order."""
        return [layer for layer in self.network.layers if layer.kind == "conv"]

    @cached_property
    def cycles(self) -> list[tuple[Layer, str, Cycles]]:
        """Layer, phase and cycles of all that runs on a design."""
        return list(network_cycles(self.network, self.batch))

    def seconds(self, cycles: int) -> float:
        """Time of ``cycles`` at the clock."""
        return cycles / (self.clock_mhz * 1e6)
