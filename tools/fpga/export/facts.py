"""Facts about the layers of an export: registers, words, bytes, cycles."""

from __future__ import annotations

from functools import partial
from typing import Any

from merp.models.base.register_map import RegisterMap
from merp.models.network.network import Layer
from merp.models.network.phases import called, fuses, phase_operations
from merp.tools.fpga.bitstream.bitstream import Bitstream
from merp.tools.fpga.bitstream.register_files import range_text
from merp.tools.fpga.export.dma import images_in_a_transfer
from merp.tools.fpga.export.exported import exported_of


def layer_facts(bitstream: Bitstream, layer: Layer, images: int) -> dict[str, Any]:
    """Return a layer on a bitstream: ``words`` and ``bytes`` by port of one run, a run per group.

    ``dma_images`` has for each port the most images of a run whose bytes fit in a transfer of AMD's
    AXI DMA. It is None if all images that the design supports fit. ``cycles`` are the cycles of one
    run by the cycle model, from the first map or delta word to the last output word.
    ``kernel_load`` are the cycles before. Both are None without a model.
    """
    words = bitstream.phase.words(layer, images)
    exported = exported_of(bitstream.network)
    most, least = exported.most_images(bitstream.network, layer), exported.least_images(bitstream)
    cycles = bitstream.cycles(layer, images)
    return {
        "layer": called(bitstream.network, layer, bitstream.phase.name),
        "runs": layer.groups,
        "images": images,
        "operations": _operations(bitstream, layer, images) // layer.groups,
        "words": dict(words),
        "bytes": {port: _bytes(bitstream, layer, port, images) for port in words},
        "dma_images": {
            port: images_in_a_transfer(partial(_bytes, bitstream, layer, port), most, least)
            for port in words
        },
        "cycles": cycles and cycles.total // layer.groups,
        "kernel_load": cycles and cycles.kernel_load // layer.groups,
        "registers": bitstream.phase.registers(layer, images),
    }


def _operations(bitstream: Bitstream, layer: Layer, images: int) -> int:
    """Return the operations of all groups of a layer, or of two fused layers."""
    network, phase = bitstream.network, bitstream.phase.name
    if fuses(network, layer, phase):
        return sum(network.layer(name).operations(images) for name in network.layer_fusion)
    return phase_operations(layer, phase, images)


def _bytes(bitstream: Bitstream, layer: Layer, port: str, images: int) -> int:
    """Return the bytes of a run on a port."""
    words = bitstream.phase.words(layer, images)[port]
    return words * exported_of(bitstream.network).word_bytes(bitstream, layer, port)


def register_rows(registers: RegisterMap) -> list[dict[str, Any]]:
    """Return the register map as rows of a table."""
    return [
        {
            "address": f"0x{each.offset:03x}",
            "name": each.name,
            "access": each.access,
            "range": range_text(each),
            "meaning": each.meaning,
        }
        for each in registers.registers
    ]
