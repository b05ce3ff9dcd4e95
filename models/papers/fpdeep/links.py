"""Words of an image that cross from an FPGA to the next one, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from merp.models.papers.fpdeep.piece import Piece


@dataclass(frozen=True)
class BoardLink:
    """Between FPGA ``node`` and the next one: words of an image each way."""

    node: int
    forward: float
    backward: float

    @property
    def most(self) -> float:
        """Of the busier way."""
        return max(self.forward, self.backward)


def borders(pieces: Sequence[Piece], *, open_group: bool = False) -> list[BoardLink]:
    """Return the borders of a chain. source: FPDeep section III.C, data paths 1, 2, 4 and 5.

    ``open_group``: of a layer with groups only the sums of the group that the border cuts cross;
    the paper passes all partial sums on.
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
    """Return the rate, 10^9 bits a second, of ``words`` in ``interval`` cycles."""
    return words * word_bits * clock_mhz / interval / 1e3
