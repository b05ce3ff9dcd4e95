"""What an export says of its layers: registers, words, bytes, cycles."""

from __future__ import annotations

from typing import Any

from merp.models.network.network import Layer
from merp.models.network.phases import PHASES
from merp.models.params.register_map import RegisterMap
from merp.tools.bitstream.bitstream import Bitstream
from merp.tools.bitstream.register_files import range_text


def title(bitstream: Bitstream) -> str:
    """One line: what a bitstream does, and with how much."""
    design = bitstream.network.designs[bitstream.design]
    return (
        f"{bitstream.network.name} {bitstream.design}, {PHASES[bitstream.phase.name]}, "
        f"{design.n_cu} CUs of {design.k} x {design.k}"
    )


def layer_facts(bitstream: Bitstream, layer: Layer, images: int) -> dict[str, Any]:
    """A layer on a bitstream: ``words`` and ``bytes`` by port of one run, a run per group.

    ``cycles`` are those of one run by the cycle model, from the first map or delta word to the last
    word out, and ``kernel_load`` those before; None where there is no model.
    """
    word_bytes = -(-bitstream.network.fmt.width // 8)
    words = bitstream.phase.words(layer, images)
    cycles = bitstream.cycles(layer, images)
    return {
        "layer": layer.name,
        "runs": layer.groups,
        "images": images,
        "operations": layer.operations(images) // layer.groups,
        "words": dict(words),
        "bytes": {
            port: count * (1 if port.startswith("state") else word_bytes)
            for port, count in words.items()
        },
        "cycles": cycles and cycles.total // layer.groups,
        "kernel_load": cycles and cycles.kernel_load // layer.groups,
        "registers": bitstream.phase.registers(layer, images),
    }


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
