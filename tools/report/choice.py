"""The request of a report."""

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
    """The request of a report.

    Attributes:
        network: the network.
        batch: images of a training step.
        board: part, external memory, and clock of the engine.
        measured: results of simulations of layers in one piece.
    """

    network: Network
    batch: int
    board: Board
    measured: Sequence[Measurement] = ()

    @property
    def part(self) -> Part:
        """The FPGA whose memory and bitstream are counted."""
        return self.board.part

    @property
    def clock_mhz(self) -> float:
        """Clock of the engine in MHz."""
        return self.board.clock_mhz

    @property
    def bandwidth_gbs(self) -> float:
        """Peak bandwidth of the external memory, 10^9 bytes per second."""
        return self.board.gbytes_s

    def network_on(self, count: Count) -> Network:
        """Return the network, with separate passes if deltas have the resolution of the sums."""
        return self.network if count.pooled else replace(self.network, backward=SEPARATE)

    def saw(self, layer: Layer, phase: str, figure: PhaseTraffic, *, every_port: bool) -> bool:
        """Return whether a record moved exactly the bytes of a figure of a layer and phase."""
        return any(
            found.layer is layer
            and found.phase == phase
            and found.shows(figure, self.batch, every_port=every_port)
            for found in self.measured
        )

    def moved(self, figures: LayerTraffic, phase: str, count: Count) -> bool:
        """Return whether simulations moved exactly the bytes of a layer and phase, by a count."""
        figure: PhaseTraffic | None = getattr(figures, phase)
        every_port = count.name == "all"
        return figure is not None and self.saw(figures.layer, phase, figure, every_port=every_port)

    @property
    def confirms(self) -> bool:
        """Whether every simulation moved the modelled words."""
        return all(each.confirms for each in self.measured)

    @property
    def papers(self) -> bool:
        """Whether the paper's printed values apply to this network and batch."""
        return self.batch == published.BATCH and published.is_papers_network(self.network)

    @property
    def convolutions(self) -> list[Layer]:
        """The convolution layers, in order."""
        return [layer for layer in self.network.layers if layer.kind == "conv"]

    def seconds(self, cycles: int) -> float:
        """Return the time of ``cycles`` at the clock."""
        return cycles / (self.clock_mhz * 1e6)
