"""Lower bounds on the traffic of a layer's phase: no schedule moves less.

Every operand must cross once (compulsory). With M words on chip, a convolution of G multiply-adds
whose sums leave moves at least

    max{ I + O + W,  2*G*s / (k*sqrt(M)) - 2M,  (9/4)*G/M - M }    words

A. Chen, J. Demmel, G. Dinh, M. Haberle, O. Holtz, "Communication bounds for convolutional neural
networks", PASC 2022: the single-processor bound, all operands of one precision. Fused pooling keeps
sums on chip, so a super layer may pass below it, down to its own compulsory traffic.

On chip all numbers are the arithmetic's, whatever memory stores. Where it stores operands in
several formats, each word of the second and third term counts the bytes of the narrowest one.
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
"""Ports of a phase on which input maps, output maps and kernels, or their deltas, move."""


@dataclass(frozen=True)
class Bound:
    """Bytes of a phase of a layer, all groups.

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


def lower_bound(
    network: Network, layer: Layer, phase: str, images: int, memory_words: int
) -> Bound:
    """Return the bound of a phase of a batch; it reads two of the operands for the third.

    Biases are left out.
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
