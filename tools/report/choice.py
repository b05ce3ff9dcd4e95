"""What a report is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from merp.models.cnn_merp.cycles import Cycles, network_cycles
from merp.models.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.fpga.parts import Part
from merp.models.network.network import Layer, Network
from merp.models.plan.plan import Plan, plan
from merp.models.traffic import published
from merp.tools.report.measured import Measurement


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a report is asked for.

    Attributes:
        batch: images of a training step. board: part, external memory, and clock of the engine.
        measured: what simulations found.
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

    @cached_property
    def plan(self) -> Plan | BadInput:
        """Passes that fit the board, deltas stored at pooled resolution; or why there are none."""
        try:
            return plan(self.network, self.board, self.batch)
        except BadInput as error:
            return error

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
