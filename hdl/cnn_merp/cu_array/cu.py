"""One computational unit: a kernel memory and what sums the products (CNN-MERP section V.C)."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.cu_array.cu_fused import cu_fused
from merp.hdl.cnn_merp.cu_array.cu_tree import cu_tree
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.params.cnn_merp.design import Design

# One block per `Design.cu_kind`, all with the ports (clk, window, kernel, y, design) and the
# latency `Design.cu_latency`.
SUM_OF_PRODUCTS = {"tree": cu_tree, "fused": cu_fused}


@entity
def cu(
    clk: Bit,
    write: Bit,
    write_addr: Word,
    data: Word,
    read_addr: Word,
    window: Word,
    y: Word,
    design: Design,
) -> Any:
    """Multiply a window with one of the kernels kept here and add the products.

    write, write_addr, data: load a kernel (k*k elements, tap 0 in the lowest bits).
    read_addr: which kernel; window: the k*k elements, one cycle after read_addr.
    y: the sum of the products.
    Latency 1 + cu_latency cycles from read_addr, cu_latency from window; one sum per cycle.
    No reset.
    """
    kernel = bits(len(data))
    memory = dual_port_ram(
        clk,
        write=write,
        write_addr=write_addr,
        data=data,
        read_addr=read_addr,
        word=kernel,
        words=design.kernel_words,
    )
    products = SUM_OF_PRODUCTS[design.cu_kind](
        clk, window=window, kernel=kernel, y=y, design=design
    )
    return memory, products
