"""Rectified linear unit of one lane (CNN-MERP section V.D)."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def relu(enable: Bit, x: Word, y: Word) -> Any:
    """Pass positive elements and replace all others by +0; if enable is low, pass all elements.

    enable  in       low: all elements pass
    x, y    in, out  element, the sign in the highest bit

    A NaN passes: the only NaN of the datapath is the canonical one, and its sign is positive.
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
