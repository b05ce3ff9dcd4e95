"""What a report is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from merp.models.cnn_merp.cycles import Cycles, network_cycles
from merp.models.cnn_merp.fused_pair import pairs_that_fit
from merp.models.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.fpga.parts import Part
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import SEPARATE
from merp.models.plan.plan import plan
from merp.models.plan.planned import Plan, Planned
from merp.models.traffic import published
from merp.models.traffic.closed_form import Phase
from merp.models.traffic.footing import Footing
from merp.tools.report.measurement import Measurement
from merp.tools.report.tiles import TileRecord


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a report is asked for.

    Attributes:
        batch: images of a training step. board: part, external memory, and clock of the engine.
        measured: what simulations of layers in one piece found. tiles: what those of a plan's
            passes found.
    """

    network: Network
    batch: int
    board: Board
    measured: Sequence[Measurement] = ()
    tiles: Sequence[TileRecord] = ()

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

    @cached_property
    def pair(self) -> tuple[str, ...]:
        """The two layers that save most by being fused, of those that fit the part; or none."""
        found = [(one, other) for one, other, _ in pairs_that_fit(self.network, self.part)]
        best = max(found, key=lambda pair: pair[0].outputs, default=())
        return tuple(layer.name for layer in best)

    @cached_property
    def plan(self) -> Plan | BadInput:
        """Passes that fit the board, deltas stored at pooled resolution; or why there are none."""
        try:
            return plan(self.network, self.board, self.batch)
        except BadInput as error:
            return error

    def network_on(self, footing: Footing) -> Network:
        """The network; its passes apart where deltas lie at the resolution of the sums."""
        return self.network if footing.pooled else replace(self.network, backward=SEPARATE)

    def saw(self, layer: Layer, phase: str, figure: Phase, *, every_port: bool) -> bool:
        """Whether a record moved the very bytes of a figure of a layer and phase."""
        return any(
            found.layer is layer
            and found.phase == phase
            and found.shows(figure, self.batch, every_port=every_port)
            for found in self.measured
        )

    def shown(self, planned: Planned) -> bool:
        """Whether the bytes of all its passes were seen on the pins."""
        return any(record.shows(planned) for record in self.tiles)

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
