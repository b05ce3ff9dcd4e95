"""An export of F-CNN's modules: a package for each configuration, and their schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from merp.models.machines.fcnn.bytes import word_bytes
from merp.models.machines.fcnn.phases import POOL, UNPOOL, design_of
from merp.models.machines.fcnn.runs import check_run
from merp.models.network.branches import previous, receiver
from merp.models.network.network import Layer, Network
from merp.models.network.phases import DP, FP, KU
from merp.tools.fpga.export.operands import Operand
from merp.tools.machines.usual.exported import Usual

if TYPE_CHECKING:  # slow imports, therefore late
    from merp.tools.fpga.bitstream.bitstream import Bitstream

_ARRAYS: Final = {
    (FP.name, "kernel"): "kernels", (FP.name, "bias"): "biases",
    (FP.name, "partial_in"): "sums", (FP.name, "sum_out"): "sums",
    (POOL.name, "map_in"): "sums", (POOL.name, "map_out"): "maps",
    (POOL.name, "state_out"): "state",
    (UNPOOL.name, "delta_in"): "output deltas", (UNPOOL.name, "state_in"): "state",
    (UNPOOL.name, "map_in"): "maps", (UNPOOL.name, "delta_out"): "deltas",
    (DP.name, "map_in"): "deltas", (DP.name, "kernel"): "turned kernels",
    (KU.name, "delta_in"): "deltas", (KU.name, "gradient_out"): "gradients",
    (KU.name, "kernel"): "deltas", (KU.name, "sum_out"): "gradients",  # of a matrix product
}  # fmt: skip
"""Arrays of the layer itself, by phase and port."""


class Exported(Usual):
    """As ``tools.fpga.export.exported.ExportedMachine``."""

    def check(self, network: Network, layer: Layer, images: int) -> None:
        """Check that the lanes divide the batch.

        Raises:
            BadInput: they do not, or the batch is larger than the design's.
        """
        where = f"{network.name}: {layer.name}"
        check_run(layer.shape, images, design_of(network, layer), where)

    def most_images(self, network: Network, layer: Layer) -> int:
        """Return the largest batch."""
        return design_of(network, layer).max_images

    def word_bytes(self, bitstream: Bitstream, layer: Layer, port: str) -> int:
        """Return the bytes of a word: state has words of a byte."""
        return word_bytes(bitstream.network, port)

    def least_images(self, bitstream: Bitstream) -> int:
        """Return the images of a beat."""
        return design_of(bitstream.network, bitstream.layers[0]).lanes

    def operand(self, bitstream: Bitstream, layer: Layer, port: str) -> Operand:
        """Return the array of a port.

        The host turns the kernels for delta propagation, and updates them with the gradients.
        Partial sums come back from where they went. The gradients of a matrix product need a row of
        ones behind the maps, for the biases.
        """
        network, phase = bitstream.network, bitstream.phase.name
        known = _ARRAYS.get((phase, port))
        if known is not None:
            return Operand(known, layer.name)
        front = receiver(network, layer) if phase == DP.name else previous(network, layer)
        if phase == DP.name:  # sums of deltas, which are the deltas of the output in front
            return Operand("output deltas", None if front is None else front.name)
        of_product = phase == KU.name and not design_of(network, layer).convolves
        ones = " and ones" if of_product else ""
        if front is None:
            return Operand(f"images{ones}", None)
        return Operand(f"maps{ones}", front.name)


EXPORTED = Exported()
