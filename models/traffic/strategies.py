"""The five strategies of CNN-MERP section IV by formula: traffic, and the memory each costs.

Strategies accumulate. Below the fourth the maps are taken to lie padded in memory, as the paper's
count of 8 bytes per multiply-add implies.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.network.network import Layer

NAMES = (
    "kernels on chip",
    "a window serves all filters",
    "sums stay on chip",
    "k rows of each map on chip",
    "ReLU and pooling fused",
)
"""What each strategy is called, the first to the fifth; the paper only numbers them."""

LEVELS = ("none", "1", "1-2", "1-3", "1-4", "1-5")


@dataclass(frozen=True)
class Strategy:
    """One step of the staircase, for a layer and a batch; convolution maps only.

    Attributes:
        level: the strategies in force, one of ``LEVELS``.
        map_words: words of input maps (and of kernels, where they are not on chip).
        sum_words: words of partial or finished sums, or pooled outputs.
        on_chip_words: memory that the last of the strategies costs, for one group.
    """

    level: str
    map_words: int
    sum_words: int
    on_chip_words: int

    @property
    def last(self) -> str:
        """Name of the last strategy in force; of none, a dash."""
        return "-" if self.level == LEVELS[0] else NAMES[LEVELS.index(self.level) - 1]

    @property
    def words(self) -> int:
        """All words counted."""
        return self.map_words + self.sum_words


def staircase(layer: Layer, images: int) -> tuple[Strategy, ...]:
    """Return the traffic of ``layer`` without strategies, then with one more at a time."""
    shape = layer.shape
    macs = layer.groups * shape.macs(images)
    sums, inputs = layer.sums * images, layer.inputs * images
    pool_rows = 0
    if shape.pool:
        overlap = -(-shape.pool.window // shape.pool.stride)
        pool_rows = overlap * shape.pooled_columns * shape.m
    rows = (
        (2 * macs, shape.n * sums, 0),
        (macs, shape.n * sums, shape.n * shape.m * shape.k**2),
        (macs // shape.m, shape.n * sums, shape.k**2),
        (macs // shape.m, sums, shape.m),
        (inputs, sums, shape.n * shape.k * shape.columns),
        (inputs, layer.outputs * images, pool_rows),
    )
    return tuple(Strategy(level, *row) for level, row in zip(LEVELS, rows, strict=True))


@dataclass(frozen=True)
class RoundTrip:
    """Words of the activation and pooling layers while they are layers of their own."""

    activation: int
    pooling: int


def round_trips(layer: Layer, images: int) -> RoundTrip:
    """Return what strategy 5 saves beside the staircase: activation and pooling through memory."""
    sums = layer.sums * images
    pool = layer.shape.pool
    pooling = layer.outputs * images * (pool.window**2 + 1) if pool else 0
    return RoundTrip(2 * sums if layer.shape.relu else 0, pooling)
