"""A machine's part of an export with a package per design."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from merp.cosim.machines.loader import part_for
from merp.models.base.storage import StoredFormat
from merp.models.network.network import Layer, Network

if TYPE_CHECKING:  # slow imports, therefore late
    from merp.tools.fpga.bitstream.bitstream import Bitstream
    from merp.tools.fpga.export.operands import Operand


class ExportedMachine(Protocol):
    """A machine's part of an export."""

    def check(self, network: Network, layer: Layer, images: int) -> None:
        """Check that the design of a layer supports the number of images.

        Raises:
            BadInput: the design does not support the number, or does not exist.
        """

    def title(self, bitstream: Bitstream) -> str:
        """Return a title: the phase of a bitstream and its size."""

    def most_images(self, network: Network, layer: Layer) -> int:
        """Return the maximum number of images of a run."""

    def word_bytes(self, bitstream: Bitstream, layer: Layer, port: str) -> int:
        """Return the bytes of a word of a port."""

    def stored(self, bitstream: Bitstream, port: str) -> StoredFormat | None:
        """Return the stored format of a port, if it differs from the format of the arithmetic."""

    def small(self, bitstream: Bitstream) -> tuple[Network, Layer]:
        """Return a network that runs fast on the elaboration, and its layer with a small pass."""

    def least_images(self, bitstream: Bitstream) -> int:
        """Return the least number of images of a run; others are multiples of it."""

    def operand(self, bitstream: Bitstream, layer: Layer, port: str) -> Operand:
        """Return the array in memory of a port in a pass of a layer."""


def exported_of(network: Network) -> ExportedMachine:
    """Return the export part of the network's machine.

    Raises:
        BadInput: layers run on several machines, or the machine has no such part.
    """
    found: ExportedMachine = part_for(network, "exported")
    return found
