"""Memory contents of an FPGA: weights, their gradients, and maps that wait for their deltas."""

from __future__ import annotations

from collections.abc import Sequence

from merp.models.papers.fpdeep.piece import Piece


def weight_words(pieces: Sequence[Piece]) -> dict[int, float]:
    """Return the kernel elements of each FPGA; it has as many gradients.

    source: FPDeep section IV, LWRAM and LGB
    """
    words: dict[int, float] = {}
    for piece in pieces:
        own = float(piece.share) * piece.stage.layer.kernels
        words[piece.node] = words.get(piece.node, 0.0) + own
    return words


def feature_words(pieces: Sequence[Piece]) -> dict[int, float]:
    """Return the elements of one image's input maps that each FPGA stores (FRAM).

    If a layer is cut by output maps, each of its FPGAs stores all input maps.
    """
    words: dict[int, float] = {}
    for piece in pieces:
        share = 1.0 if piece.stage.by_outputs else float(piece.share)
        words[piece.node] = words.get(piece.node, 0.0) + share * piece.stage.layer.inputs
    return words
