"""Resources of modules: equations (12), (13), (15) and (16), and the unit costs of table III."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final

from merp.models.papers.lists import paper


@dataclass(frozen=True)
class BlockResources:
    """LUT, flip-flops, DSP blocks and block RAM, in the units of the part."""

    lut: float
    ff: float
    dsp: float
    bram: float

    def __add__(self, other: BlockResources) -> BlockResources:
        """Return the sum of both."""
        return BlockResources(
            self.lut + other.lut, self.ff + other.ff, self.dsp + other.dsp, self.bram + other.bram
        )

    def __mul__(self, count: float) -> BlockResources:
        """Return ``count`` times the resources."""
        return BlockResources(
            count * self.lut, count * self.ff, count * self.dsp, count * self.bram
        )

    def exceeded(self, limit: BlockResources) -> str:
        """Return the name of the first resource that exceeds ``limit``, or ""."""
        names = ("lut", "ff", "dsp", "bram")
        return next((name for name in names if getattr(self, name) > getattr(limit, name)), "")


@dataclass(frozen=True)
class Costs:
    """Unit costs of a part.

    Attributes:
        control: address generators and stream control of a module.
        tap: a multiply-add with the buffer of its weight.
        activation: the unit of tanh.
        block_bits: bits of a block RAM.
    """

    control: BlockResources
    tap: BlockResources
    activation: BlockResources
    block_bits: int

    def buffer(self, words: int, word_bits: int) -> BlockResources:
        """Return the block RAM of a buffer."""
        return BlockResources(0, 0, 0, ceil(words * word_bits / self.block_bits))


def _table_iii(unit: str) -> BlockResources:
    kinds = ("LUT", "FF", "DSP", "BRAM")
    return BlockResources(*(paper("fcnn")["table III", f"{unit}: {kind}"] for kind in kinds))


STRATIX_V: Final = Costs(
    control=_table_iii("stream control"),
    tap=_table_iii("ADD") + _table_iii("MUL") + BlockResources(0, 0, 0, 1),
    activation=_table_iii("tanh"),
    block_bits=20_480,
)
"""Binary32. source: table III; an M20K is assumed to have 20,480 bits"""

TABLE_III: Final = _table_iii("available")
"""Resources of a 5SGSD8."""


def full_module(
    costs: Costs, kernels: int, side: int, inputs: int, word_bits: int, activations: int
) -> BlockResources:
    """Return the resources of a fully connected module with kernels of ``side`` x ``side`` taps.

    source: equations (15) and (16)
    With tanh, an activation in every kernel would not fit. The weight of a tap is in the buffer of
    the block.
    """
    tap = costs.tap + BlockResources(0, 0, 0, -1 if costs.tap.bram else 0)
    kernel = tap * side**2 + costs.buffer(side**2, word_bits)
    buffers = costs.buffer(inputs * side, word_bits) * 2
    return costs.control + kernel * kernels + buffers + costs.activation * activations
