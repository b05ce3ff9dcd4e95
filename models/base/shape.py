"""The shape of one super layer (one group): what a pass of the engine computes.

CNN-MERP section IV.F: convolution, ReLU and pooling are one super layer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

POOL_KINDS = ("max", "average")

Padding = int | tuple[int, int, int, int]
"""Zeros around a map: on every side, or on top, left, bottom and right."""


def sides(pad: Padding) -> tuple[int, int, int, int]:
    """Zeros on top, left, bottom and right."""
    return (pad, pad, pad, pad) if isinstance(pad, int) else pad


def _one_value(pad: Padding) -> Padding:
    """The number for padding that is alike on all sides, so that equal padding has equal values."""
    around = sides(pad)
    return around[0] if len(set(around)) == 1 else pad


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Pooling of ``window`` x ``window`` elements every ``stride`` elements.

    Windows may hang over the edges of the map, the first ones above and on the left, by ``pad``;
    what would hang over by more is dropped. A maximum is that of the elements that there are; an
    average takes zeros for the others. An edge has one window that hangs over it, in a direction:
    it does so by less than the stride, and has an element of the map.

    Attributes:
        kind: one of ``POOL_KINDS``.
        pad: on all four sides alike, or at top, left, bottom and right.

    Raises:
        ValueError: unknown kind, a window or stride below 1, or padding not below both.
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
            raise ValueError(
                f"pool pad must be 0 to {most} (below window and stride), not {self.pad}"
            )
        object.__setattr__(self, "pad", _one_value(self.pad))

    @property
    def most_pad(self) -> int:
        """The largest ``pad``."""
        return min(self.window, self.stride) - 1

    @property
    def top(self) -> int:
        """Rows by which the first windows hang over the edge."""
        return sides(self.pad)[0]

    @property
    def left(self) -> int:
        """Columns by which they do."""
        return sides(self.pad)[1]

    def rows(self, elements: int) -> int:
        """Pooled rows of so many."""
        top, _, bottom, _ = sides(self.pad)
        return self._windows(top + elements + bottom)

    def columns(self, elements: int) -> int:
        """Pooled columns of so many."""
        _, left, _, right = sides(self.pad)
        return self._windows(left + elements + right)

    def covers(self, rows: int, columns: int) -> tuple[int, int]:
        """Rows and columns of a map up to the end of so many windows, which may lie outside."""
        return self._end(rows, self.top), self._end(columns, self.left)

    def elements(self, rows: int, columns: int) -> tuple[int, int]:
        """Rows and columns of the smallest map that is pooled to so many."""
        top, left, bottom, right = sides(self.pad)
        high, wide = self._end(rows, top) - bottom, self._end(columns, left) - right
        return max(1, high), max(1, wide)

    def rounded_up(self, rows: int, columns: int) -> Pool:
        """The same on maps of such a size with partial windows, ``ceil_mode`` elsewhere.

        Those that would begin behind the map are dropped.

        Raises:
            ValueError: a window would hang over the edge by its stride or more.
        """
        top, left, bottom, right = sides(self.pad)
        below = self._end(self._begun(rows + top, bottom), top) - rows
        beside = self._end(self._begun(columns + left, right), left) - columns
        return replace(self, pad=(top, left, max(bottom, below), max(right, beside)))

    def _windows(self, elements: int) -> int:
        return max(0, (elements - self.window) // self.stride + 1)

    def _begun(self, elements: int, behind: int) -> int:
        """Windows, the last one partial; it begins among ``elements``."""
        partial = -(-(elements + behind - self.window) // self.stride) + 1
        return max(1, min(partial, -(-elements // self.stride)))

    def _end(self, windows: int, before: int) -> int:
        """Elements up to where the last window would end."""
        return (windows - 1) * self.stride + self.window - before


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One group of a convolution layer with its ReLU and pooling.

    Attributes:
        n: input maps. m: output maps. k: kernel size. (Letters as in the paper.)
        rows, columns: size of an input map.
        stride, pad: of the convolution; zero padding, on all four sides alike or of each.
        relu: whether ReLU follows. pool: pooling, or None.

    Raises:
        ValueError: a size below 1, padding not below the kernel size, a kernel larger than the
            padded map, or a pooling window larger than the convolution's output.
    """

    n: int
    m: int
    k: int
    rows: int
    columns: int
    stride: int = 1
    pad: Padding = 0
    relu: bool = True
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
        if self.pool and (self.pooled_rows < 1 or self.pooled_columns < 1):
            raise ValueError(
                f"pool window must not exceed the {self.out_rows} x {self.out_columns} output"
                f"{' and its padding' if self.pool.pad else ''}, not {self.pool.window}"
            )

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
        """Rows of an input map and its zeros."""
        return self.top + self.rows + self.bottom

    @property
    def padded_columns(self) -> int:
        """Columns of an input map and its zeros."""
        return self.left + self.columns + self.right

    @property
    def border(self) -> int:
        """Zeros on both sides together, in the direction that has fewer."""
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
        """Rows after pooling (the convolution's own without pooling)."""
        return self.pool.rows(self.out_rows) if self.pool else self.out_rows

    @property
    def pooled_columns(self) -> int:
        """Columns after pooling (the convolution's own without pooling)."""
        return self.pool.columns(self.out_columns) if self.pool else self.out_columns

    @property
    def hanging(self) -> bool:
        """Whether pooling windows may hang over an edge of the convolution's output."""
        return self.pool is not None and self.pool.pad != 0

    @property
    def taps(self) -> int:
        """Elements of a kernel."""
        return self.k * self.k

    @property
    def reach(self) -> int:
        """Taps up to that of a kernel's last element, row by row."""
        return self.taps

    def macs(self, images: int = 1) -> int:
        """Multiply-adds of the convolution; one is two operations."""
        positions = self.out_rows * self.out_columns
        return self.k * self.k * self.n * self.m * positions * images
