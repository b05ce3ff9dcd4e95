"""Run-time registers of un-pooling, in every phase in which it is built."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.register_table import COUNT_MAX, RegisterTable, RunRegister, switch
from merp.models.base.shape import Pool, Shape
from merp.models.base.state_field import state_bytes, state_field_bits, state_fields
from merp.models.machines.cnn_merp.params.registers import largest_word, reciprocal_square
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@dataclass(frozen=True)
class UnpoolRun:
    """A run that undoes ReLU and pooling of ``shape`` on ``maps`` maps of ``images`` images."""

    shape: Shape
    maps: int
    images: int
    design: UnpoolDesign

    @property
    def pool(self) -> Pool:
        """Pooling that is undone; without pooling, a single element."""
        return self.shape.pool or Pool(window=1, stride=1)

    @property
    def maximum(self) -> bool:
        """Whether maximum pooling is undone."""
        return self.shape.pool is not None and self.shape.pool.kind == "max"

    @property
    def average(self) -> bool:
        """Whether average pooling is undone."""
        return self.shape.pool is not None and self.shape.pool.kind == "average"

    @property
    def words_in(self) -> int:
        """Input deltas."""
        return self.images * self.shape.pooled_rows * self.shape.pooled_columns * self.maps

    @property
    def words_out(self) -> int:
        """Output deltas."""
        return self.images * self.shape.out_rows * self.shape.out_columns * self.maps

    @property
    def state_bytes(self) -> int:
        """Bytes of the ReLU/pooling mask."""
        fields = self.images * state_fields(self.shape, self.maps)
        return state_bytes(fields, state_field_bits(self.shape))


def _most_words(design: UnpoolDesign) -> int:
    return design.max_images * design.max_size**2 * design.max_maps


def _most_bytes(design: UnpoolDesign) -> int:
    return state_bytes(_most_words(design), design.field_bits)


UnpoolRegister = RunRegister[UnpoolDesign, UnpoolRun]

UnpoolTable = RegisterTable[UnpoolDesign, UnpoolRun]


def _most_stride(design: UnpoolDesign) -> int:
    """Return the largest stride: windows further apart are equivalent to single windows.

    A first window that extends beyond the edge comes before.
    """
    return design.max_size + (design.window - 1 if design.hanging else 0)


UNPOOL = UnpoolTable("unpool_config", (
    UnpoolRegister(
        "images", 1, lambda design: design.max_images, "images of the run",
        lambda run: run.images,
    ),
    UnpoolRegister(
        "rows", 1, lambda design: design.max_size, "rows of the delta that goes out of un-pooling",
        lambda run: run.shape.out_rows,
    ),
    UnpoolRegister(
        "columns", 1, lambda design: design.max_size,
        "columns of the delta that goes out of un-pooling",
        lambda run: run.shape.out_columns,
    ),
    UnpoolRegister(
        "maps", 1, lambda design: design.max_maps, "maps of that delta",
        lambda run: run.maps,
    ),
    switch("maximum", "maximum pooling is undone", lambda run: run.maximum),
    switch("average", "average pooling is undone", lambda run: run.average),
    switch("relu", "ReLU is undone", lambda run: run.shape.relu),
    UnpoolRegister(
        "window", 1, lambda design: design.window, "pooling window",
        lambda run: run.pool.window,
    ),
    UnpoolRegister(
        "area", 1, lambda design: design.window**2, "window * window",
        lambda run: run.pool.window**2,
    ),
    UnpoolRegister(
        "stride", 1, _most_stride, "pooling stride",
        # Outside the map there is no second window, at any distance.
        lambda run: min(run.pool.stride, _most_stride(run.design)),
    ),
    UnpoolRegister(
        "pooled_rows", 1, lambda design: design.max_size, "rows of the delta that comes in",
        lambda run: run.shape.pooled_rows,
    ),
    UnpoolRegister(
        "pooled_columns", 1, lambda design: design.max_size, "columns of the delta that comes in",
        lambda run: run.shape.pooled_columns,
    ),
    UnpoolRegister(
        "delta_words", 1, lambda design: min(_most_words(design), COUNT_MAX),
        "delta words that come in, in all",
        lambda run: run.words_in,
        holds=_most_words,
    ),
    UnpoolRegister(
        "state_bytes", 0, lambda design: min(_most_bytes(design), COUNT_MAX),
        "bytes of state, in all",
        lambda run: run.state_bytes,
        holds=_most_bytes,
    ),
    UnpoolRegister(
        "field_bits", 0, lambda design: design.field_bits, "bits of a field of the state",
        lambda run: state_field_bits(run.shape),
    ),
    UnpoolRegister(
        "scale", 0, lambda design: largest_word(design.fmt), "word of 1 / window^2",
        lambda run: reciprocal_square(run.pool.window, run.design.fmt),
    ),
))  # fmt: skip

HANGING = (
    UnpoolRegister(
        "top", 0, lambda design: design.window - 1,
        "rows by which the first windows hang over the edge",
        lambda run: run.pool.top,
    ),
    UnpoolRegister(
        "left", 0, lambda design: design.window - 1,
        "columns by which the first windows hang over the edge",
        lambda run: run.pool.left,
    ),
    UnpoolRegister(
        "above", 0, lambda design: (design.window - 1) * design.window,
        "top * window, elements of the first windows above the edge",
        lambda run: run.pool.top * run.pool.window,
    ),
)  # fmt: skip
"""Registers of a design whose windows may extend beyond the edges, as in the super layer."""


def _at_first(run: UnpoolRun) -> tuple[int, int]:
    return run.pool.at_first(run.shape.out_rows, run.shape.out_columns)


def _next_begin(run: UnpoolRun, before: int) -> int:
    """Return the first index, after index 0, that begins a window."""
    stride = min(run.pool.stride, _most_stride(run.design))
    return stride - before % stride


FAR = (
    UnpoolRegister(
        "open_rows", 1, lambda design: design.overlap,
        "rows of windows that hold the first row",
        lambda run: _at_first(run)[0],
    ),
    UnpoolRegister(
        "open_columns", 1, lambda design: design.overlap,
        "columns of windows that hold the first column",
        lambda run: _at_first(run)[1],
    ),
    UnpoolRegister(
        "next_row", 1, _most_stride,
        "first row that begins a window (stride - top mod stride)",
        lambda run: _next_begin(run, run.pool.top),
    ),
    UnpoolRegister(
        "next_column", 1, _most_stride,
        "first column that begins a window (stride - left mod stride)",
        lambda run: _next_begin(run, run.pool.left),
    ),
    UnpoolRegister(
        "step", 0, lambda design: (design.window - 1) * design.window,
        "stride * window, elements between the begins of windows that overlap",
        lambda run: run.pool.stride * run.pool.window * (run.pool.stride < run.pool.window),
    ),
)  # fmt: skip
"""More registers of a design whose windows may extend by their stride or more."""
LEAKY: tuple[UnpoolRegister, ...] = (
    switch("leaky", "ReLU is leaky", lambda run: run.shape.slope != 0),
    UnpoolRegister(
        "slope", 0, lambda design: largest_word(design.fmt), "word of its slope",
        lambda run: run.shape.slope,
    ),
)  # fmt: skip
"""Registers of a design for leaky ReLU; they count only while ReLU is undone."""

ADDED_BUNDLE = "add_unpool_config"
"""The port of the same registers for the un-pooling of the start of the sums."""


def unpool_table(design: UnpoolDesign, bundle: str = UNPOOL.bundle) -> UnpoolTable:
    """Return the registers of ``design``, of the port ``bundle``."""
    more = (HANGING if design.hanging else ()) + (FAR if design.far else ())
    more += LEAKY if design.leaky else ()
    return UnpoolTable(bundle, UNPOOL.registers + more)


def unpool_registers(shape: Shape, maps: int, images: int, design: UnpoolDesign) -> dict[str, int]:
    """Return the value of every configuration port, by flattened name, for one run.

    The caller has checked that the shape fits the design.
    """
    return unpool_table(design).values(UnpoolRun(shape, maps, images, design))
