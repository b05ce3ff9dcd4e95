"""A design of the MAC array: its parameters at elaboration. One bitstream runs every layer.

The array computes Pox x Poy output pixels of Pof output maps concurrently. In each cycle, it
processes one tap of one input map.
source: S. K. Venkataramanaiah et al., FPL 2019, sections III.B to III.F
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from merp.models.base.elaboration import elaboration
from merp.models.base.whole_numbers import check_ranges

WORD_BITS = 16
SUM_BITS = 48
MAX_PRODUCTS = 1 << 17
"""A sum of fewer products than this always fits ``SUM_BITS``, for any words."""

PIXELS = (4, 8, 16)
LANES = (4, 8, 16, 32, 64)
STRIDES = (1, 2, 4)
POOL_WINDOWS = (1, 2, 4, 8, 16)
LOSSES = ("squared", "hinge")
"""Losses whose deltas the array can calculate: half the squared distance, and squared hinge."""
USUAL_LOSS: Final = "hinge"
"""The default loss, which is the paper's."""

CHOICES = {
    "pox": PIXELS, "poy": PIXELS, "pof": LANES, "max_stride": STRIDES, "pool_window": POOL_WINDOWS,
}  # fmt: skip
"""Fields with a few allowed values, all powers of two."""

RANGES = {
    "max_kernel": (1, 16), "kernel_words": (1, 1 << 20), "map_words": (1, 1 << 20),
    "delta_words": (1, MAX_PRODUCTS), "mask_words": (1, 1 << 20), "index_words": (1, 1 << 20),
    "max_size": (1, 4096), "max_maps": (1, 1 << 16),
}  # fmt: skip
"""Smallest and largest values of the other numbers."""

FLAGS = ("balance", "kernel_first", "stochastic", "momentum", "loss")


MAX_WINDOW = 11
"""Most rows of the input maps that a fully connected layer reads as one convolution window."""


def over(count: int, at_once: int) -> int:
    """Return count / at_once, rounded up."""
    return -(-count // at_once)


@dataclass(frozen=True, kw_only=True)
class Array:
    """The unrolled sizes of the array."""

    pox: Annotated[
        int,
        "concurrent output columns; also the words of an atom, the beat of maps and deltas",
    ] = 8
    poy: Annotated[int, "concurrent output rows"] = 8
    pof: Annotated[int, "lanes: concurrent output maps; also the words of a beat of kernels"]
    balance: Annotated[
        bool,
        "in kernel updates, pixels that one kernel leaves idle process other input maps",
    ] = True

    @property
    def unrolled(self) -> Array:
        """The unrolled sizes alone, without the other parameters of a design."""
        return Array(pox=self.pox, poy=self.poy, pof=self.pof, balance=self.balance)

    @property
    def reach(self) -> int:
        """Rows or columns that windows may extend beyond a tile on each side: those of a block."""
        return min(self.pox, self.poy)

    @property
    def pixels(self) -> int:
        """Number of MACs in a lane."""
        return self.pox * self.poy

    @property
    def macs(self) -> int:
        """Number of MACs in the array."""
        return self.pixels * self.pof

    @property
    def atom_bits(self) -> int:
        """Bits of a beat of maps and deltas: pox consecutive columns of a row of a map."""
        return WORD_BITS * self.pox

    @property
    def parameter_bits(self) -> int:
        """Bits of a beat of kernels, gradients and velocities: a word of each lane."""
        return WORD_BITS * self.pof

    def column_blocks(self, columns: int) -> int:
        """Return CB, the atoms of a row of ``columns``."""
        return over(columns, self.pox)

    def row_blocks(self, rows: int) -> int:
        """Return the number of blocks of poy rows."""
        return over(rows, self.poy)

    def map_tiles(self, maps: int) -> int:
        """Return the number of tiles of pof maps."""
        return over(maps, self.pof)

    def region_side(self, kernel: int) -> int:
        """Return q, the rows and columns of a region: the MACs for one input map in KU."""
        return int(min(self.pox, self.poy, 1 << (kernel - 1).bit_length()))

    def region_grid(self, kernel: int) -> tuple[int, int]:
        """Return the regions of a lane in a column and in a row (nx), in a kernel update."""
        side = self.region_side(kernel)
        return (self.poy // side, self.pox // side) if self.balance else (1, 1)

    def regions(self, kernel: int) -> int:
        """Return G, the concurrent input maps in a kernel update."""
        down, across = self.region_grid(kernel)
        return down * across

    def tap_tiles(self, kernel: int) -> int:
        """Return T, the sweeps over the deltas that sum all taps of a kernel."""
        return over(kernel, self.region_side(kernel)) ** 2

    def bank_side(self, kernel: int) -> tuple[int, int]:
        """Return the rows and columns of banks that hold a map in a kernel update."""
        side = self.region_side(kernel)
        return (side, side) if self.balance else (self.poy, self.pox)

    def block_rows(self, rows: int, kernel: int, stride: int, pad: int, *, pooled: bool) -> int:
        """Return RB, the blocks of poy rows that the map banks keep in FP and DP.

        Args:
            rows: rows of an incoming map; in DP, of a map of deltas.
            kernel: K.
            stride: stride of the layer in FP; 1 in DP.
            pad: padding of the layer.
            pooled: the incoming maps are pooled deltas, which are expanded on entry.
        """
        kept = 2 + self.row_blocks(pad) + self.row_blocks(kernel - 1 - pad) + int(pooled)
        return min(kept, self.row_blocks(over(rows, stride)))


@dataclass(frozen=True, kw_only=True)
class ArrayDesign(Array):
    """Elaboration parameters of one array.

    Raises:
        ValueError: a value is out of range. The message names the key and the allowed values.
    """

    kernel_first: Annotated[
        bool,
        "no slot is issued before all kernels of a pass are loaded; also a run-time register",
    ] = False
    stochastic: Annotated[bool, "whether stochastic rounding of new kernels is built"] = False
    momentum: Annotated[bool, "whether velocities and their streams are built"] = False
    loss: Annotated[bool, "whether the loss unit is built"] = False
    max_kernel: Annotated[int, "the largest kernel, in rows or columns"]
    max_stride: Annotated[int, "the largest stride of a convolution"] = 1
    pool_window: Annotated[
        int,
        "the largest pooling window, which is also its stride; 1 without pooling",
    ] = 1
    kernel_words: Annotated[
        int,
        "depth of each of the pof kernel buffers, in words: the largest ceil(Nof/pof) * Nif * K^2",
    ]
    map_words: Annotated[int, "depth of each of the pox * poy map banks, in words"]
    delta_words: Annotated[
        int,
        "deltas of one map in each half of a lane's memory for kernel updates, in atoms; the "
        "memory has two halves",
    ]
    mask_words: Annotated[int, "outputs of all layers whose masks are kept, in atoms"] = 1
    index_words: Annotated[int, "pooled outputs of all layers whose indices are kept, in atoms"] = 1
    max_size: Annotated[int, "the largest number of rows or columns of a map"]
    max_maps: Annotated[int, "the largest number of input or output maps"]
    relu6: Annotated[bool, "whether ReLU can also stop at 6"] = False

    def __repr__(self) -> str:
        """Return the text that identifies the elaboration."""
        return elaboration("Design", self, ("relu6",))

    def __post_init__(self) -> None:
        """Check every field against its range."""
        for key in FLAGS:
            if type(getattr(self, key)) is not bool:
                raise ValueError(f"{key} must be true or false, not {getattr(self, key)}")
        for key, allowed in CHOICES.items():
            value = getattr(self, key)
            if type(value) is not int or value not in allowed:
                raise ValueError(f"{key} must be one of {_listed(allowed)}, not {value}")
        check_ranges(self, RANGES)
        if self.pool_window > min(self.pox, self.poy):
            raise ValueError(
                f"pool_window must divide pox and poy ({self.pox} and {self.poy}), "
                f"not {self.pool_window}"
            )

    @staticmethod
    def most(key: str) -> int:
        """Return the largest allowed value of a key."""
        return RANGES[key][1] if key in RANGES else max(CHOICES[key])

    @property
    def index_bits(self) -> int:
        """Bits of a maximum's position in the largest pooling window; at least 1."""
        return max(1, (self.pool_window**2 - 1).bit_length())

    @property
    def parts(self) -> int:
        """Most tiles whose pixels share atoms at the output, due to pooling or a stride."""
        return max(self.pool_window, self.max_stride)

    @property
    def max_tiles(self) -> int:
        """Most tiles of output maps in a pass; the bias memory has a word for each tile."""
        return over(self.max_maps, self.pof)


def _listed(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values))
