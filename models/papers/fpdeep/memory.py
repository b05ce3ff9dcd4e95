"""What an FPGA keeps: weights and their gradients, and maps that wait for their deltas."""

from __future__ import annotations

from collections.abc import Sequence

from merp.models.papers.fpdeep.piece import Piece


def weight_words(pieces: Sequence[Piece]) -> dict[int, float]:
    """Return the kernel elements of each FPGA; their gradients are as many again.

    source: FPDeep section IV, LWRAM and LGB
    """
    words: dict[int, float] = {}
    for piece in pieces:
        own = float(piece.share) * piece.stage.layer.kernels
        words[piece.node] = words.get(piece.node, 0.0) + own
    return words


def feature_words(pieces: Sequence[Piece]) -> dict[int, float]:
    """Return the elements of the input maps of one image that each FPGA keeps (FRAM).

    A layer that is cut by output maps has all its inputs in each of its FPGAs.
    """
    words: dict[int, float] = {}
    for piece in pieces:
        share = 1.0 if piece.stage.by_outputs else float(piece.share)
        words[piece.node] = words.get(piece.node, 0.0) + share * piece.stage.layer.inputs
    return words
