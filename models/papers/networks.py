"""Convolution layers of the papers' networks: AlexNet with or without groups, VGG-16 and VGG-19."""

from __future__ import annotations

from collections.abc import Iterable

from merp.models.base.shape import Pool, Shape
from merp.models.network.network import Layer, Network


def alexnet(groups: int) -> Network:
    """Return AlexNet's layers, as in ``tools/data/alexnet.toml``, or without their groups."""
    three, two = Pool(window=3, stride=2), groups
    return _network(
        "alexnet" if groups == 2 else "alexnet-1group",
        [
            (1, Shape(n=3, m=96, k=11, rows=224, columns=224, stride=4, pad=2, pool=three)),
            (two, Shape(n=96 // two, m=256 // two, k=5, rows=27, columns=27, pad=2, pool=three)),
            (1, Shape(n=256, m=384, k=3, rows=13, columns=13, pad=1)),
            (two, Shape(n=384 // two, m=384 // two, k=3, rows=13, columns=13, pad=1)),
            (two, Shape(n=384 // two, m=256 // two, k=3, rows=13, columns=13, pad=1, pool=three)),
        ],
    )


def vgg(layers: int) -> Network:
    """Return the layers of VGG-16 or VGG-19.

    source: Simonyan and Zisserman 2015, table 1, D and E
    """
    deep = 3 if layers == 16 else 4
    shapes, n, rows = [], 3, 224
    for m, count in ((64, 2), (128, 2), (256, deep), (512, deep), (512, deep)):
        for place in range(count):
            pool = Pool(window=2, stride=2) if place == count - 1 else None
            shapes.append((1, Shape(n=n, m=m, k=3, rows=rows, columns=rows, pad=1, pool=pool)))
            n = m
        rows //= 2
    return _network(f"vgg{layers}", shapes)


def _network(name: str, shapes: Iterable[tuple[int, Shape]]) -> Network:
    layers = tuple(
        Layer(name=f"conv{place}", kind="conv", groups=groups, shape=shape)
        for place, (groups, shape) in enumerate(shapes, 1)
    )
    return Network(name=name, input=(224, 224, 3), layers=layers)
