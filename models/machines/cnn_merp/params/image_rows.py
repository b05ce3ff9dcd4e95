"""Images as the columns of a row, if the kernel update of a folded layer sums along rows.

A folded layer has one position per image. A row of one column would wait for the read-out of every
sum. Therefore images are adjacent in the banks, as maps of k rows whose windows do not overlap.
``image_columns`` images form a row of positions. The first row has the remaining images: after a
longer row, the sums of a shorter one would be finished too early.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.folded_shape import FoldedShape
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign


@dataclass(frozen=True, kw_only=True)
class ImageRows:
    """The rows of a run of a folded layer.

    Attributes:
        shape: the engine's shape of a row: a map of k rows for each folded map.
        rows: of images.
        first: images of the first row; every other row has an image for each column.
    """

    shape: Shape
    rows: int
    first: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """Images of each row."""
        return (self.first, *[self.shape.out_columns] * (self.rows - 1))


def image_rows(run: FoldedShape, images: int, design: EngineDesign) -> ImageRows:
    """Return the rows of ``images`` images of ``run`` in the kernel update on ``design``, by
    row.
    """
    columns = min(images, design.image_columns)
    rows = -(-images // columns)
    shape = Shape(
        n=run.n,
        m=run.m,
        k=run.k,
        rows=run.k,
        columns=run.k * columns,
        stride=run.k,
        relu=False,
    )
    return ImageRows(shape=shape, rows=rows, first=images - (rows - 1) * columns)
