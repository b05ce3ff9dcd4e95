"""The CU array as one behavioural process: simulation only, the same bits in the same cycle.

It holds the n_cu CUs and their accumulators as arrays, with an arithmetic of its own
(``integer_float``), so that its results count beside the hardware's and the golden model's.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from myhdl import always

from merp.hdl.bundles import BiasWrite, KernelWrite, Slot, Sums
from merp.hdl.entity import entity
from merp.hdl.integer_float import multiply_accumulate, pack, unpack
from merp.models.params.design import Design


@entity
def cu_array_fast(
    clk: Any,
    rst: Any,
    kernel: KernelWrite,
    bias: BiasWrite,
    slot: Slot,
    window: Any,
    sums: Sums,
    design: Design,
) -> Any:
    """Behave as ``cu_array``: the same ports, the same cycle on sums_valid, the same sums.

    sums_data is that of the last finished slot while sums_valid is low. A slot that comes earlier
    than accumulate_latency after another on the same accumulator reads the older partial sum, as
    in the hardware.
    """
    n_cu, taps, width = design.n_cu, design.taps, design.fmt.width
    ebits, fbits = design.fmt.exp_bits, design.fmt.frac_bits
    latency, revisit = design.array_latency, design.accumulate_latency

    kernels = np.zeros((design.kernel_words, n_cu, taps), np.int64)
    biases = np.zeros((design.groups, n_cu), np.int64)
    partial = np.zeros((design.p * design.groups, n_cu), np.int64)
    terms = np.zeros(taps, np.int64)
    held = np.zeros(taps, np.int64)
    held_word = 0
    fetched: tuple[Any, int, int, bool, bool] | None = None  # slot of the cycle before
    writing: deque[tuple[int, int, Any]] = deque()  # cycle of the slot, accumulator, sum
    finished: deque[tuple[int, int]] = deque()  # cycle of the edge that shows it, sums
    cycle = 0

    @always(clk.posedge)
    def compute() -> None:
        nonlocal held, held_word, fetched, cycle
        cycle += 1
        if kernel.enable:
            unit = int(kernel.enable).bit_length() - 1
            kernels[int(kernel.addr), unit] = unpack(int(kernel.data), taps, width)
        if bias.enable:
            unit = int(bias.enable).bit_length() - 1
            biases[int(bias.addr), unit] = int(bias.data)
        if fetched is not None:
            words, addr, group, first, last = fetched
            fetched = None
            issued = cycle - 1
            word = int(window)
            if word != held_word:
                held = unpack(word, taps, width)
                held_word = word
            while writing and writing[0][0] <= issued - revisit:
                _, place, value = writing.popleft()
                partial[place] = value
            total = np.empty(n_cu, np.int64)
            operand = biases[group] if first else partial[addr]
            multiply_accumulate(held, words, operand, terms, total, ebits, fbits)
            writing.append((issued, addr, total))
            if last:
                finished.append((issued + latency - 1, pack(total, width)))
        if sums.valid:
            sums.valid.next = False
        if finished and finished[0][0] == cycle:
            sums.data.next = finished.popleft()[1]
            sums.valid.next = True
        if slot.valid:
            fetched = (
                kernels[int(slot.kernel_addr)],
                int(slot.acc_addr),
                int(slot.group),
                bool(slot.first),
                bool(slot.last),
            )
        if rst:
            fetched = None
            writing.clear()
            finished.clear()
            sums.valid.next = False

    return compute
