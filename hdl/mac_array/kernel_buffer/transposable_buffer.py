"""Circulant transposable kernel buffer: rows for FP and columns for DP from a single copy.

Source: the RTL compiler's paper, section III.D, figures 5 and 6.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always

from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.rotator import rotator
from merp.hdl.base.signals import bits, count
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.kernel_buffer.address_translator import address_translator
from merp.hdl.mac_array.ports.kernels import KernelBeatWrite
from merp.hdl.mac_array.ports.slots import KernelRowRead
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign


@entity
def transposable_buffer(
    clk: Bit,
    write: KernelBeatWrite,
    read: KernelRowRead,
    taps: Word,
    weights: Word,
    design: ArrayDesign,
) -> Any:
    """Keep kernel elements; give every lane its element of a row or of a column.

    Element (input map i, output map f, tap k) is stored in memory (i + f) mod lanes. Its address is
    ``(f div lanes * inputs + i) * taps + k``.

    write    in   a beat: the word of memory b is at place b, the first lowest
    read     in   the read of a row or a column
    taps     in   elements of a kernel
    weights  out  the word of each lane, lane 0 lowest, two cycles later

    A row i, for outputs from lanes*t on, has the base ``(t * inputs + i) * taps + k`` and the turn
    i mod lanes. A column f, for inputs from lanes*t on, is rotated by 180 degrees. It has the base
    ``(f div lanes * inputs + lanes*t) * taps + taps - 1 - k`` and the turn f mod lanes. Its
    elements go to the first lanes. Lanes behind the last element of a column read an arbitrary
    element. Throughput: a beat in and a row or column out per cycle. Reading words that are being
    written returns the old ones. Reset: none.
    """
    lanes, width, words = design.pof, WORD_BITS, design.kernel_words
    parts = [bits(width) for _ in range(lanes)]
    addresses = [count(words - 1) for _ in range(lanes)]
    turn_1 = bits(len(read.turn))
    turned = bits(lanes * width)
    translators = [
        address_translator(
            base=read.base,
            turn=read.turn,
            rows=read.rows,
            taps=taps,
            address=addresses[b],
            buffer=b,
            lanes=lanes,
        )
        for b in range(lanes)
    ]
    memories = [
        dual_port_ram(
            clk,
            write=write.enable,
            write_addr=write.addr,
            data=write.data((b + 1) * width, b * width),
            read_addr=addresses[b],
            word=parts[b],
            words=words,
        )
        for b in range(lanes)
    ]
    side_by_side = ConcatSignal(*reversed(parts))
    rotate = rotator(x=side_by_side, shift=turn_1, y=turned, places=lanes, width=width)

    @always(clk.posedge)
    def hold() -> None:
        turn_1.next = read.turn
        weights.next = turned

    return translators, memories, rotate, hold
