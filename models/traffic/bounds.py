"""Lower bounds of the traffic of a layer's phase: no schedule moves less.

Every operand must cross once (compulsory). With M words on chip, a convolution of G multiply-adds
whose sums are output moves at least

    max{ I + O + W,  2*G*s / (k*sqrt(M)) - 2M,  (9/4)*G/M - M }    words

A. Chen, J. Demmel, G. Dinh, M. Haberle, O. Holtz, "Communication bounds for convolutional neural
networks", PASC 2022. It is the single-processor bound, with all operands of one precision. Fused
pooling keeps sums on chip, so a super layer may move less, down to its own compulsory traffic.

On chip all numbers have the arithmetic's format, independent of the format in memory. If operands
have several formats in memory, each word of the second and third term counts the bytes of the
narrowest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from merp.models.base.storage import element_bytes
from merp.models.network.network import Layer, Network

_OPERANDS = {
    "fp": ("map_in", "map_out", "kernel"),
    "dp": ("delta_out", "delta_in", "kernel"),
    "ku": ("map_in", "delta_in", "kernel_out"),
}
"""Ports of a phase for input maps, output maps and kernels, or their deltas."""


@dataclass(frozen=True)
class Bound:
    """Bytes of a phase of a layer, all groups.

    Attributes:
        fused: compulsory traffic of the super layer, with its output at pooled resolution.
        operands: I + O + W of the convolution alone.
        communication: bound by the on-chip memory; without meaning below zero.
    """

    fused: int
    operands: int
    communication: float

    @property
    def binding(self) -> str:
        """The one of both bounds that limits the convolution alone."""
        return "compulsory" if self.operands >= self.communication else "communication"


def on_chip_words(layer: Layer) -> int:
    """Return the words that one group keeps on chip: kernels, k rows of each input map, sums."""
    shape = layer.shape
    return shape.n * shape.m * shape.k**2 + shape.n * shape.k * shape.columns + shape.m


def lower_bound(
    network: Network, layer: Layer, phase: str, images: int, memory_words: int
) -> Bound:
    """Return the bound of a phase of a batch; it reads two of the operands and writes the third.

    Biases are omitted.
    """
    shape = layer.shape
    macs = shape.macs(images)  # of one group; groups share no operand
    reuse = 2 * macs * shape.stride / (shape.k * sqrt(memory_words)) - 2 * memory_words
    volume = 9 / 4 * macs / memory_words - memory_words
    sizes = [element_bytes(phase, port, network.at(layer)) for port in _OPERANDS[phase]]
    of_input, of_output, of_kernel = sizes
    common = images * layer.inputs * of_input + layer.kernels * of_kernel
    return Bound(
        fused=common + images * layer.outputs * of_output,
        operands=common + images * layer.sums * of_output,
        communication=layer.groups * max(reuse, volume) * min(sizes),
    )
