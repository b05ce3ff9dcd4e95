"""The networks of the paper: 3 x 3 kernels, padding 1, average pooling by 2, ten classes.

Kernel and padding are assumed: the tables that have them are missing from the text.
"""

from __future__ import annotations

from merp.models.base.shape import Pool, Shape
from merp.models.network.network import Layer, Network


def network(data: str, rows: int, channels: int, *filters: int) -> Network:
    """Return a network on square images with ``rows`` rows; ``filters`` are those of each layer."""
    layers, n = [], channels
    for place, m in enumerate(filters, 1):
        pool = Pool(kind="average", window=2, stride=2)
        shape = Shape(n=n, m=m, k=3, rows=rows, columns=rows, pad=1, pool=pool)
        layers.append(Layer(name=f"conv{place}", kind="conv", shape=shape))
        n, rows = m, shape.pooled_rows
    classes = Shape(n=n * rows * rows, m=10, k=1, rows=1, columns=1, relu=False)
    layers.append(Layer(name="fc", kind="fc", shape=classes))
    side = layers[0].shape.rows
    name = f"{data}-{'-'.join(map(str, filters))}"
    return Network(name=name, input=(side, side, channels), layers=tuple(layers))


MNIST_SMALL = network("mnist", 28, 1, 8, 8)
MNIST = network("mnist", 28, 1, 8, 16, 32)
SVHN = network("svhn", 32, 3, 8, 16, 32, 64)
CIFAR = network("cifar", 32, 3, 8, 16, 32, 64, 64)
NETWORKS = (MNIST_SMALL, MNIST, SVHN, CIFAR)
