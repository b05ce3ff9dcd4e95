"""Registers of the walk of one stream, which commands set."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.memory.processor_ports import WalkWrite
from merp.hdl.memory.requests import WalkConfig
from merp.models.memory.params.commands import TAIL_LOW, TAIL_WORD, WORD


@block
def _low(clk: Bit, chosen: Bit, index: Word, data: Word, value: Word, at: int) -> Any:
    """Keep a value of at most 32 bits, which is word ``at`` of the walk."""
    width = len(value)

    @always(clk.posedge)
    def keep() -> None:
        if chosen and index == at:
            value.next = data[width:]

    return keep


@block
def _tail(clk: Bit, chosen: Bit, index: Word, data: Word, tail: Word) -> Any:
    """Keep the tail, which shares a word with the length."""

    @always(clk.posedge)
    def keep() -> None:
        if chosen and index == TAIL_WORD:
            tail.next = data[:TAIL_LOW]

    return keep


@block
def _wide(clk: Bit, chosen: Bit, index: Word, data: Word, value: Word, at: int) -> Any:
    """Keep a value of more than 32 bits, which begins with word ``at`` of the walk."""
    width = len(value)
    above = width - WORD

    @always(clk.posedge)
    def keep() -> None:
        if chosen and index == at:
            value.next[WORD:] = data
        if chosen and index == at + 1:
            value.next[width:WORD] = data[above:]

    return keep


@entity
def walk_registers(
    clk: Bit, write: WalkWrite, config: WalkConfig, stream: int, tail: Word = None
) -> Any:
    """Keep the walk of a stream: 64 bits of base and length, then each dimension, inner first.

    write   in   a word of a walk: base, length, and of each dimension steps and jump
    config  out  the walk
    tail    out  bytes of the last word that count; 0: all of them

    Words that a value does not need are ignored. Latency: one cycle. Reset: none, a command sets
    all words of a walk.
    """
    chosen = flag()
    kept: list[Any] = []
    values = [config.base, 0, config.length, 0]
    for dimension in (config.inner, config.second, config.third, config.outer):
        values += [dimension.more, dimension.jump, 0]
    for at, value in enumerate(values):
        if not isinstance(value, int):
            keep = _wide if len(value) > WORD else _low
            kept.append(
                keep(clk, chosen=chosen, index=write.index, data=write.data, value=value, at=at)
            )

    if tail is not None:
        kept.append(_tail(clk, chosen=chosen, index=write.index, data=write.data, tail=tail))

    @always_comb
    def choose() -> None:
        chosen.next = write.enable and write.stream == stream

    return choose, kept
