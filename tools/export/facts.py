"""What an export says of its layers: registers, words, bytes, cycles."""

from __future__ import annotations

from functools import partial
from typing import Any

from merp.models.base.register_map import RegisterMap
from merp.models.machines.cnn_merp.designs import design_of, designs_of
from merp.models.machines.cnn_merp.fused_pair import fused_design, fused_layers
from merp.models.machines.cnn_merp.one_pass import backward_design
from merp.models.machines.cnn_merp.params.word_counters import word_bytes
from merp.models.network.network import Layer
from merp.models.network.phases import NAMED, PAIR, called, phase_operations
from merp.tools.bitstream.bitstream import Bitstream
from merp.tools.bitstream.register_files import range_text
from merp.tools.export.dma import images_in_a_transfer


def title(bitstream: Bitstream) -> str:
    """One line: what a bitstream does, and with how much."""
    design = designs_of(bitstream.network)[bitstream.design]
    units = str(design.n_cu)
    if NAMED[bitstream.phase.name].combined:
        halves = backward_design(bitstream.network, bitstream.layers[0])
        units = f"{halves.propagation.n_cu} + {halves.update.n_cu}"
    if NAMED[bitstream.phase.name].fuses:
        pair = fused_layers(bitstream.network)
        found = fused_design(bitstream.network, *pair)
        shares = ((found.first.n_cu, found.first), (found.groups * found.second.n_cu, found.second))
        cus = " and ".join(f"{n} CUs of {each.k} x {each.k}" for n, each in shares)
        both = "+".join(bitstream.network.fuse)
        return f"{bitstream.network.name} {both}, {NAMED[PAIR].title}, {cus}"
    return (
        f"{bitstream.network.name} {bitstream.design}, {NAMED[bitstream.phase.name].title}, "
        f"{units} CUs of {design.k} x {design.k}"
    )


def layer_facts(bitstream: Bitstream, layer: Layer, images: int) -> dict[str, Any]:
    """A layer on a bitstream: ``words`` and ``bytes`` by port of one run, a run per group.

    ``dma_images``, by port, are the most images of a run whose bytes fit in a transfer of AMD's AXI
    DMA, None where all that the design takes do. ``cycles`` are those of one run by the cycle
    model, from the first map or delta word to the last word out, and ``kernel_load`` those before;
    None where there is no model.
    """
    words = bitstream.phase.words(layer, images)
    most = design_of(bitstream.network, layer).max_images
    cycles = bitstream.cycles(layer, images)
    return {
        "layer": called(bitstream.network, layer, bitstream.phase.name),
        "runs": layer.groups,
        "images": images,
        "operations": _operations(bitstream, layer, images) // layer.groups,
        "words": dict(words),
        "bytes": {port: _bytes(bitstream, layer, port, images) for port in words},
        "dma_images": {
            port: images_in_a_transfer(partial(_bytes, bitstream, layer, port), most)
            for port in words
        },
        "cycles": cycles and cycles.total // layer.groups,
        "kernel_load": cycles and cycles.kernel_load // layer.groups,
        "registers": bitstream.phase.registers(layer, images),
    }


def _operations(bitstream: Bitstream, layer: Layer, images: int) -> int:
    """Operations of all groups of a layer, or of two fused ones."""
    if NAMED[bitstream.phase.name].fuses:
        return sum(each.operations(images) for each in fused_layers(bitstream.network))
    return phase_operations(layer, bitstream.phase.name, images)


def _bytes(bitstream: Bitstream, layer: Layer, port: str, images: int) -> int:
    """Bytes of a run on a port."""
    words = bitstream.phase.words(layer, images)[port]
    return words * word_bytes(bitstream.phase.name, port, design_of(bitstream.network, layer))


def register_rows(registers: RegisterMap) -> list[dict[str, Any]]:
    """The register map as rows of a table."""
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
