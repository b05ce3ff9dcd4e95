"""The layers of a network as rows, for the row-by-row simulator."""

from __future__ import annotations

from collections.abc import Sequence

from merp.models.network.network import Layer
from merp.models.rows.layout import LayerRows

PAIR = 2
"""Difference in images of the two batches from which a rate is computed: positions form pairs."""


def rows_of(layers: Sequence[Layer]) -> tuple[LayerRows, ...]:
    """Return the layers of a network as rows."""
    shapes = [layer.shape for layer in layers]
    outputs = [behind.rows for behind in shapes[1:]] + [shapes[-1].pooled_rows]
    return tuple(_rows(*each) for each in zip(layers, outputs, strict=True))


def _rows(layer: Layer, outputs: int) -> LayerRows:
    shape = layer.shape
    pool = shape.pool
    return LayerRows(
        name=layer.name,
        by_outputs=False,
        inputs=shape.rows,
        sums=shape.out_rows,
        pooled=shape.pooled_rows,
        outputs=outputs,
        kernel=shape.k,
        stride=shape.stride,
        top=shape.top,
        window=pool.window if pool else 1,
        step=pool.stride if pool else 1,
        above=pool.top if pool else 0,
        input_words=layer.inputs,
        sum_words=layer.sums,
        output_words=layer.outputs,
    )
