"""The array of the kernel update as one behavioural process: simulation only, the same bits."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from myhdl import always

from merp.hdl.behavioural.integer_float import add_products, pack, unpack
from merp.hdl.cnn_merp.ports.gradients import GradientRead
from merp.hdl.cnn_merp.ports.slots import Slot
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import GRADIENT_READ


@entity
def gradient_array_fast(
    clk: Bit,
    rst: Bit,
    slot: Slot,
    opening: Bit,
    window: Word,
    deltas: Word,
    read: GradientRead,
    gradient: Word,
    design: EngineDesign,
) -> Any:
    """Behave as ``gradient_array``: the same ports, the same element GRADIENT_READ after a read.

    The work of each slot is done at the clock edges at which the hardware reads and writes.
    Therefore gradients that are reused too early, a read between slots or a reset give the same
    bits. There is one difference: without a read, gradient keeps the last element read.
    """
    n_cu, taps, width = design.n_cu, design.taps, design.fmt.width
    exp_bits, frac_bits = design.fmt.exp_bits, design.fmt.frac_bits
    # Edges from a slot to the read of its gradients, and from there to the write.
    to_operand, to_write = design.mul_latency, design.add_latency + 1

    memory = np.zeros((design.kernel_words, taps, n_cu), np.uint32)
    held = np.zeros(taps, np.uint32)
    factors = np.zeros(n_cu, np.uint32)
    held_word = factors_word = 0

    edge = 0
    taken: tuple[int, bool] | None = None  # the slot whose window arrives now
    multiplied: deque[tuple[int, Any, Any, int, bool]] = deque()
    added: deque[tuple[int, Any, int]] = deque()
    leaving: deque[tuple[int, int]] = deque()

    @always(clk.posedge)
    def compute() -> None:
        nonlocal edge, taken, held, factors, held_word, factors_word
        edge += 1
        if taken is not None:
            word = int(window)
            if word != held_word:
                held, held_word = unpack(word, taps, width), word
            word = int(deltas)
            if word != factors_word:
                factors, factors_word = unpack(word, n_cu, width), word
            multiplied.append((edge + to_operand - 1, held, factors, *taken))
            taken = None
        if multiplied and multiplied[0][0] == edge:
            _, row, column, addr, from_zero = multiplied.popleft()
            source = int(read.addr) if read.enable else addr
            total = np.zeros((taps, n_cu), np.uint32)
            operand = total if from_zero and not read.enable else memory[source]
            add_products(row, column, operand, total, exp_bits, frac_bits)
            added.append((edge + to_write, total, addr))
        if leaving and leaving[0][0] == edge:
            gradient.next = leaving.popleft()[1]
        if read.enable:
            if design.kernel_port > 1:
                first, unit = int(read.tap_shift) * design.gradient_read, int(read.cu_shift)
                found = memory[int(read.addr), first : first + design.gradient_read, unit]
                element = pack(found, width)
            else:
                tap, unit = int(read.tap_shift) // width, int(read.cu_shift) // width
                element = int(memory[int(read.addr), tap, unit])
            leaving.append((edge + GRADIENT_READ - 1, element))
        if added and added[0][0] == edge:
            _, total, addr = added.popleft()
            memory[addr] = total
        if slot.valid:
            taken = int(slot.kernel_addr), bool(opening)
        if rst:
            taken = None
            multiplied.clear()
            added.clear()

    return compute
