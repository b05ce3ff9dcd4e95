"""The fastest cut with whole maps on whole units, which can be built.

``LayerStage.dsps`` increases with the number of maps and decreases with the interval. A cut that
starts at a later map never needs more FPGAs. Therefore a cut in the order of the chain is fastest
if it gives every FPGA in turn as many maps as it can process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from merp.models.base.ordered_sum import ordered_sum
from merp.models.papers.fpdeep.piece import Piece
from merp.models.papers.fpdeep.stage import LayerStage


@dataclass(frozen=True)
class Partition:
    """A cut of a network into pieces.

    Attributes:
        interval: cycles from one image to the next.
        pieces: the pieces, in the order of the chain.
        nodes: number of available FPGAs; the cut may need fewer.
        dsps: DSPs of each FPGA.
        dealt: DSPs assigned to layers; None if all DSPs of all FPGAs are.
    """

    interval: int
    pieces: tuple[Piece, ...]
    nodes: int
    dsps: int
    dealt: int | None = None

    @property
    def multipliers(self) -> int:
        """DSPs that could multiply in parallel."""
        return self.nodes * self.dsps if self.dealt is None else self.dealt

    @property
    def idle(self) -> float:
        """Share of the DSP cycles of all FPGAs without a multiplication."""
        work = ordered_sum(float(piece.share) * piece.stage.work for piece in self.pieces)
        return 1 - work / (self.multipliers * self.interval)


def partition(stages: Sequence[LayerStage], nodes: int, dsps: int) -> Partition:
    """Return the cut with the smallest interval over ``nodes`` FPGAs of ``dsps`` DSPs.

    Raises:
        ValueError: the stages do not fit with any interval.
    """
    slow = max(stage.macs // stage.taps for stage in stages)  # a unit for each phase of each layer
    pieces = _filled(stages, dsps, slow)
    if pieces is None or pieces[-1].node >= nodes:
        raise ValueError("a unit of K x K DSPs for each phase of each layer does not fit")
    fast = max(0, sum(stage.work for stage in stages) // (nodes * dsps) - 1)
    while slow - fast > 1:
        middle = (slow + fast) // 2
        tried = _filled(stages, dsps, middle)
        if tried is None or tried[-1].node >= nodes:
            fast = middle
        else:
            slow, pieces = middle, tried
    return Partition(slow, tuple(pieces), nodes, dsps)


def _filled(stages: Sequence[LayerStage], dsps: int, interval: int) -> list[Piece] | None:
    """Return the pieces if each FPGA in turn gets all maps that it can process.

    The result is None if a whole FPGA cannot process a single map of a stage.
    """
    pieces, node, room = [], 0, dsps
    for stage in stages:
        done = 0
        while done < stage.maps:
            maps = min(stage.maps - done, stage.most_maps(room, interval))
            if maps:
                need = stage.dsps(maps, interval)
                begin, end = Fraction(done, stage.maps), Fraction(done + maps, stage.maps)
                pieces.append(Piece(node=node, stage=stage, begin=begin, end=end, dsps=need))
                done += maps
                room -= need
            elif room == dsps:
                return None
            else:
                node, room = node + 1, dsps
    return pieces
