"""Delay line that keeps a word aligned with a pipeline next to it."""

from __future__ import annotations

from typing import Any

from myhdl import Signal, always, block

from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _register(clk: Bit, d: Word, q: Word) -> Any:
    @always(clk.posedge)
    def load() -> None:
        q.next = d

    return load


@block
def _line(clk: Bit, d: Word, q: Word, cycles: int) -> Any:
    """Delay by two or more registers; the last register is q itself."""
    held = [Signal(d.val) for _ in range(cycles - 1)]

    @always(clk.posedge)
    def shift() -> None:
        held[0].next = d
        for i in range(1, cycles - 1):
            held[i].next = held[i - 1]
        q.next = held[cycles - 2]

    return shift


@entity
def delay(clk: Bit, d: Word, q: Word, cycles: int) -> Any:
    """Delay a word by a number of clock cycles.

    d  in   the word, or a single bit
    q  out  the word that d had this number of cycles before, of the same type

    Latency: cycles, 1 or more. Throughput: one word per cycle. Reset: none, so the line maps to
    shift-register LUTs.
    """
    if cycles < 1:
        raise ValueError(f"cycles must be 1 or more, not {cycles}")
    return _register(clk, d=d, q=q) if cycles == 1 else _line(clk, d=d, q=q, cycles=cycles)
