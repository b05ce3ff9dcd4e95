"""FIFO whose sender holds a credit per place, so it needs no full flag."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def credit_fifo(
    clk: Bit,
    rst: Bit,
    push: Bit,
    data: Word,
    head: Word,
    head_valid: Bit,
    take: Bit,
    credit: Bit,
    words: int,
) -> Any:
    """Keep up to words words, first in, first out.

    push, data        in   append data; the sender holds a credit for it
    head, head_valid  out  the oldest word; head_valid: the FIFO holds a word
    take              in   remove the oldest word; without effect while head_valid is low
    credit            out  pulse: a place of the memory is free again, a credit for the sender

    The memory is read into a register, so it fits block RAM and LUT RAM alike. Latency: head_valid
    rises two cycles after push. Throughput: a word in and a word out per cycle. Reset: empty.
    """
    memory = [bits(len(data)) for _ in range(words)]
    write_addr = count(words - 1)
    read_addr = count(words - 1)
    fill = count(words)
    load = flag()

    @always_comb
    def refill() -> None:
        load.next = fill != 0 and (take or not head_valid)

    @always(clk.posedge)
    def access() -> None:
        credit.next = load
        if push:
            memory[write_addr].next = data
            if write_addr == words - 1:
                write_addr.next = 0
            else:
                write_addr.next = write_addr + 1
        if load:
            head.next = memory[read_addr]
            head_valid.next = True
            if read_addr == words - 1:
                read_addr.next = 0
            else:
                read_addr.next = read_addr + 1
        elif take:
            head_valid.next = False
        if push and not load:
            fill.next = fill + 1
        elif load and not push:
            fill.next = fill - 1
        if rst:
            credit.next = False
            head_valid.next = False
            write_addr.next = 0
            read_addr.next = 0
            fill.next = 0

    return refill, access
