"""The shape of delta propagation, as seen by the engine of forward propagation.

CNN-MERP section III.B: delta propagation is a convolution over delta maps that are dilated by the
stride. A border of k-1-pad surrounds them on each side. There are as many windows as the layer's
input has elements.
"""

from __future__ import annotations

from merp.models.base.shape import Shape, sides


def delta_shape(shape: Shape) -> Shape:
    """Return the shape of a layer's delta propagation: m maps in, n maps out, no ReLU, no pooling.

    Its rows and columns are those of the dilated delta. If no window reached some input elements of
    the layer, zeros follow the last delta.
    """
    reach = shape.k - 1
    top, left, bottom, right = (reach - side for side in sides(shape.pad))
    return Shape(
        n=shape.m,
        m=shape.n,
        k=shape.k,
        rows=shape.rows + reach - top - bottom,
        columns=shape.columns + reach - left - right,
        pad=(top, left, bottom, right),
        relu=False,
    )


def plain_inputs(shape: Shape) -> Shape:
    """Return the shape of a layer that computes the n input maps of a layer, without ReLU and
    pooling.
    """
    return Shape(n=shape.n, m=shape.n, k=1, rows=shape.rows, columns=shape.columns, relu=False)
