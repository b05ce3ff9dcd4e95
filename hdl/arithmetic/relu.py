"""Rectified linear unit of one lane (CNN-MERP section V.D), and ReLU6, which also stops at 6."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat
from merp.models.base.six import six_word


@entity
def relu(enable: Bit, x: Word, y: Word, relu6: Bit = None, fmt: FloatFormat | None = None) -> Any:
    """Pass positive elements and replace all others by +0; if enable is low, pass all elements.

    enable  in       low: all elements pass
    x, y    in, out  element, the sign in the highest bit
    relu6   in       (in a design for ReLU6, of elements of ``fmt``) with enable: replace every
                     number above 6 by 6

    A NaN passes: the only NaN of the datapath is the canonical one, and its sign is positive.
    Latency: combinational. Reset: none.
    """
    sign = len(x) - 1

    if relu6 is None or fmt is None:

        @always_comb
        def rectify() -> None:
            if enable and x[sign]:
                y.next = 0
            else:
                y.next = x

        return rectify

    six, infinity = six_word(fmt), fmt.inf

    @always_comb
    def stop() -> None:
        if x[sign] and enable:
            y.next = 0
        elif enable and relu6 and six < x and x <= infinity:
            y.next = six
        else:
            y.next = x

    return stop
