"""The MAC array as one behavioural process: simulation only, the same bits in the same cycle.

Products and sums are NumPy integers of 64 bits. No sum of the array exceeds their range.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from myhdl import always

from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.operands import Operands, Rank
from merp.models.machines.mac_array.params.design import SUM_BITS, ArrayDesign

TO_SUM = 3
"""Cycles from operands to their sum."""


def _words(value: int, number: int) -> Any:
    """Return the words of a signal, the lowest first, as int64."""
    return np.frombuffer(value.to_bytes(2 * number, "little"), "<i2").astype(np.int64)


def _packed(sums: Any) -> int:
    """Join sums into one number, the first one lowest."""
    raw = sums.astype("<i8").tobytes()
    size = SUM_BITS // 8
    return int.from_bytes(b"".join(raw[i : i + size] for i in range(0, len(raw), 8)), "little")


@entity
def mac_array_fast(clk: Bit, rst: Bit, operands: Operands, rank: Rank, design: ArrayDesign) -> Any:
    """Behave as ``mac_array``: the same ports, and the same bits in every cycle."""
    macs, lanes = design.pixels, design.pof
    sums = np.zeros((macs + 1, lanes), np.int64)  # bias gradients last
    kept = np.zeros_like(sums)
    # Slots whose products are in the pipeline, and whether the sums of a cycle are copied.
    adding: deque[tuple[Any, Any, bool, bool] | None] = deque([None] * (TO_SUM - 1))
    copying = deque([False] * TO_SUM)

    @always(clk.posedge)
    def compute() -> None:
        rank.sums.next = _packed(kept[int(rank.place)])
        copy = copying.popleft()
        if copy:
            kept[:] = sums
        rank.copied.next = copy and not rst
        slot = adding.popleft()
        if slot is not None:
            pixels, weights, first, biased = slot
            if first:
                sums[:macs] = 0
            sums[:macs] += pixels[:, None] * weights
            if biased:
                sums[macs] = weights if first else sums[macs] + weights
        taken = None
        if operands.valid:
            pixels = _words(int(operands.pixels), macs)
            weights = _words(int(operands.weights), lanes)
            taken = pixels, weights, bool(operands.first), bool(operands.biased)
        adding.append(taken)
        copying.append(bool(operands.valid and operands.last))
        if rst:
            copying.extend([False] * TO_SUM)
            for _ in range(TO_SUM):
                copying.popleft()

    return compute
