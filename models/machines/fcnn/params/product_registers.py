"""Run-time registers of a matrix product, and the meanings of its counters."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.counters import Counter
from merp.models.base.register_table import COUNT_MAX, RegisterTable, RunRegister, switch
from merp.models.machines.fcnn.params.product_design import ProductDesign

COUNTERS = (
    Counter("total", "cycles from the one after start to the last word"),
    Counter("issue", "turns of blocks, with or without rows", part=True),
    Counter(
        "drain", "cycles in which sums of a tile are stored and read, or the last ones leave",
        part=True,
    ),
    Counter("stall_output", "cycles in which sums wait for places of the output", part=True,
            stall=True),
    Counter("stall_bias", "cycles in which biases of a tile load", part=True, stall=True),
    Counter("stall_kernel", "cycles in which a step waits for row pieces", part=True, stall=True),
    Counter("stall_map", "cycles in which a turn waits for its column piece", part=True,
            stall=True),
    Counter("useful", "turns with a column piece"),
)  # fmt: skip
"""In the order of their signals; ``total`` is the sum of the parts."""

WORDS = {
    "map_in": "s_axis_map", "kernel": "s_axis_kernel", "bias": "s_axis_bias",
    "sum_out": "m_axis_sum",
}  # fmt: skip
"""The stream of each word counter; a word is an element."""


@dataclass(frozen=True)
class ProductRun:
    """A run: C (rows x columns) = start + A (rows x inner) B (inner x columns).

    Attributes:
        rows, inner, columns: I, K and O.
        biased: whether the sums of a column start at a bias; otherwise they start at +0.
        design: the module.

    Raises:
        ValueError: the matrices do not fit the design, or a stream has more words than a register
            can hold.
    """

    rows: int
    inner: int
    columns: int
    biased: bool
    design: ProductDesign

    def __post_init__(self) -> None:
        """Check the run against the design."""
        for key in ("rows", "inner", "columns"):
            value, most = getattr(self, key), getattr(self.design, f"max_{key}")
            if not 1 <= value <= most:
                raise ValueError(f"{key} must be 1 to {most} on this design, not {value}")
        for key in ("map_words", "kernel_words", "sum_words"):
            if getattr(self, key) > COUNT_MAX:
                raise ValueError(f"{key} must be at most {COUNT_MAX}, not {getattr(self, key)}")

    @property
    def row_pieces(self) -> int:
        """Column pieces of a column of A or C: ceil(I/R)."""
        return -(-self.rows // self.design.size)

    @property
    def column_pieces(self) -> int:
        """Row pieces of a row of B: ceil(O/R)."""
        return -(-self.columns // self.design.size)

    @property
    def row_tiles(self) -> int:
        """Tiles below each other: ceil(I/(R A))."""
        return -(-self.rows // self.design.tile_rows)

    @property
    def column_tiles(self) -> int:
        """Tiles beside each other: ceil(O/(R Nk))."""
        return -(-self.columns // self.design.tile_columns)

    @property
    def last_pieces(self) -> int:
        """Blocks below each other in the last row of tiles."""
        return self.row_pieces - (self.row_tiles - 1) * self.design.turns

    @property
    def last_blocks(self) -> int:
        """Blocks beside each other in the last column of tiles."""
        return self.column_pieces - (self.column_tiles - 1) * self.design.blocks

    @property
    def last_columns(self) -> int:
        """Columns of the last column of tiles."""
        return self.columns - (self.column_tiles - 1) * self.design.tile_columns

    @property
    def map_words(self) -> int:
        """Column pieces of A: all of them, once for each column of tiles."""
        return self.column_tiles * self.inner * self.row_pieces

    @property
    def kernel_words(self) -> int:
        """Row pieces of B: all of them, once for each row of tiles."""
        return self.row_tiles * self.inner * self.column_pieces

    @property
    def bias_words(self) -> int:
        """Biases: one for each column."""
        return self.columns if self.biased else 0

    @property
    def sum_words(self) -> int:
        """Column pieces of C."""
        return self.columns * self.row_pieces


def _most_words(design: ProductDesign) -> int:
    return COUNT_MAX


_register = RunRegister[ProductDesign, ProductRun]

PRODUCT: RegisterTable[ProductDesign, ProductRun] = RegisterTable("config", (
    _register("inner", 1, lambda d: d.max_inner, "columns of A", lambda run: run.inner),
    _register(
        "row_tiles", 1, lambda d: -(-d.max_rows // d.tile_rows), "tiles of C below each other",
        lambda run: run.row_tiles,
    ),
    _register(
        "column_tiles", 1, lambda d: -(-d.max_columns // d.tile_columns),
        "tiles of C beside each other", lambda run: run.column_tiles,
    ),
    _register(
        "last_pieces", 1, lambda d: d.turns, "blocks below each other in the last row of tiles",
        lambda run: run.last_pieces,
    ),
    _register(
        "last_blocks", 1, lambda d: d.blocks,
        "blocks beside each other in the last column of tiles",
        lambda run: run.last_blocks,
    ),
    _register(
        "last_columns", 1, lambda d: d.tile_columns, "columns of the last column of tiles",
        lambda run: run.last_columns,
    ),
    switch("biased", "sums start at biases", lambda run: run.biased),
    _register("map_words", 1, _most_words, "column pieces of A", lambda run: run.map_words),
    _register("kernel_words", 1, _most_words, "row pieces of B", lambda run: run.kernel_words),
    _register("bias_words", 0, lambda d: d.max_columns, "biases", lambda run: run.bias_words),
    _register("sum_words", 1, _most_words, "column pieces of C", lambda run: run.sum_words),
))  # fmt: skip
"""Registers of the module, in the order of their signals."""
