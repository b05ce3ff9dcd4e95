"""One computational unit of the kernel update (CNN-MERP section V.C, ``ku_kind = "position"``).

If beats have several elements, y is a part of a word, and tap_shift is the number of this part.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.select_part import select_part
from merp.hdl.base.select_word import index_of, place_of, select_word
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def gradient_cu(
    clk: Bit,
    window: Word,
    delta: Word,
    read_addr: Word,
    from_zero: Bit,
    write: Bit,
    write_addr: Word,
    tap_shift: Word,
    y: Word,
    design: EngineDesign,
) -> Any:
    """Multiply a window by a delta and add the products to k*k stored gradients.

    window, delta: the factors. read_addr, from_zero: address of the gradients, or they are +0;
    mul_latency - 1 cycles after the factors. write, write_addr: keep the sums, mul_latency +
    add_latency cycles after the factors. tap_shift: the bit at which y starts in the word read one
    cycle earlier. y: this element of the word, a cycle after tap_shift. Throughput: k*k additions
    per cycle. A word read in the cycle that writes it is the old one. Reset: none.
    """
    width, taps, window_width = design.fmt.width, design.taps, design.window_width
    memory = [bits(window_width) for _ in range(design.kernel_words)]
    operand = bits(window_width)
    sums = bits(window_width)
    products = [bits(width) for _ in range(taps)]
    totals = [bits(width) for _ in range(taps)]
    joined = ConcatSignal(*reversed(totals)) if taps > 1 else totals[0]

    multipliers = [
        fp_mul(
            clk,
            a=window((tap + 1) * width, tap * width),
            b=delta,
            y=products[tap],
            fmt=design.fmt,
            latency=design.mul_latency,
        )
        for tap in range(taps)
    ]
    adders = [
        fp_add(
            clk,
            a=products[tap],
            b=operand((tap + 1) * width, tap * width),
            y=totals[tap],
            fmt=design.fmt,
            latency=design.add_latency,
        )
        for tap in range(taps)
    ]

    @always_comb
    def join() -> None:
        sums.next = joined

    @always(clk.posedge)
    def access() -> None:
        if write:
            memory[write_addr].next = sums
        if from_zero:
            operand.next = 0
        else:
            operand.next = memory[read_addr]

    if design.kernel_port > 1:
        part = select_part(
            clk,
            words=operand,
            index=tap_shift,
            word=y,
            size=design.gradient_read * width,
            parts=design.gradient_reads,
        )
        return multipliers, adders, join, access, part
    place = place_of(width)
    select = select_word(clk, words=operand, index=index_of(tap_shift, place), word=y, place=place)
    return multipliers, adders, join, access, select
