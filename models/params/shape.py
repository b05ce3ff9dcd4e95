"""The shape of one super layer (one group): what a pass of the engine computes.

CNN-MERP section IV.F: convolution, ReLU and pooling are one super layer.
"""

from __future__ import annotations

from dataclasses import dataclass

POOL_KINDS = ("max", "average")

Padding = int | tuple[int, int, int, int]
"""Zeros around a map: on every side, or on top, left, bottom and right."""


def sides(pad: Padding) -> tuple[int, int, int, int]:
    """Zeros on top, left, bottom and right."""
    return (pad, pad, pad, pad) if isinstance(pad, int) else pad


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Pooling of ``window`` x ``window`` elements every ``stride`` elements, partial ones dropped.

    Raises:
        ValueError: unknown kind, or a window or stride below 1.
    """

    kind: str = "max"
    window: int
    stride: int

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.kind not in POOL_KINDS:
            raise ValueError(f"pool kind must be one of {', '.join(POOL_KINDS)}, not {self.kind!r}")
        for key in ("window", "stride"):
            if getattr(self, key) < 1:
                raise ValueError(f"pool {key} must be at least 1, not {getattr(self, key)}")

    def size(self, elements: int) -> int:
        """Pooled elements of ``elements`` in one direction."""
        return max(0, (elements - self.window) // self.stride + 1)


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
        around = sides(self.pad)
        if not all(0 <= side < self.k for side in around):
            raise ValueError(f"pad must be 0 to {self.k - 1} (below the kernel), not {self.pad}")
        if len(set(around)) == 1:  # one layer, one value
            object.__setattr__(self, "pad", around[0])
        for key, padded in (("rows", self.padded_rows), ("columns", self.padded_columns)):
            if self.k > padded:
                raise ValueError(f"k must not exceed the padded map ({padded} {key}), not {self.k}")
        if self.pool and (self.pooled_rows < 1 or self.pooled_columns < 1):
            raise ValueError(
                f"pool window must not exceed the {self.out_rows} x {self.out_columns} output, "
                f"not {self.pool.window}"
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

    @property
    def out_rows(self) -> int:
        """Rows of the convolution's output."""
        return (self.padded_rows - self.k) // self.stride + 1

    @property
    def out_columns(self) -> int:
        """Columns of the convolution's output."""
        return (self.padded_columns - self.k) // self.stride + 1

    @property
    def pooled_rows(self) -> int:
        """Rows after pooling (the convolution's own without pooling)."""
        return self.pool.size(self.out_rows) if self.pool else self.out_rows

    @property
    def pooled_columns(self) -> int:
        """Columns after pooling (the convolution's own without pooling)."""
        return self.pool.size(self.out_columns) if self.pool else self.out_columns

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
