"""A fully connected layer folded onto an engine of k x k kernels.

Without folding, a layer on maps of a single element would use one multiplier of each unit. In a
folded layer, k*k elements form an input map of k x k. Element e is tap e mod k*k of map e div k*k,
taps row by row. Elements and weights keep their natural order in memory. This is also the order of
the folded maps and kernels. The taps that the last map lacks are zero; they are never sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.shape import Shape
from merp.models.base.widened_shape import widened


@dataclass(frozen=True, kw_only=True)
class FoldedShape(Shape):
    """The shape that the engine computes: one window of k x k on each of ceil(elements / (k*k))
    maps.

    Attributes:
        elements: inputs of the layer.

    Raises:
        ValueError: as in ``Shape``, or the number of maps does not match the number of elements.
    """

    elements: int

    def __post_init__(self) -> None:
        """Check that the fields are consistent."""
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
        """Return the multiply-adds of the layer; filled up taps do not count."""
        return self.elements * self.m * images


def folds(shape: Shape, k: int) -> bool:
    """Return whether a design of ``k`` x ``k`` kernels runs ``shape`` folded."""
    return k > 1 and (shape.k, shape.rows, shape.columns) == (1, 1, 1)


def run_shape(shape: Shape, k: int) -> Shape:
    """Return the shape that a design of ``k`` x ``k`` kernels computes: ``shape``, folded or
    widened.
    """
    if not folds(shape, k):  # no folding of a folded shape: its kernels are k x k
        return widened(shape, k)
    return FoldedShape(
        n=-(-shape.n // (k * k)),
        m=shape.m,
        k=k,
        rows=k,
        columns=k,
        relu=shape.relu,
        relu6=shape.relu6,
        slope=shape.slope,
        pool=shape.pool,
        elements=shape.n,
    )


def filling(shape: Shape, k: int) -> int:
    """Return the zeros after an image, or after an output's weights, if a design of ``k`` runs
    ``shape``.
    """
    run = run_shape(shape, k)
    return run.filling if isinstance(run, FoldedShape) else 0
