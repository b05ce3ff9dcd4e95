"""All computational units in lockstep, each with its accumulators (CNN-MERP sections V.B, V.C)."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.fp_convert import fp_convert
from merp.hdl.base.delay import delay
from merp.hdl.base.select_part import select_part
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.behavioural.cu_array import cu_array_fast
from merp.hdl.cnn_merp.cu_array.accumulator import accumulator
from merp.hdl.cnn_merp.cu_array.cu import cu
from merp.hdl.cnn_merp.cu_array.fused_operands import fused_operands
from merp.hdl.cnn_merp.cu_array.unit_ports import (
    MemoryWrite,
    ReadBack,
    SharedProducts,
    SumWrite,
    UnitWrite,
)
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelRead, KernelWrite, OriginWrite
from merp.hdl.cnn_merp.ports.outputs import Sums
from merp.hdl.cnn_merp.ports.slots import OriginSlot, Slot
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_element import fused_element
from merp.hdl.fused.narrow_products import shared_multipliers
from merp.models.base.fused import activation_bits, operand_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _address(slot_addr: Word, read: KernelRead, read_addr: Word) -> Any:
    """Select the read address of the memories: the slot's, or without a slot the reader's."""

    @always_comb
    def choose() -> None:
        if read.enable:
            read_addr.next = read.addr
        else:
            read_addr.next = slot_addr

    return choose


@block
def _read_back(clk: Bit, read: KernelRead, tap: Word, kept: Word, design: EngineDesign) -> Any:
    """Select the element to read back, first in all CUs, then one of the CUs.

    tap: element of the word that the memories give in this cycle. kept: the elements of the CUs, a
    cycle later.
    """
    n_cu, late = design.n_cu, int(design.cu_kind == "fused")
    cu, size = count(n_cu - 1), len(kept) // n_cu
    chosen = bits(size) if late else read.element
    decode = fused_element(clk, operand=chosen, element=read.element) if late else ()
    return (
        delay(clk, d=read.tap, q=tap, cycles=1 + late),
        delay(clk, d=read.cu, q=cu, cycles=2 + late),
        select_part(clk, words=kept, index=cu, word=chosen, size=size, parts=n_cu),
        decode,
    )


@block
def _leave(raw: Bit, total: Word, rounded: Word, y: Word) -> Any:
    """Pass a sum as it is, or rounded to an element."""

    @always_comb
    def choose() -> None:
        if raw:
            y.next = total
        else:
            y.next = rounded

    return choose


def _write_of(written: KernelWrite, j: int, design: EngineDesign) -> UnitWrite:
    """Return the write port of CU j, with its share of the separate elements."""
    element = None
    if written.elements is not None:
        width, place = len(written.data) // design.taps, j % design.kernel_port
        element = written.elements((place + 1) * width, place * width)
    return UnitWrite(
        written.enable(j), written.addr, written.data, written.taps, element, written.places
    )


def _own_origin(bias: BiasWrite | OriginWrite, j: int, width: int) -> Word:
    """Return the start word of CU j."""
    words = len(bias.data) // width
    low = j % words * width
    return bias.data if words == 1 else bias.data(low + width, low)


@entity(twin=cu_array_fast)
def cu_array(
    clk: Bit,
    rst: Bit,
    kernel: KernelWrite,
    bias: BiasWrite | OriginWrite,
    slot: Slot,
    window: Word,
    sums: Sums,
    design: EngineDesign,
    raw: Bit = None,
    read: KernelRead | None = None,
) -> Any:
    """Multiply each window by a kernel of every CU and accumulate over the input maps.

    kernel, bias: write ports of the memories, with an enable bit per CU. slot: the slot to compute;
    window: its k*k elements, one cycle after the slot. sums: the finished sums of all CUs,
    array_latency cycles after a valid slot with last. raw: in a design for partial sums with wide
    accumulators, sums are not rounded. read: (if kernels are read back) address of an element, and
    the element. Throughput: one slot per cycle; the same acc_addr again after accumulate_latency
    cycles. Nothing stalls. All addresses stay in range in every cycle. Reset: slots in the pipeline
    are dropped; memories keep their contents.
    """
    n_cu, cu_latency, precision = design.n_cu, design.cu_latency, design.operand_precision
    latency = design.array_latency - design.round_latency

    write = flag()
    first = flag()
    last = flag()
    finished = flag()
    bias_sel = count(design.origins - 1)
    origin = slot.origin if isinstance(slot, OriginSlot) else slot.group
    read_addr = count(design.p * design.groups - 1)
    write_addr = count(design.p * design.groups - 1)
    # The control is delayed in parallel to the data, once for all CUs.
    control = [
        valid_delay(clk, rst, d=slot.valid, q=write, cycles=latency),
        delay(clk, d=slot.first, q=first, cycles=cu_latency),
        delay(clk, d=origin, q=bias_sel, cycles=cu_latency),
        delay(clk, d=slot.acc_addr, q=read_addr, cycles=cu_latency),
        delay(clk, d=read_addr, q=write_addr, cycles=latency - cu_latency),
        delay(clk, d=slot.last, q=last, cycles=latency),
    ]

    slot_addr = slot.kernel_addr
    taps_back: list[ReadBack | None] = [None] * n_cu
    back: Any = ()
    if read is not None:
        slot_addr, tap = count(design.kernel_words - 1), count(design.taps - 1)
        each = design.fmt.width if design.cu_kind != "fused" else operand_bits(precision) + 1
        elements = [bits(each) for _ in range(n_cu)]
        joined_back = ConcatSignal(*reversed(elements)) if n_cu > 1 else elements[0]
        kept = bits(n_cu * each)
        taps_back = [ReadBack(tap, element) for element in elements]

        @always_comb
        def collect() -> None:
            kept.next = joined_back

        back = (
            collect,
            _address(slot_addr=slot.kernel_addr, read=read, read_addr=slot_addr),
            _read_back(clk, read=read, tap=tap, kept=kept, design=design),
        )

    if design.cu_kind == "fused":
        # Decoded once for all CUs, which get everything one cycle later.
        by_tap = kernel.taps is not None
        signs = 0 if read is None else design.taps
        written = KernelWrite(design, design.taps * operand_bits(precision) + signs, by_tap)
        kernel_addr = count(design.kernel_words - 1)
        factors = bits(design.taps * activation_bits(design.fused_dsp, precision))
        decode = [
            fused_operands(
                clk,
                kernel=kernel,
                read_addr=slot_addr,
                window=window,
                written=written,
                later_addr=kernel_addr,
                activations=factors,
                design=design,
            )
        ]
    else:
        written, kernel_addr, factors, decode = kernel, slot_addr, window, []

    fmt = design.accumulator_format
    psums = [bits(fmt.width) for _ in range(n_cu)]
    totals = [bits(fmt.width) for _ in range(n_cu)]
    multipliers: Any = ()
    shared: list[SharedProducts | None] = [None] * n_cu
    if design.summation.narrow:
        kernels = [bits(len(written.data)) for _ in range(n_cu)]
        products = [bits(2 * precision * design.taps) for _ in range(n_cu)]
        multipliers = shared_multipliers(
            clk, factors, kernels, products, design.taps, design.operand_precision
        )
        shared = [SharedProducts(*each) for each in zip(kernels, products, strict=True)]
    units = [
        cu(
            clk,
            write=_write_of(written, j, design),
            read_addr=kernel_addr,
            window=factors,
            y=psums[j],
            design=design,
            back=taps_back[j],
            shared=shared[j],
        )
        for j in range(n_cu)
    ]
    accumulators = [
        accumulator(
            clk,
            first=first,
            bias_sel=bias_sel,
            read_addr=read_addr,
            psum=psums[j],
            write=SumWrite(write, write_addr),
            bias=MemoryWrite(
                bias.enable(j), bias.addr, _own_origin(bias, j, design.origin_format.width)
            ),
            y=totals[j],
            design=design,
        )
        for j in range(n_cu)
    ]

    @always_comb
    def finish() -> None:
        finished.next = write and last

    if design.round_latency:
        rounded = [bits(design.fmt.width) for _ in range(n_cu)]
        leaving = flag()
        leave = [
            *(
                fp_convert(clk, a=totals[j], y=rounded[j], fmt=fmt, target=design.fmt)
                for j in range(n_cu)
            ),
            valid_delay(clk, rst, d=finished, q=leaving, cycles=design.round_latency),
        ]
    else:
        rounded, leaving, leave = totals, finished, []
    leaves = rounded
    if raw is not None:
        leaves = [bits(fmt.width) for _ in range(n_cu)]
        later = [bits(fmt.width) for _ in range(n_cu)]
        for j in range(n_cu):
            leave += [
                delay(clk, d=totals[j], q=later[j], cycles=design.round_latency),
                _leave(raw=raw, total=later[j], rounded=rounded[j], y=leaves[j]),
            ]
    joined = ConcatSignal(*reversed(leaves)) if n_cu > 1 else leaves[0]

    @always_comb
    def hand_out() -> None:
        sums.valid.next = leaving
        sums.data.next = joined

    return control, decode, multipliers, units, accumulators, finish, leave, hand_out, back
