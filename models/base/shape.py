"""The shape of one super layer (one group), which one pass of the engine computes.

CNN-MERP section IV.F: convolution, ReLU and pooling form one super layer.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

LATER = ("relu6", "slope", "tanh")
"""Fields of ``Shape`` that its first version did not have."""

NO_ACTIVATION, RELU_ONLY, RELU6, LEAKY_RELU, TANH = "none", "relu", "relu6", "leaky-relu", "tanh"
"""Names of activations."""

POOL_KINDS = ("max", "average")

Padding = int | tuple[int, int, int, int]
"""Zeros around a map: one number for all sides, or (top, left, bottom, right)."""


def sides(pad: Padding) -> tuple[int, int, int, int]:
    """Return the zeros on top, left, bottom and right."""
    return (pad, pad, pad, pad) if isinstance(pad, int) else pad


def _one_value(pad: Padding) -> Padding:
    """Return padding that is equal on all sides as one number, so that equal padding has equal
    values.
    """
    around = sides(pad)
    return around[0] if len(set(around)) == 1 else pad


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Pooling of ``window`` x ``window`` elements every ``stride`` elements.

    Windows may extend beyond the edges of the map: the first windows by ``pad``, above and on the
    left. Windows that would extend further are dropped. A maximum considers only elements inside
    the map; an average counts zeros for the others. Padding is below the window, so that every
    window contains an element of the map. With padding below the stride, too, at most one window
    extends beyond an edge.

    Attributes:
        kind: one of ``POOL_KINDS``.
        pad: one number for all four sides, or (top, left, bottom, right).

    Raises:
        ValueError: unknown kind, a window or stride below 1, or padding not below the
            window.
    """

    kind: str = "max"
    window: int
    stride: int
    pad: Padding = 0

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.kind not in POOL_KINDS:
            raise ValueError(f"pool kind must be one of {', '.join(POOL_KINDS)}, not {self.kind!r}")
        for key in ("window", "stride"):
            if getattr(self, key) < 1:
                raise ValueError(f"pool {key} must be at least 1, not {getattr(self, key)}")
        most = self.most_pad
        if not all(0 <= side <= most for side in sides(self.pad)):
            raise ValueError(f"pool pad must be 0 to {most} (below the window), not {self.pad}")
        object.__setattr__(self, "pad", _one_value(self.pad))

    @property
    def most_pad(self) -> int:
        """The largest allowed ``pad``."""
        return self.window - 1

    @property
    def far(self) -> bool:
        """Whether more than one window may extend beyond an edge: ``pad`` reaches the stride."""
        return max(sides(self.pad)) >= self.stride

    @property
    def top(self) -> int:
        """Rows of the first windows that lie above the map."""
        return sides(self.pad)[0]

    @property
    def left(self) -> int:
        """Columns of the first windows that lie left of the map."""
        return sides(self.pad)[1]

    def rows(self, elements: int) -> int:
        """Return the pooled rows of a map with ``elements`` rows."""
        top, _, bottom, _ = sides(self.pad)
        return self._windows(top + elements + bottom)

    def columns(self, elements: int) -> int:
        """Return the pooled columns of a map with ``elements`` columns."""
        _, left, _, right = sides(self.pad)
        return self._windows(left + elements + right)

    def covers(self, rows: int, columns: int) -> tuple[int, int]:
        """Return the rows and columns up to the end of the last window; the end may lie outside the
        map.
        """
        return self._end(rows, self.top), self._end(columns, self.left)

    def at_first(self, rows: int, columns: int) -> tuple[int, int]:
        """Return the number of windows that hold the first row of a map, and its first column."""
        return (
            min(self.rows(rows), self.top // self.stride + 1),
            min(self.columns(columns), self.left // self.stride + 1),
        )

    def late(self, rows: int, columns: int) -> tuple[int, int]:
        """Return the number of windows that the last row of a map ends, less one, and the same for
        its last column.

        Hardware completes one window per row and column, so that these windows are completed late.
        """
        end_row, end_column = self.covers(self.rows(rows), self.columns(columns))
        return (
            self._late(end_row - rows, self.rows(rows)),
            self._late(end_column - columns, self.columns(columns)),
        )

    def fitting(self, rows: int, columns: int) -> Pool:
        """Return the same pooling, with less padding below and on the right where necessary.

        It is necessary if even a map of one row or column is pooled to more than this size.
        """
        top, left, bottom, right = sides(self.pad)
        if self.rows(1) > rows:
            bottom = min(bottom, self._end(rows, top) - 1)
        if self.columns(1) > columns:
            right = min(right, self._end(columns, left) - 1)
        return replace(self, pad=(top, left, bottom, right))

    def elements(self, rows: int, columns: int) -> tuple[int, int]:
        """Return the rows and columns of the smallest map that is pooled to this size."""
        top, left, bottom, right = sides(self.pad)
        high, wide = self._end(rows, top) - bottom, self._end(columns, left) - right
        return max(1, high), max(1, wide)

    def rounded_up(self, rows: int, columns: int) -> Pool:
        """Return the same pooling with partial windows on maps of this size (``ceil_mode``
        elsewhere).

        Windows that would begin after the map are dropped.
        """
        top, left, bottom, right = sides(self.pad)
        below = self._end(self._begun(rows + top, bottom), top) - rows
        beside = self._end(self._begun(columns + left, right), left) - columns
        return replace(self, pad=(top, left, max(bottom, below), max(right, beside)))

    def _windows(self, elements: int) -> int:
        return max(0, (elements - self.window) // self.stride + 1)

    def _begun(self, elements: int, behind: int) -> int:
        """Return the number of windows, including a partial last one, which begins inside the
        map.
        """
        partial = -(-(elements + behind - self.window) // self.stride) + 1
        return max(1, min(partial, -(-elements // self.stride)))

    def _late(self, behind: int, windows: int) -> int:
        """Return the windows that end in the last index, less one; the last of ``windows`` extends
        beyond it by ``behind``.
        """
        return max(0, min(behind // self.stride, windows - 1))

    def _end(self, windows: int, before: int) -> int:
        """Return the number of elements up to the end of the last window."""
        return (windows - 1) * self.stride + self.window - before


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One group of a convolution layer with its ReLU and pooling. Letters are those of the paper.

    Attributes:
        n: input maps.
        m: output maps.
        k: kernel size.
        rows, columns: size of an input map.
        stride: of the convolution.
        pad: zero padding of the convolution: one number for all four sides, or one for each.
        relu: whether ReLU follows.
        relu6: whether this ReLU also stops at 6: min(max(x, 0), 6); false without ReLU.
        slope: factor of the elements that are not positive, in leaky ReLU: a word of the
            network's number format. 0 in ReLU, which replaces them by +0, and without ReLU.
        tanh: whether tanh follows, behind the maximum of a pooling; then without ReLU.
        pool: pooling, or None.

    Raises:
        ValueError: a size is below 1, or padding is not below the kernel size. Or a kernel is
            larger than the padded map, or a pooling window than the output. Or two activations
            are given, or tanh with average pooling.
    """

    n: int
    m: int
    k: int
    rows: int
    columns: int
    stride: int = 1
    pad: Padding = 0
    relu: bool = True
    relu6: bool = False
    slope: int = 0
    tanh: bool = False
    pool: Pool | None = None

    def __post_init__(self) -> None:
        """Check the geometry."""
        for key in ("n", "m", "k", "rows", "columns", "stride"):
            if getattr(self, key) < 1:
                raise ValueError(f"{key} must be at least 1, not {getattr(self, key)}")
        if not all(0 <= side < self.k for side in sides(self.pad)):
            raise ValueError(f"pad must be 0 to {self.k - 1} (below the kernel), not {self.pad}")
        object.__setattr__(self, "pad", _one_value(self.pad))
        for key, padded in (("rows", self.padded_rows), ("columns", self.padded_columns)):
            if self.k > padded:
                raise ValueError(f"k must not exceed the padded map ({padded} {key}), not {self.k}")
        object.__setattr__(self, "relu6", self.relu6 and self.relu)  # one value without ReLU
        object.__setattr__(self, "slope", self.slope if self.relu else 0)
        if self.relu6 and self.slope:
            raise ValueError(f"slope must be 0 with relu6, not {self.slope}")
        if self.tanh and self.relu:
            raise ValueError("relu must be false with tanh, not true")
        if self.tanh and self.pool and self.pool.kind != "max":
            raise ValueError(f"pool kind must be max with tanh, not {self.pool.kind!r}")
        if self.pool and (self.pooled_rows < 1 or self.pooled_columns < 1):
            raise ValueError(
                f"pool window must not exceed the {self.out_rows} x {self.out_columns} output"
                f"{' and its padding' if self.pool.pad else ''}, not {self.pool.window}"
            )

    def __repr__(self) -> str:
        """Return the fields, without later ones at their default: saved trainings hash the text."""
        shown = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if field.name not in LATER or getattr(self, field.name)
        ]
        return f"{type(self).__qualname__}({', '.join(shown)})"

    @property
    def activation(self) -> str:
        """Name of the activation."""
        if self.tanh or not self.relu:
            return TANH if self.tanh else NO_ACTIVATION
        return LEAKY_RELU if self.slope else RELU6 if self.relu6 else RELU_ONLY

    @property
    def up_to_relu(self) -> Shape:
        """The same layer without pooling, and without tanh behind it."""
        return replace(self, pool=None, tanh=False)

    @property
    def top(self) -> int:
        """Rows of zeros above the map."""
        return sides(self.pad)[0]

    @property
    def left(self) -> int:
        """Columns of zeros left of the map."""
        return sides(self.pad)[1]

    @property
    def bottom(self) -> int:
        """Rows of zeros below the map."""
        return sides(self.pad)[2]

    @property
    def right(self) -> int:
        """Columns of zeros right of the map."""
        return sides(self.pad)[3]

    @property
    def padded_rows(self) -> int:
        """Rows of an input map including its zeros."""
        return self.top + self.rows + self.bottom

    @property
    def padded_columns(self) -> int:
        """Columns of an input map including its zeros."""
        return self.left + self.columns + self.right

    @property
    def border(self) -> int:
        """Total zeros on two opposite sides, in the direction with fewer zeros."""
        return min(self.top + self.bottom, self.left + self.right)

    @cached_property
    def out_rows(self) -> int:
        """Rows of the convolution's output."""
        return (self.padded_rows - self.k) // self.stride + 1

    @cached_property
    def out_columns(self) -> int:
        """Columns of the convolution's output."""
        return (self.padded_columns - self.k) // self.stride + 1

    @property
    def pooled_rows(self) -> int:
        """Rows after pooling (rows of the convolution's output without pooling)."""
        return self.pool.rows(self.out_rows) if self.pool else self.out_rows

    @property
    def pooled_columns(self) -> int:
        """Columns after pooling (columns of the convolution's output without pooling)."""
        return self.pool.columns(self.out_columns) if self.pool else self.out_columns

    @property
    def hanging(self) -> bool:
        """Whether pooling windows may extend beyond an edge of the convolution's output."""
        return self.pool is not None and self.pool.pad != 0

    @property
    def far(self) -> bool:
        """Whether several pooling windows may extend beyond an edge of the convolution's output."""
        return self.pool is not None and self.pool.far

    @property
    def late(self) -> tuple[int, int]:
        """Rows and columns behind the output in which hardware completes pooling windows."""
        return self.pool.late(self.out_rows, self.out_columns) if self.pool else (0, 0)

    @property
    def taps(self) -> int:
        """Elements of a kernel."""
        return self.k * self.k

    @property
    def reach(self) -> int:
        """Taps up to the last element of a kernel, row by row."""
        return self.taps

    def macs(self, images: int = 1) -> int:
        """Return the multiply-adds of the convolution; one is two operations."""
        positions = self.out_rows * self.out_columns
        return self.k * self.k * self.n * self.m * positions * images
