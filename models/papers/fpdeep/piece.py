"""The part of a layer on one FPGA."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from merp.models.papers.fpdeep.stage import LayerStage


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A share of a layer's maps.

    Attributes:
        node: index of the FPGA in the chain, from 0.
        stage: the layer.
        begin, end: range of the share, in fractions of the layer's maps.
        dsps: DSPs of the FPGA that compute it.
    """

    node: int
    stage: LayerStage
    begin: Fraction
    end: Fraction
    dsps: float

    @property
    def share(self) -> Fraction:
        """Share of the layer's maps, and therefore of its work and its kernels."""
        return self.end - self.begin
