"""Rectified linear unit of one lane (CNN-MERP section V.D)."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def relu(enable: Bit, x: Word, y: Word) -> Any:
    """Let positive elements pass and turn all others into +0; with enable low all pass.

    enable  in     low: all elements pass
    x, y  in, out  element, the sign in the highest bit

    A NaN passes: the datapath's only NaN is the canonical one, and its sign is positive.
    Latency: combinational. Reset: none.
    """
    sign = len(x) - 1

    @always_comb
    def rectify() -> None:
        if enable and x[sign]:
            y.next = 0
        else:
            y.next = x

    return rectify
