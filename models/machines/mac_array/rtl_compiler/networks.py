"""The networks of the paper: 16C3-16C3-P-32C3-32C3-P-64C3-64C3-P-FC, and 2 and 4 times the maps.

The paper does not print the padding of 1 and the max-pooling of 2 x 2. They are inferred from the
operations of an image, which follow from throughput and time.
"""

from __future__ import annotations

from merp.models.base.shape import Pool, Shape
from merp.models.network.network import Layer, Network


def cifar(times: int) -> Network:
    """Return the network with ``times`` the maps of the smallest, on images of 32 x 32 x 3."""
    layers, n, rows = [], 3, 32
    for place, m in enumerate((16, 16, 32, 32, 64, 64), 1):
        pool = None if place % 2 else Pool(window=2, stride=2)
        shape = Shape(n=n, m=times * m, k=3, rows=rows, columns=rows, pad=1, pool=pool)
        layers.append(Layer(name=f"conv{place}", kind="conv", shape=shape))
        n, rows = shape.m, shape.pooled_rows
    classes = Shape(n=n * rows * rows, m=10, k=1, rows=1, columns=1, relu=False)
    layers.append(Layer(name="fc7", kind="fc", shape=classes))
    return Network(name=f"cifar10-{times}x", input=(32, 32, 3), layers=tuple(layers))
