"""A fully connected layer folded onto an engine of k x k kernels.

A layer on maps of a single element would use one multiplier of each unit. Folded, k*k elements at a
time stand for an input map of k x k: element e is tap e mod k*k of map e div k*k, taps row by row.
Elements and weights keep their natural order in memory, which is that of the folded maps and
kernels one after the other; the taps that the last map lacks are zero, and never sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.shape import Shape
from merp.models.base.widened_shape import widened


@dataclass(frozen=True, kw_only=True)
class FoldedShape(Shape):
    """What the engine computes: a single window of k x k on each of ceil(elements / (k*k)) maps.

    Attributes:
        elements: inputs of the layer.

    Raises:
        ValueError: as of ``Shape``, or the maps are not those of so many elements.
    """

    elements: int

    def __post_init__(self) -> None:
        """Check that the fields go together."""
        super().__post_init__()
        taps = self.k * self.k
        maps = -(-self.elements // taps)
        if (self.rows, self.columns, self.pad, self.n) != (self.k, self.k, 0, maps):
            raise ValueError(f"{self.elements} elements do not fold onto {self.n} maps of {taps}")

    @property
    def filling(self) -> int:
        """Taps that the last map lacks."""
        return self.n * self.k * self.k - self.elements

    def macs(self, images: int = 1) -> int:
        """Multiply-adds of the layer: those with filled up taps are none."""
        return self.elements * self.m * images


def folds(shape: Shape, k: int) -> bool:
    """Whether a design of ``k`` x ``k`` kernels runs ``shape`` folded."""
    return k > 1 and (shape.k, shape.rows, shape.columns) == (1, 1, 1)


def run_shape(shape: Shape, k: int) -> Shape:
    """The shape that a design of ``k`` x ``k`` kernels computes: ``shape``, folded or widened."""
    if not folds(shape, k):  # a shape that is folded already is not, as its kernels are k x k
        return widened(shape, k)
    return FoldedShape(
        n=-(-shape.n // (k * k)),
        m=shape.m,
        k=k,
        rows=k,
        columns=k,
        relu=shape.relu,
        pool=shape.pool,
        elements=shape.n,
    )


def filling(shape: Shape, k: int) -> int:
    """Zeros behind an image, or an output's weights, where a design of ``k`` runs ``shape``."""
    run = run_shape(shape, k)
    return run.filling if isinstance(run, FoldedShape) else 0
