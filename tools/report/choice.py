"""What a report is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from merp.models.fpga.board import Board
from merp.models.fpga.parts import Part
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import SEPARATE
from merp.models.traffic import published
from merp.models.traffic.closed_form import LayerTraffic, PhaseTraffic
from merp.models.traffic.count import Count
from merp.tools.report.measurement import Measurement


@dataclass(frozen=True, kw_only=True)
class ReportChoice:
    """What a report is asked for.

    Attributes:
        batch: images of a training step. board: part, external memory, and clock of the engine.
        measured: what simulations of layers in one piece found.
    """

    network: Network
    batch: int
    board: Board
    measured: Sequence[Measurement] = ()

    @property
    def part(self) -> Part:
        """FPGA whose memory and bitstream count."""
        return self.board.part

    @property
    def clock_mhz(self) -> float:
        """Of the engine."""
        return self.board.clock_mhz

    @property
    def bandwidth_gbs(self) -> float:
        """Peak of the external memory, 10^9 bytes a second."""
        return self.board.gbytes_s

    def network_on(self, count: Count) -> Network:
        """The network; its passes apart where deltas lie at the resolution of the sums."""
        return self.network if count.pooled else replace(self.network, backward=SEPARATE)

    def saw(self, layer: Layer, phase: str, figure: PhaseTraffic, *, every_port: bool) -> bool:
        """Whether a record moved the very bytes of a figure of a layer and phase."""
        return any(
            found.layer is layer
            and found.phase == phase
            and found.shows(figure, self.batch, every_port=every_port)
            for found in self.measured
        )

    def moved(self, figures: LayerTraffic, phase: str, count: Count) -> bool:
        """Whether simulations moved the very bytes that a layer moves in a phase, by a count."""
        figure: PhaseTraffic | None = getattr(figures, phase)
        every_port = count.name == "all"
        return figure is not None and self.saw(figures.layer, phase, figure, every_port=every_port)

    @property
    def confirms(self) -> bool:
        """Whether every simulation moved what is modelled."""
        return all(each.confirms for each in self.measured)

    @property
    def papers(self) -> bool:
        """Whether the paper's printed values are of this network and batch."""
        return self.batch == published.BATCH and published.is_papers_network(self.network)

    @property
    def convolutions(self) -> list[Layer]:
        """Convolution layers, in order."""
        return [layer for layer in self.network.layers if layer.kind == "conv"]

    def seconds(self, cycles: int) -> float:
        """Time of ``cycles`` at the clock."""
        return cycles / (self.clock_mhz * 1e6)
