"""Words of one image between neighbouring FPGAs, in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from merp.models.papers.fpdeep.piece import Piece


@dataclass(frozen=True)
class BoardLink:
    """Words of one image between FPGA ``node`` and the next FPGA, in each direction."""

    node: int
    forward: float
    backward: float

    @property
    def most(self) -> float:
        """Words of the busier direction."""
        return max(self.forward, self.backward)


def borders(pieces: Sequence[Piece], *, open_group: bool = False) -> list[BoardLink]:
    """Return the borders of a chain. source: FPDeep section III.C, data paths 1, 2, 4 and 5.

    With ``open_group``, only the partial sums of the group at a border cross it, in a layer with
    groups. In the paper, all partial sums cross the border.
    """
    last = {piece.node: piece for piece in pieces}
    return [_border(last[node], open_group) for node in sorted(last)[:-1]]


def _border(piece: Piece, open_group: bool) -> BoardLink:
    layer, done = piece.stage.layer, float(piece.end)
    if done == 1:
        return BoardLink(piece.node, layer.outputs, layer.outputs)
    if piece.stage.by_outputs:
        finished = done * layer.outputs
        return BoardLink(piece.node, layer.inputs + finished, finished)
    left = (1 - done) * layer.inputs
    sums = layer.sums / layer.groups if open_group else layer.sums
    return BoardLink(piece.node, left + sums, left + layer.outputs)


def gbits_s(words: float, word_bits: int, interval: float, clock_mhz: float) -> float:
    """Return the rate of ``words`` in ``interval`` cycles, in 10^9 bits per second."""
    return words * word_bits * clock_mhz / interval / 1e3
