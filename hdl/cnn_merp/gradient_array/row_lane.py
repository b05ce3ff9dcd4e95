"""Add the held sums of some taps to their gradients, one tap after the other.

If beats have several elements, the gradient memory consists of banks. All banks are read at an
address, bank 0 lowest, in the accumulated format.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv, modbv

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.arithmetic.fp_convert import fp_convert
from merp.hdl.base.delay import delay
from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.select_word import select_word
from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.gradient_array.row_control import SCALES_FIRST
from merp.hdl.cnn_merp.gradient_array.row_ports import RowControl
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_distances import EXPONENT_SUM_BITS
from merp.hdl.fused.fused_normalise import fused_normalise
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.row import CODE_BITS, DIFFERENCE, steps, sum_bits

SUM_PLACE, SCALE_PLACE = 6, 4  # selection of words of 2^6 and 2^4 bits


@block
def _enable(write: Bit, bank: Word, enable: Bit, at: int) -> Any:
    @always_comb
    def choose() -> None:
        enable.next = write and bank == at

    return choose


@block
def _banks(clk: Bit, control: RowControl, data: Word, words: Word, design: EngineDesign) -> Any:
    """Parallel gradient memories; words are the words at the address, bank 0 lowest."""
    read = [bits(len(data)) for _ in range(design.gradient_banks)]
    enables = [flag() for _ in read]
    joined = ConcatSignal(*reversed(read))
    memories = [
        (
            _enable(write=control.write, bank=control.write_bank, enable=enables[i], at=i),
            dual_port_ram(
                clk,
                write=enables[i],
                write_addr=control.write_addr,
                data=data,
                read_addr=control.read_addr,
                word=read[i],
                words=design.gradient_words,
            ),
        )
        for i in range(design.gradient_banks)
    ]

    @always_comb
    def join() -> None:
        words.next = joined

    return memories, join


@block
def _select_bank(bank: Word, words: Word, word: Word) -> Any:
    width, size = len(word), len(words)
    banks = size // width

    @always_comb
    def select() -> None:
        chosen = intbv(0)[size:]
        for i in range(banks):
            if bank == i:
                chosen[:] = words >> (i * width)
        word.next = chosen[width:]

    return select


@entity
def row_lane(
    clk: Bit, control: RowControl, sums: Word, scales: Word, element: Word, design: EngineDesign
) -> Any:
    """Round the row sum of each tap and add it to the gradient of the tap.

    control  in   number of the tap, and address of its gradient
    sums     in   held sums, 64 bits each, the first tap lowest
    scales   in   exponents and flags for NaN and infinity, 16 bits each, the first tap lowest
    element  out  element of the gradient memory, addressed two cycles earlier

    Throughput: a tap per cycle. Reset: none.
    """
    fmt, width = design.accumulator_format, sum_bits(design)
    picked, picked_scale = bits(width), bits(EXPONENT_SUM_BITS + CODE_BITS)
    scale = bits(EXPONENT_SUM_BITS + CODE_BITS)
    previous = [bits(width) for _ in range(steps(design))]
    difference = bits(width + 1)
    largest, special = bits(EXPONENT_SUM_BITS), bits(3)
    row_total, operand, total = bits(fmt.width), bits(fmt.width), bits(fmt.width)
    word = bits(fmt.width)

    @always(clk.posedge)
    def subtract() -> None:
        older = intbv(0)[width:]
        value = modbv(0)[width:]
        if not control.fresh:
            older[:] = previous[control.previous_step]
        value[:] = picked - older
        difference.next = concat(value, False)
        if control.replace:
            previous[control.previous_step].next = picked

    @always_comb
    def unpack() -> None:
        code = scale[EXPONENT_SUM_BITS + CODE_BITS : EXPONENT_SUM_BITS]
        largest.next = scale[EXPONENT_SUM_BITS:]
        nan = code == 3
        infinite = code != 0
        special.next = concat(nan, infinite, scale[EXPONENT_SUM_BITS + 1])

    @always(clk.posedge)
    def fetch() -> None:
        # A register follows the memory's own one, because a deep memory consists of many blocks and
        # a multiplexer.
        if control.from_zero:
            operand.next = 0
        else:
            operand.next = word

    stages = [
        select_word(clk, words=sums, index=control.sum_step, word=picked, place=SUM_PLACE),
        select_word(
            clk, words=scales, index=control.scale_step, word=picked_scale, place=SCALE_PLACE
        ),
        delay(clk, d=picked_scale, q=scale, cycles=SCALES_FIRST + DIFFERENCE - 1),
        fused_normalise(
            clk,
            total=difference,
            largest=largest,
            special=special,
            y=row_total,
            window=design.fused_window,
            fmt=fmt,
        ),
        fp_add(clk, a=row_total, b=operand, y=total, fmt=fmt, latency=design.add_latency),
    ]
    if design.gradient_banks > 1:
        words = bits(design.gradient_banks * fmt.width)
        return (
            subtract,
            unpack,
            fetch,
            stages,
            (
                _banks(clk, control=control, data=total, words=words, design=design),
                _select_bank(bank=control.bank, words=words, word=word),
                delay(clk, d=words, q=element, cycles=1),
            ),
        )
    stages.append(
        dual_port_ram(
            clk,
            write=control.write,
            write_addr=control.write_addr,
            data=total,
            read_addr=control.read_addr,
            word=word,
            words=design.gradient_words,
        )
    )
    if design.kernel_port > 1 or fmt == design.fmt:
        stages.append(delay(clk, d=word, q=element, cycles=1))
    else:
        stages.append(fp_convert(clk, a=word, y=element, fmt=fmt, target=design.fmt))
    return subtract, unpack, fetch, stages
