"""An export of any machine: words of the network's format, and the first layer made small."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from merp.models.base.storage import StoredFormat
from merp.models.network.network import Layer, Network
from merp.models.network.phases import phase_on
from merp.tools.fpga.export.operands import Operand, operand
from merp.tools.simulate.picked import MOST_IMAGES

if TYPE_CHECKING:  # slow imports, therefore late
    from merp.tools.fpga.bitstream.bitstream import Bitstream

MAPS, ROWS = 2, 4
"""Maximum maps and rows of a small layer. Kernel and pooling may require more rows."""


class Usual:
    """As ``tools.fpga.export.exported.ExportedMachine``."""

    def check(self, network: Network, layer: Layer, images: int) -> None:
        """Check that the layer has a design.

        A design supports every layer that its reader accepts.
        """
        network.design(layer)  # raises BadInput if there is none

    def title(self, bitstream: Bitstream) -> str:
        """Return network, design and phase."""
        network, name = bitstream.network, bitstream.phase.name
        does = phase_on(network, bitstream.layers[0], name).title
        return f"{network.name} {bitstream.design}, {does}"

    def most_images(self, network: Network, layer: Layer) -> int:
        """Return the maximum of the command."""
        return MOST_IMAGES

    def word_bytes(self, bitstream: Bitstream, layer: Layer, port: str) -> int:
        """Return the bytes of a word of the network's format."""
        return bitstream.network.fmt.bytes

    def stored(self, bitstream: Bitstream, port: str) -> StoredFormat | None:
        """Return None: all ports have the format of the arithmetic."""

    def least_images(self, bitstream: Bitstream) -> int:
        """Return one image."""
        return 1

    def operand(self, bitstream: Bitstream, layer: Layer, port: str) -> Operand:
        """Return the array of a port of the phases of CNN-MERP."""
        phase = bitstream.phase.name
        return operand(bitstream.network, layer, phase, port, before=bitstream.before)

    def small(self, bitstream: Bitstream) -> tuple[Network, Layer]:
        """Return the first layer with few and small maps."""
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
