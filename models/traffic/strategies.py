"""The five strategies of CNN-MERP section IV by formula: their traffic, and their memory.

Strategies accumulate. Below the fourth, the maps are assumed to be stored padded, as the paper's
count of 8 bytes per multiply-add implies.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.storage import Stores, element_bytes
from merp.models.network.network import Layer, Network

NAMES = (
    "kernels on chip",
    "a window serves all filters",
    "sums stay on chip",
    "k rows of each map on chip",
    "ReLU and pooling fused",
)
"""Names of the strategies, the first to the fifth; the paper only numbers them."""

LEVELS = ("none", "1", "1-2", "1-3", "1-4", "1-5")


@dataclass(frozen=True)
class Strategy:
    """One step of the staircase, for a layer and a batch; convolution maps only.

    Attributes:
        level: the strategies in force, one of ``LEVELS``.
        map_words: words of input maps.
        kernel_words: words of kernels, if they are not on chip.
        partial_words: words of partial sums in memory, in the arithmetic's format.
        sum_words: words of finished sums, or pooled outputs.
        on_chip_words: memory of the last of the strategies, for one group, in the arithmetic's
            format.
    """

    level: str
    map_words: int
    kernel_words: int
    partial_words: int
    sum_words: int
    on_chip_words: int

    @property
    def last(self) -> str:
        """Name of the last strategy in force; a dash without any."""
        return "-" if self.level == LEVELS[0] else NAMES[LEVELS.index(self.level) - 1]

    def input_bytes(self, stores: Stores) -> int:
        """Return the bytes of maps and kernels, in the layer's storage formats."""
        maps = self.map_words * element_bytes("fp", "map_in", stores)
        return maps + self.kernel_words * element_bytes("fp", "kernel", stores)

    def sum_bytes(self, stores: Stores) -> int:
        """Return the bytes of sums and outputs."""
        partial = self.partial_words * stores.fmt.bytes
        return partial + self.sum_words * element_bytes("fp", "map_out", stores)

    def bytes(self, stores: Stores) -> int:
        """Return all counted bytes."""
        return self.input_bytes(stores) + self.sum_bytes(stores)


def staircase(layer: Layer, images: int) -> tuple[Strategy, ...]:
    """Return the traffic of ``layer`` without strategies, then with one more at a time."""
    shape = layer.shape
    macs = layer.groups * shape.macs(images)
    sums, inputs = layer.sums * images, layer.inputs * images
    partial = (shape.n - 1) * sums
    pool_rows = 0
    if shape.pool:
        overlap = -(-shape.pool.window // shape.pool.stride)
        pool_rows = overlap * shape.pooled_columns * shape.m
    rows = (
        (macs, macs, partial, sums, 0),
        (macs, 0, partial, sums, shape.n * shape.m * shape.k**2),
        (macs // shape.m, 0, partial, sums, shape.k**2),
        (macs // shape.m, 0, 0, sums, shape.m),
        (inputs, 0, 0, sums, shape.n * shape.k * shape.columns),
        (inputs, 0, 0, layer.outputs * images, pool_rows),
    )
    return tuple(Strategy(level, *row) for level, row in zip(LEVELS, rows, strict=True))


@dataclass(frozen=True)
class RoundTrip:
    """Bytes of activation and pooling as separate layers."""

    activation: int
    pooling: int


def round_trips(network: Network, layer: Layer, images: int) -> RoundTrip:
    """Return the further savings of strategy 5: activation and pooling through memory."""
    word = images * element_bytes("fp", "map_out", network)  # of every image
    pool = layer.shape.pool
    pooling = layer.outputs * (pool.window**2 + 1) if pool else 0
    return RoundTrip(2 * layer.sums * word if layer.shape.relu else 0, pooling * word)
