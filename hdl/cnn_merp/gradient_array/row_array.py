"""All computational units of the row-wise kernel update, in lockstep.

If beats have several elements, ``gradient_read`` gradients are read together. They arrive
``round_latency`` later, because each is rounded after the selection of the CU.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.fp_convert import fp_convert
from merp.hdl.base.delay import delay
from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.select_word import select_word
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.behavioural.row_array import row_array_fast
from merp.hdl.cnn_merp.gradient_array.narrow_row_operands import narrow_row_operands
from merp.hdl.cnn_merp.gradient_array.row_control import row_control
from merp.hdl.cnn_merp.gradient_array.row_cu import row_cu
from merp.hdl.cnn_merp.gradient_array.row_operands import row_operands
from merp.hdl.cnn_merp.gradient_array.row_ports import DeltaFactor, RowControl
from merp.hdl.cnn_merp.ports.gradients import GradientRead
from merp.hdl.cnn_merp.ports.slots import RowSlot
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.narrow_products import shared_multipliers
from merp.models.base.fused import activation_bits, levels, operand_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import GRADIENT_READ
from merp.models.machines.cnn_merp.params.row import SCALE_BITS, exponent_bits

ELEMENT_PLACE = 5  # GradientRead counts in bits, and an element has 2^5 bits


@block
def _rounded(clk: Bit, words: Word, elements: Word, design: EngineDesign) -> Any:
    """Round accumulated gradients to elements."""
    fmt, wide, width = design.accumulator_format, design.accumulator_format.width, design.fmt.width
    joined = words
    rounding: Any = ()
    if fmt != design.fmt:
        found = [bits(width) for _ in range(design.gradient_read)]
        joined = ConcatSignal(*reversed(found)) if len(found) > 1 else found[0]
        rounding = [
            fp_convert(
                clk, a=words((i + 1) * wide, i * wide), y=found[i], fmt=fmt, target=design.fmt
            )
            for i in range(design.gradient_read)
        ]

    @always_comb
    def join() -> None:
        elements.next = joined

    return rounding, join


@entity(twin=row_array_fast)
def row_array(
    clk: Bit,
    rst: Bit,
    slot: RowSlot,
    opening: Bit,
    window: Word,
    deltas: Word,
    read: GradientRead,
    gradient: Word,
    design: EngineDesign,
) -> Any:
    """Sum windows times deltas over each row exactly, and add the rounded sums to the gradients.

    slot: the slots of a sweep follow each other without a gap, column 0 first; kernel_addr is the
    address of its gradients. opening: they start from +0. window, deltas: k*k elements, and one
    element per CU; one cycle after the slot. read: while enable is high no sweep reads its
    gradients; gradient: the element, GRADIENT_READ cycles later. Word t div ku_lanes of a kernel is
    kernel_words behind the previous word. The last gradients are written row_latency cycles after
    the last slot of a sweep at the latest. Last slots are at least ceil(k*k / ku_lanes) cycles
    apart, and row_revisit_cycles apart for the same address. Nothing stalls. Throughput: a slot per
    cycle, an element per cycle. Reset: sweeps in the pipeline are dropped, and slots begin a new
    one; memories keep their contents.
    """
    n_cu, taps, width = design.n_cu, design.taps, design.fmt.width
    precision = design.operand_precision
    element_width, operand_width = (
        activation_bits(design.fused_dsp, precision),
        operand_bits(precision),
    )
    exponent_width = exponent_bits(design)

    words, late_words = bits((taps + n_cu) * width), bits((taps + n_cu) * width)
    store, store_column = flag(), count(design.max_size - 1)
    column = count(design.max_size - 1)
    scales = bits((taps + n_cu) * SCALE_BITS)
    exponents = bits((taps + n_cu) * exponent_width)
    activations = bits(taps * element_width)
    operands = bits(n_cu * operand_width)
    control = RowControl(design)

    both = ConcatSignal(deltas, window)
    multipliers: Any = ()
    products: list[Any] = [None] * n_cu
    if design.summation.narrow:
        products = [bits(taps * 2 * precision) for _ in range(n_cu)]
        multipliers = shared_multipliers(
            clk,
            activations,
            [operands((j + 1) * operand_width, j * operand_width) for j in range(n_cu)],
            products,
            taps,
            precision,
        )

    @always_comb
    def join() -> None:
        words.next = both

    row = [
        delay(clk, d=slot.valid, q=store, cycles=1),
        delay(clk, d=slot.column, q=store_column, cycles=1),
        dual_port_ram(
            clk,
            write=store,
            write_addr=store_column,
            data=words,
            read_addr=column,
            word=late_words,
            words=design.max_size,
        ),
    ]
    steer = row_control(
        clk,
        rst,
        slot=slot,
        opening=opening,
        read=read,
        column=column,
        control=control,
        design=design,
    )
    decode = (narrow_row_operands if design.summation.narrow else row_operands)(
        clk,
        words=words,
        late_words=late_words,
        scales=scales,
        exponents=exponents,
        activations=activations,
        deltas=operands,
        design=design,
    )
    # The elements of a CU occupy a power of two, so that CU and lane form one index.
    acc_width = design.accumulator_format.width
    cu_place = levels(design.gradient_read * acc_width)
    size = 1 << cu_place if design.kernel_port > 1 else width << levels(design.ku_lanes)
    elements = [bits(size) for _ in range(n_cu)]
    units = [
        row_cu(
            clk,
            control=control,
            scales=scales(taps * SCALE_BITS, 0),
            exponents=exponents(taps * exponent_width, 0),
            activations=activations,
            delta=DeltaFactor(
                scales((taps + j + 1) * SCALE_BITS, (taps + j) * SCALE_BITS),
                exponents((taps + j + 1) * exponent_width, (taps + j) * exponent_width),
                operands((j + 1) * operand_width, j * operand_width),
            ),
            elements=elements[j],
            design=design,
            multiplied=products[j],
        )
        for j in range(n_cu)
    ]
    joined = ConcatSignal(*reversed(elements)) if n_cu > 1 else elements[0]
    shifts = (read.cu_shift, read.tap_shift)
    if design.kernel_port > 1:
        chosen = bits(design.gradient_read * acc_width)
        late_cu = bits(len(read.cu_shift))
        pick = [
            delay(clk, d=read.cu_shift, q=late_cu, cycles=GRADIENT_READ - 1),
            select_word(clk, words=joined, index=late_cu, word=chosen, place=cu_place),
            _rounded(clk, words=chosen, elements=gradient, design=design),
        ]
        return join, multipliers, row, steer, decode, units, pick
    digits = [shift(len(shift), ELEMENT_PLACE) for shift in shifts if len(shift) > ELEMENT_PLACE]
    if not digits:
        show = delay(clk, d=joined, q=gradient, cycles=1)
        return join, multipliers, row, steer, decode, units, show
    index = ConcatSignal(*digits) if len(digits) > 1 else digits[0]
    late_index = bits(len(index))
    choose = [
        delay(clk, d=index, q=late_index, cycles=GRADIENT_READ - 1),
        select_word(clk, words=joined, index=late_index, word=gradient, place=ELEMENT_PLACE),
    ]
    return join, multipliers, row, steer, decode, units, choose
