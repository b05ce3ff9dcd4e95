"""One computational unit: a kernel memory and the sum of products (CNN-MERP section V.C)."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.cu_tree import cu_tree
from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.select_part import select_part
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.cu_array.cu_fused import cu_fused
from merp.hdl.cnn_merp.cu_array.cu_narrow import cu_narrow
from merp.hdl.cnn_merp.cu_array.merge_taps import merge_taps
from merp.hdl.cnn_merp.cu_array.unit_ports import (
    MemoryWrite,
    ReadBack,
    SharedProducts,
    UnitWrite,
    memory_write,
)
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.fused import OPERAND_BITS
from merp.models.machines.cnn_merp.params.design import EngineDesign

# One block per `Design.cu_kind`, all with the ports (clk, window, kernel, y, design) and the
# latency `Design.cu_latency`. With narrow factors `cu_narrow` replaces the fused block.
SUM_OF_PRODUCTS = {"tree": cu_tree, "fused": cu_fused}


@block
def _without_signs(kept: Word, kernel: Word, taps: int) -> Any:
    """Extract the operands; the sign of a stored operand is above it."""
    each = len(kept) // taps
    operands = [kept((tap + 1) * each - 1, tap * each) for tap in range(taps)]
    joined = ConcatSignal(*reversed(operands)) if taps > 1 else operands[0]

    @always_comb
    def strip() -> None:
        kernel.next = joined

    return strip


@entity
def cu(
    clk: Bit,
    write: UnitWrite,
    read_addr: Word,
    window: Word,
    y: Word,
    design: EngineDesign,
    back: ReadBack | None = None,
    shared: SharedProducts | None = None,
) -> Any:
    """Multiply a window by one of the stored kernels and add the products.

    write: load a kernel. If a word is written in parts, it is read first; the write then takes one
    more cycle, and the read port. read_addr: number of the kernel; window: the k*k elements, one
    cycle after read_addr. back: (if kernels are read back) an element of the word read. shared:
    (with narrow factors) the kernel read, and products of its significands. y: the sum of the
    products. Latency: 1 + cu_latency cycles from read_addr, cu_latency from window. Throughput: one
    sum per cycle. Reset: none.
    """
    kernel = bits(len(write.data)) if shared is None else shared.kernel
    stored: MemoryWrite = write
    parts: Any = ()
    if write.taps is not None:
        stored, its_read = memory_write(write), bits(len(read_addr))
        parts = merge_taps(
            clk,
            write=write,
            read_addr=read_addr,
            kept=kernel,
            memory_addr=its_read,
            merged=stored,
        )
        read_addr = its_read
    kernel_ram = dual_port_ram(
        clk,
        write=stored.enable,
        write_addr=stored.addr,
        data=stored.data,
        read_addr=read_addr,
        word=kernel,
        words=design.kernel_words,
    )
    factors = kernel
    if back is not None:
        kept = back.kept
        chosen = select_part(
            clk, words=kernel, index=back.tap, word=kept, size=len(kept), parts=design.taps
        )
        parts = (parts, chosen)
        if design.cu_kind == "fused":
            factors = bits(design.taps * OPERAND_BITS)
            parts = (*parts, _without_signs(kept=kernel, kernel=factors, taps=design.taps))
    if shared is not None:
        add = cu_narrow(
            clk, window=window, kernel=kernel, products=shared.products, y=y, design=design
        )
        return parts, kernel_ram, add
    products = SUM_OF_PRODUCTS[design.cu_kind](
        clk, window=window, kernel=factors, y=y, design=design
    )
    return parts, kernel_ram, products
