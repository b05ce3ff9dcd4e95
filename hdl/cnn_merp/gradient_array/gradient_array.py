"""All computational units of the kernel update in lockstep (CNN-MERP section V.C).

If beats have several elements, ``gradient_read`` gradients are read together.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.select_word import index_of, place_of, select_word
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.behavioural.gradient_array import gradient_array_fast
from merp.hdl.cnn_merp.gradient_array.gradient_cu import gradient_cu
from merp.hdl.cnn_merp.ports.gradients import GradientRead
from merp.hdl.cnn_merp.ports.slots import Slot
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.fused import levels
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import gradient_latency


@entity(twin=gradient_array_fast)
def gradient_array(
    clk: Bit,
    rst: Bit,
    slot: Slot,
    opening: Bit,
    window: Word,
    deltas: Word,
    read: GradientRead,
    gradient: Word,
    design: EngineDesign,
) -> Any:
    """Add each window, times the delta of every CU, to the gradients at the address of the slot.

    slot: its kernel_addr is the address; opening: its gradients start from +0. window, deltas: k*k
    elements, and one element per CU; one cycle after the slot. read: while enable is high no slot
    reads its gradients; gradient: the element, GRADIENT_READ cycles later. The gradients of a slot
    are written gradient_latency cycles after it. The same address may return after revisit_cycles;
    an earlier return would lose a sum. Nothing stalls. Throughput: a slot per cycle, an element per
    cycle. Reset: slots in the pipeline are dropped; memories keep their contents.
    """
    n_cu, width = design.n_cu, design.fmt.width
    latency = gradient_latency(design)

    write = flag()
    slot_addr = count(design.kernel_words - 1)
    write_addr = count(design.kernel_words - 1)
    read_addr = count(design.kernel_words - 1)
    slot_opening = flag()
    from_zero = flag()
    tap_shift = bits(len(read.tap_shift))
    cu_shift = bits(len(read.cu_shift))

    # The gradients are read while the products are in the last stage of the multipliers.
    control = [
        valid_delay(clk, rst, d=slot.valid, q=write, cycles=latency),
        delay(clk, d=slot.kernel_addr, q=slot_addr, cycles=design.mul_latency),
        delay(clk, d=opening, q=slot_opening, cycles=design.mul_latency),
        delay(clk, d=slot_addr, q=write_addr, cycles=latency - design.mul_latency),
        delay(clk, d=read.tap_shift, q=tap_shift, cycles=1),
        delay(clk, d=read.cu_shift, q=cu_shift, cycles=2),
    ]

    @always_comb
    def choose() -> None:
        from_zero.next = slot_opening and not read.enable
        if read.enable:
            read_addr.next = read.addr
        else:
            read_addr.next = slot_addr

    several = design.kernel_port > 1
    place = levels(design.gradient_read * width) if several else place_of(width)
    elements = [bits(1 << place if several else width) for _ in range(n_cu)]
    units = [
        gradient_cu(
            clk,
            window=window,
            delta=deltas((j + 1) * width, j * width),
            read_addr=read_addr,
            from_zero=from_zero,
            write=write,
            write_addr=write_addr,
            tap_shift=tap_shift,
            y=elements[j],
            design=design,
        )
        for j in range(n_cu)
    ]
    joined = ConcatSignal(*reversed(elements)) if n_cu > 1 else elements[0]

    index = cu_shift if several else index_of(cu_shift, place)
    select = select_word(clk, words=joined, index=index, word=gradient, place=place)
    return control, choose, units, select
