"""Kernel memory of one computational unit: a simple two-port RAM.

CNN-MERP section V.C: every CU keeps its own kernels on chip for a whole batch (strategy 1).
"""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def dual_port_ram(
    clk: Bit, write: Bit, write_addr: Word, data: Word, read_addr: Word, word: Word, words: int
) -> Any:
    """Keep the kernels of one CU, one word of k*k elements for each kernel.

    write, write_addr, data: write port. read_addr: read port; word: the word addressed one cycle
    earlier. words: depth; both addresses stay below it in every cycle. Latency: one cycle.
    Throughput: one read and one write per cycle. Reading the word that is being written returns the
    old word. Reset: none.
    """
    memory = [bits(len(data)) for _ in range(words)]

    @always(clk.posedge)
    def access() -> None:
        if write:
            memory[write_addr].next = data
        word.next = memory[read_addr]

    return access
