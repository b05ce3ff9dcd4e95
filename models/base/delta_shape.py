"""Delta propagation as the engine of forward propagation sees it.

CNN-MERP section III.B: a convolution over delta maps that are dilated by the stride, in a border of
k-1-pad on each side, with as many windows as the layer's input has elements.
"""

from __future__ import annotations

from merp.models.base.shape import Shape, sides


def delta_shape(shape: Shape) -> Shape:
    """Shape of a layer's delta propagation: m maps in, n maps out, no ReLU, no pooling.

    Its rows and columns are those of the dilated delta. Behind the last delta lie zeros where the
    layer has input elements that no window reached.
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
    """Shape of a layer that makes the n maps a layer takes, with neither ReLU nor pooling."""
    return Shape(n=shape.n, m=shape.n, k=1, rows=shape.rows, columns=shape.columns, relu=False)
