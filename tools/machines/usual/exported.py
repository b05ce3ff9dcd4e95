"""An export of any machine: words of the network's format, and the first layer made small."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from merp.models.base.storage import StoredFormat
from merp.models.network.network import Layer, Network
from merp.models.network.phases import phase_on
from merp.tools.simulate.picked import MOST_IMAGES

if TYPE_CHECKING:  # slow imports wait
    from merp.tools.bitstream.bitstream import Bitstream

MAPS, ROWS = 2, 4
"""Of a small layer, at most: it has a window less than its kernel and pooling need besides."""


class Usual:
    """As ``tools.export.exported.Exported``."""

    def check(self, network: Network, layer: Layer, images: int) -> None:
        """A layer that its reader took is one that its design runs."""
        network.design(layer)  # says so where there is none

    def title(self, bitstream: Bitstream) -> str:
        """Network, design and phase."""
        network, name = bitstream.network, bitstream.phase.name
        does = phase_on(network, bitstream.layers[0], name).title
        return f"{network.name} {bitstream.design}, {does}"

    def most_images(self, network: Network, layer: Layer) -> int:
        """As many as a verb takes."""
        return MOST_IMAGES

    def word_bytes(self, bitstream: Bitstream, layer: Layer, port: str) -> int:
        """Of the network's format."""
        return bitstream.network.fmt.bytes

    def stored(self, bitstream: Bitstream, port: str) -> StoredFormat | None:
        """That of the arithmetic, all of them."""

    def small(self, bitstream: Bitstream) -> tuple[Network, Layer]:
        """The first layer, with few maps that are small."""
        layer = bitstream.layers[0]
        shape = layer.shape
        window = shape.pool.window + shape.pool.stride if shape.pool else ROWS
        rows = max((window - 1) * shape.stride + shape.k, ROWS)
        shape = replace(
            shape, n=min(shape.n, MAPS), m=min(shape.m, MAPS), rows=min(shape.rows, rows),
            columns=min(shape.columns, rows),
        )  # fmt: skip
        small = replace(layer, groups=1, shape=shape, input=None, add=None)
        size = shape.rows, shape.columns, shape.n
        return replace(bitstream.network, input=size, layers=(small,), weights={}), small


EXPORTED = Usual()
