"""An estimate of the FPGA resources of a memory subsystem, before any synthesis.

The figures of a stream are those of Yosys for the subsystem of ``digits`` on a port of 128 bits
(docs/resources.md). Selections and registers of a beat grow with the port.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Final

from merp.models.fpga.block_ram import mapped
from merp.models.fpga.resources import Resources
from merp.models.memory.params.mover import Mover
from merp.models.memory.params.subsystem import Loader, SubsystemDesign


@dataclass(frozen=True)
class _Each:
    """LUTs and flip-flops: of any port, and for each of its data bits."""

    lut: float
    ff: float
    lut_bit: float = 0.0
    ff_bit: float = 0.0


_FIXED: Final = _Each(1260, 1000)  # processor, arbiter, registers
_READER: Final = _Each(570, 770, lut_bit=0.25)
_WRITER: Final = _Each(620, 785, lut_bit=1.15, ff_bit=1.0)

_LOADER: Final = {
    Loader.NONE: Resources(),
    Loader.HOST: Resources(logic=85, ff=34),
    Loader.ICAPE2: Resources(logic=105, ff=74),
}
"""The command, its registers and, at ICAPE2, the block that sends its words."""

_READ_MARKS: Final = 3
"""Bits of a beat in the queue of a reader, besides its data: response and last."""


def subsystem_resources(design: SubsystemDesign) -> Resources:
    """Return the resources of a memory subsystem in cells of the 7 series."""
    bits = design.port.data_bits
    readers = _streams(_READER, design.interface.readers, bits + _READ_MARKS)
    writers = _streams(_WRITER, design.interface.writers, bits + bits // 8)
    fixed = Resources(logic=int(_FIXED.lut), ff=int(_FIXED.ff))
    return reduce(add, (*readers, *writers, _LOADER[design.loader]), fixed)


def _streams(each: _Each, movers: Sequence[tuple[str, Mover]], queue_bits: int) -> list[Resources]:
    """Return the resources of the streams of a direction, each with its queue of beats."""
    found = []
    for _, mover in movers:
        bits, queue = mover.port.data_bits, mapped(mover.places, queue_bits)
        found.append(
            Resources(
                logic=round(each.lut + each.lut_bit * bits),
                memory=queue.luts,
                ff=round(each.ff + each.ff_bit * bits),
                bram=queue.block_rams,
            )
        )
    return found
