"""What an export asks of a machine whose designs are packages of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from merp.cosim.machines.loader import part_for
from merp.models.base.storage import StoredFormat
from merp.models.network.network import Layer, Network

if TYPE_CHECKING:  # slow imports wait
    from merp.tools.bitstream.bitstream import Bitstream


class ExportedMachine(Protocol):
    """A machine as it is exported."""

    def check(self, network: Network, layer: Layer, images: int) -> None:
        """See that the design of a layer takes so many images.

        Raises:
            BadInput: it does not, or there is none.
        """

    def title(self, bitstream: Bitstream) -> str:
        """One line: what a bitstream does, and with how much."""

    def most_images(self, network: Network, layer: Layer) -> int:
        """Of a run."""

    def word_bytes(self, bitstream: Bitstream, layer: Layer, port: str) -> int:
        """Bytes of a word of a port."""

    def stored(self, bitstream: Bitstream, port: str) -> StoredFormat | None:
        """Format of a port, where it is not that of the arithmetic."""

    def small(self, bitstream: Bitstream) -> tuple[Network, Layer]:
        """A network that the elaboration runs quickly, and its layer whose pass is small."""


def exported_of(network: Network) -> ExportedMachine:
    """How the machine of a network is exported.

    Raises:
        BadInput: layers run on several machines, or the machine has no such part.
    """
    found: ExportedMachine = part_for(network, "exported")
    return found
