"""Lower bounds on the traffic of a layer's phase: no schedule moves less.

Every operand must cross once (compulsory). With M words on chip, a convolution of G multiply-adds
whose sums leave moves at least

    max{ I + O + W,  2*G*s / (k*sqrt(M)) - 2M,  (9/4)*G/M - M }    words

A. Chen, J. Demmel, G. Dinh, M. Haberle, O. Holtz, "Communication bounds for convolutional neural
networks", PASC 2022: the single-processor bound, all operands of one precision. Fused pooling keeps
sums on chip, so a super layer may pass below it, down to its own compulsory traffic.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from merp.models.network.network import Layer


@dataclass(frozen=True)
class Bound:
    """Words of a phase of a layer, all groups.

    Attributes:
        fused: compulsory traffic of the super layer, its output side at pooled resolution.
        operands: I + O + W of the convolution alone.
        communication: what the on-chip memory forces; below zero it says nothing.
    """

    fused: int
    operands: int
    communication: float

    @property
    def binding(self) -> str:
        """Which of both bounds the convolution alone."""
        return "compulsory" if self.operands >= self.communication else "communication"


def on_chip_words(layer: Layer) -> int:
    """Return the words that one group keeps on chip: kernels, k rows of each input map, sums."""
    shape = layer.shape
    return shape.n * shape.m * shape.k**2 + shape.n * shape.k * shape.columns + shape.m


def lower_bound(layer: Layer, images: int, memory_words: int) -> Bound:
    """Return the bound of any phase of a batch: all three read two of the operands for the third.

    Biases are left out.
    """
    shape = layer.shape
    macs = shape.macs(images)  # of one group; groups share no operand
    reuse = 2 * macs * shape.stride / (shape.k * sqrt(memory_words)) - 2 * memory_words
    volume = 9 / 4 * macs / memory_words - memory_words
    return Bound(
        fused=images * (layer.inputs + layer.outputs) + layer.kernels,
        operands=images * (layer.inputs + layer.sums) + layer.kernels,
        communication=layer.groups * max(reuse, volume),
    )
