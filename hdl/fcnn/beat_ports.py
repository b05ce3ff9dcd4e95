"""Ports whose beats are always full."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import AxiStream


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
