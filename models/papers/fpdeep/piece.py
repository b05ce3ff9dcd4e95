"""What an FPGA of the chain has of a layer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from merp.models.papers.fpdeep.stage import LayerStage


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A share of a layer's maps.

    Attributes:
        node: of the chain, from 0.
        begin, end: shares of the layer's maps in front of the piece, and up to its end.
        dsps: of the node that compute it.
    """

    node: int
    stage: LayerStage
    begin: Fraction
    end: Fraction
    dsps: float

    @property
    def share(self) -> Fraction:
        """Of the layer's maps, so of its work and of its kernels."""
        return self.end - self.begin
