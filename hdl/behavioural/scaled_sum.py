"""Behavioural model of the scaled sum: simulation only, the same bits in the same cycle."""

from __future__ import annotations

from collections import deque
from typing import Any

from myhdl import always

from merp.hdl.behavioural.integer_float import scaled_add
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat


@entity
def scaled_sum_fast(
    clk: Bit,
    factor: Word,
    x: Word,
    addend: Word,
    y: Word,
    subtract: bool,
    fmt: FloatFormat,
    mul_latency: int,
    add_latency: int,
    beside: int = 0,
) -> Any:
    """Behave as ``scaled_sum``, with the same ports and latency but independent arithmetic."""
    line = deque([0] * (mul_latency + add_latency - 1))
    operands = 0, 0, 0
    result = 0

    @always(clk.posedge)
    def compute() -> None:
        nonlocal operands, result
        now = int(factor), int(x), int(addend)
        if now != operands:
            operands = now
            result = scaled_add(*now, subtract, fmt.exp_bits, fmt.frac_bits)
        line.append(result)
        y.next = line.popleft()

    return compute
