"""Reorder words from the order of the lanes to the order of parameter beats."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv

from merp.hdl.base.rotator import rotator
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.mac_array.params.words import ROUNDED_BITS


@block
def _word(rounded: Word, valid: Bit, joined: Word) -> Any:
    """Append a flag above the rounded sum of a lane: the lane has an output map."""

    @always_comb
    def join() -> None:
        joined.next = concat(valid, rounded)

    return join


@block
def _part(joined: Word, rounded: Word, valid: Bit) -> Any:
    size = len(rounded)

    @always_comb
    def part() -> None:
        rounded.next = joined[size:]
        valid.next = joined[size]

    return part


@entity
def circulant_order(
    clk: Bit, rounded: Word, valid: Word, turn: Word, increments: Word, belongs: Word
) -> Any:
    """Rotate the words of the lanes into the order of parameter beats.

    rounded     in   a rounded sum per lane, lane 0 lowest
    valid       in   a bit per lane: it has an output map
    turn        in   a cycle ahead: lane c goes to place (c + turn) modulo the lanes
    increments  out  a cycle later: the word of each place
    belongs     out  with increments: a bit per place, its word has an output map

    Throughput: a beat per cycle. Reset: none.
    """
    lanes = len(valid)
    each = [bits(ROUNDED_BITS + 1) for _ in range(lanes)]
    all_words, turned = bits(lanes * (ROUNDED_BITS + 1)), bits(lanes * (ROUNDED_BITS + 1))
    turn_bits = len(turn)
    shift = bits(turn_bits)
    words = [
        _word(
            rounded=rounded((c + 1) * ROUNDED_BITS, c * ROUNDED_BITS),
            valid=valid(c),
            joined=each[c],
        )
        for c in range(lanes)
    ]
    together = ConcatSignal(*reversed(each))

    @always_comb
    def collect() -> None:
        all_words.next = together

    @always(clk.posedge)
    def oppose() -> None:
        rest = intbv(0)[turn_bits + 1 :]
        rest[:] = lanes
        rest[:] = rest - turn
        shift.next = rest[turn_bits:]

    size = ROUNDED_BITS + 1
    words_out = [bits(ROUNDED_BITS) for _ in range(lanes)]
    flags_out = [flag() for _ in range(lanes)]
    parts = [
        _part(turned((b + 1) * size, b * size), words_out[b], flags_out[b]) for b in range(lanes)
    ]
    joined_words = ConcatSignal(*reversed(words_out))
    joined_flags = ConcatSignal(*reversed(flags_out))

    @always(clk.posedge)
    def keep() -> None:
        increments.next = joined_words
        belongs.next = joined_flags

    rotate = rotator(x=all_words, shift=shift, y=turned, places=lanes, width=ROUNDED_BITS + 1)
    return words, collect, oppose, rotate, parts, keep
