"""Ports whose words are full beats of several elements."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.interface import DesignPorts
from merp.hdl.base.signals import AxiStream
from merp.hdl.base.word_counter import word_counter
from merp.hdl.conversion.entity import Bit


@block
def full_beats(stream: AxiStream) -> Any:
    """Mark all bytes of every beat of an output."""
    all_bytes = (1 << len(stream.tkeep)) - 1

    @always_comb
    def fill() -> None:
        stream.tkeep.next = 0
        if stream.tvalid:
            stream.tkeep.next = all_bytes

    return fill


def beat_counters(clk: Bit, rst: Bit, start: Bit, ports: DesignPorts[Any]) -> list[Any]:
    """Count the beats of each stream in the status of a top."""
    status = vars(ports.status)
    return [
        word_counter(clk, rst, start, stream=vars(ports)[name], words=status[words])
        for words, name in ports.counted.items()
    ]
