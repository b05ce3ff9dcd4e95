"""The shape of one super layer (one group): what a pass of the engine computes.

CNN-MERP section IV.F: convolution, ReLU and pooling are one super layer.
"""

from __future__ import annotations

from dataclasses import dataclass

POOL_KINDS = ("max", "average")


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
        stride, pad: of the convolution; zero padding on all four sides.
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
    pad: int = 0
    relu: bool = True
    pool: Pool | None = None

    def __post_init__(self) -> None:
        """Check the geometry."""
        for key in ("n", "m", "k", "rows", "columns", "stride"):
            if getattr(self, key) < 1:
                raise ValueError(f"{key} must be at least 1, not {getattr(self, key)}")
        if not 0 <= self.pad < self.k:
            raise ValueError(f"pad must be 0 to {self.k - 1} (below the kernel), not {self.pad}")
        for key in ("rows", "columns"):
            padded = getattr(self, key) + 2 * self.pad
            if self.k > padded:
                raise ValueError(f"k must not exceed the padded map ({padded} {key}), not {self.k}")
        if self.pool and (self.pooled_rows < 1 or self.pooled_columns < 1):
            raise ValueError(
                f"pool window must not exceed the {self.out_rows} x {self.out_columns} output, "
                f"not {self.pool.window}"
            )

    @property
    def out_rows(self) -> int:
        """Rows of the convolution's output."""
        return (self.rows + 2 * self.pad - self.k) // self.stride + 1

    @property
    def out_columns(self) -> int:
        """Columns of the convolution's output."""
        return (self.columns + 2 * self.pad - self.k) // self.stride + 1

    @property
    def pooled_rows(self) -> int:
        """Rows after pooling (the convolution's own without pooling)."""
        return self.pool.size(self.out_rows) if self.pool else self.out_rows

    @property
    def pooled_columns(self) -> int:
        """Columns after pooling (the convolution's own without pooling)."""
        return self.pool.size(self.out_columns) if self.pool else self.out_columns

    def macs(self, images: int = 1) -> int:
        """Multiply-adds of the convolution; one is two operations."""
        positions = self.out_rows * self.out_columns
        return self.k * self.k * self.n * self.m * positions * images
