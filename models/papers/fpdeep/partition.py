"""Whole maps on whole units: the fastest cut that can be built.

``Stage.dsps`` grows with the maps and falls with the interval, and a cut that begins later never
needs more FPGAs; so of all cuts of the chain in order none is faster than one that gives every FPGA
in turn as many maps as it can take.
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
    """A cut.

    Attributes:
        interval: cycles from image to image. pieces: in the order of the chain.
        nodes: FPGAs that it was made for, all of which may not be needed. dsps: of each.
        dealt: DSPs that layers have; None for those of all nodes.
    """

    interval: int
    pieces: tuple[Piece, ...]
    nodes: int
    dsps: int
    dealt: int | None = None

    @property
    def multipliers(self) -> int:
        """DSPs that could multiply at once."""
        return self.nodes * self.dsps if self.dealt is None else self.dealt

    @property
    def idle(self) -> float:
        """Share of the DSP cycles of all FPGAs in which nothing is multiplied."""
        work = ordered_sum(float(piece.share) * piece.stage.work for piece in self.pieces)
        return 1 - work / (self.multipliers * self.interval)


def partition(stages: Sequence[LayerStage], nodes: int, dsps: int) -> Partition:
    """Return the cut of ``stages`` over ``nodes`` FPGAs of ``dsps`` DSPs with the least interval.

    Raises:
        ValueError: it fits at no interval.
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
    """Give each FPGA what it can take; None where an empty one cannot take a single map."""
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
