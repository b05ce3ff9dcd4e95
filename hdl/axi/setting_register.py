"""A run-time register with byte writes that refuses values outside its legal range."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.register_map import WORD_MAX


class SettingWrite:
    """A write that may address a run-time register."""

    def __init__(self, selected: Bit, locked: Bit, data: Word, strobe: Word) -> None:
        self.selected = selected  # the write addresses this register
        self.locked = locked  # the register must not change now, so the write has no effect
        self.data = data
        self.strobe = strobe  # bytes of data that are written


@entity
def setting_register(
    clk: Bit,
    rst: Bit,
    write: SettingWrite,
    value: Word,
    word: Word,
    illegal: Bit,
    least: int,
    most: int,
) -> Any:
    """Keep a value from least to most.

    write    in   a word for this register
    value    out  the register, to the datapath
    word     out  the register, as software reads it
    illegal  out  the write would leave the range and has no effect

    Latency: a value is valid one cycle after its write. Reset: least.
    """
    width = max(1, most.bit_length())
    stored = bits(width, least)
    merged = bits(32)
    legal = flag()

    @always_comb
    def merge() -> None:
        whole = intbv(0)[32:]
        whole[:] = word
        for place in range(32):
            if write.strobe[place // 8]:
                whole[place] = write.data[place]
        merged.next = whole

    # Bits above the width of the register are compared separately, because a carry through 32 bits
    # is long.
    if width < 32 and most < (1 << width) - 1:

        @always_comb
        def judge() -> None:
            legal.next = merged[:width] == 0 and merged[width:] >= least and merged[width:] <= most

    elif width < 32:

        @always_comb
        def judge() -> None:
            legal.next = merged[:width] == 0 and merged[width:] >= least

    elif most < WORD_MAX:

        @always_comb
        def judge() -> None:
            largest = intbv(0)[32:]
            largest[:] = most  # exceeds the integers of VHDL
            legal.next = merged >= least and merged <= largest

    else:

        @always_comb
        def judge() -> None:
            legal.next = merged >= least

    if isinstance(value.val, bool):

        @always_comb
        def hand_on() -> None:
            value.next = stored != 0

    else:

        @always_comb
        def hand_on() -> None:
            value.next = stored

    @always_comb
    def tell() -> None:
        illegal.next = write.selected and not legal
        word.next = stored

    @always(clk.posedge)
    def keep() -> None:
        if write.selected and legal and not write.locked:
            stored.next = merged[width:]
        if rst:
            stored.next = least

    return merge, judge, hand_on, tell, keep
