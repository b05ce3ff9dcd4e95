"""Mask field of one pooled element: ReLU bit and position, for backward propagation."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, concat

from merp.hdl.arithmetic.relu_mask import relu_mask
from merp.hdl.base.signals import flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat


@entity
def state_field(
    relu: Bit, x: Word, code: Word, field: Word, fmt: FloatFormat, relu6: Bit = None
) -> Any:
    """Put the ReLU mask bit, if there is one, below the position of a maximum.

    relu   in   the run has ReLU; else the field is the position alone
    x      in   the maximum
    code   in   its position in its window
    field  out  one bit wider than code
    relu6  in   (in a design for ReLU6) the ReLU stops at 6

    Latency: combinational. Reset: none.
    """
    mask = flag()

    @always_comb
    def compose() -> None:
        if relu:
            field.next = concat(code, mask)
        else:
            field.next = code

    return relu_mask(x=x, y=mask, fmt=fmt, relu6=relu6), compose
