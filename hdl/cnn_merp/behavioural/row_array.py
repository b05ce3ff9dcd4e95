"""The row-wise kernel update array as one behavioural process: simulation only, the same bits."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from myhdl import always

from merp.hdl.behavioural.integer_float import accumulate, narrow, pack, unpack
from merp.hdl.behavioural.integer_fused import sums_of_rows
from merp.hdl.cnn_merp.ports.gradients import GradientRead
from merp.hdl.cnn_merp.ports.slots import RowSlot
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.fused import NORMALISE
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import GRADIENT_READ
from merp.models.machines.cnn_merp.params.row import DIFFERENCE, LAUNCH, SUMMED, steps


@entity
def row_array_fast(
    clk: Bit,
    rst: Bit,
    slot: RowSlot,
    opening: Bit,
    window: Word,
    deltas: Word,
    read: GradientRead,
    gradient: Word,
    design: EngineDesign,
) -> Any:
    """Behave as ``row_array``: the same ports, the same element GRADIENT_READ after a read.

    The sums of a sweep are computed when its last window arrives. Gradients are read and written at
    the clock edges of the hardware. Therefore gradients that are reused too early, a read between
    sweeps or a reset give the same bits. There is one difference: without a read, gradient keeps
    the last element read.
    """
    n_cu, taps, width, lanes = design.n_cu, design.taps, design.fmt.width, design.ku_lanes
    fmt = design.accumulator_format
    exp_bits, frac_bits, more = fmt.exp_bits, fmt.frac_bits, fmt.width - width
    kind: Any = np.uint64 if more else np.uint32
    # Edges from a slot of a sweep to the read of its first gradients, without the columns of its
    # mantissa pass, and from there to the write.
    to_operand = LAUNCH + SUMMED + DIFFERENCE + NORMALISE - 2
    to_write = design.add_latency + 2

    # The words are numbered through, independent of the banks.
    banks, kernels = design.gradient_banks, design.kernel_words
    memory = np.zeros((design.gradient_words * banks, lanes, n_cu), kind)
    row = np.zeros((1 << len(slot.column), taps), np.uint32)
    row_deltas = np.zeros((len(row), n_cu), np.uint32)

    several = design.kernel_port > 1
    rounded = np.zeros(design.gradient_read, np.uint32)

    edge = 0
    taken: tuple[int, int, bool] | None = None  # the slot whose window arrives now
    summed: deque[tuple[int, int, bool, Any]] = deque()
    read_words: deque[tuple[int, int, Any]] = deque()
    leaving: deque[tuple[int, int]] = deque()

    arithmetic = (
        design.fused_dsp, design.operand_precision, design.fused_window, frac_bits + 1,
    )  # fmt: skip

    def place(addr: int, bank: int) -> int:
        """Return the index of the word that ``bank`` has at ``addr``."""
        step, kernel = divmod(addr, kernels)
        return kernel + (step * banks + bank) * kernels

    def sweep(columns: int, addr: int, from_zero: bool) -> None:
        """Sum the complete row, and schedule the addition of each of its words."""
        sums = np.zeros((steps(design) * lanes, n_cu), kind)
        factors = row[:columns], row_deltas[:columns]
        sums_of_rows(*factors, sums, taps, *arithmetic)
        first = edge - 1 + columns + to_operand
        for step, words in enumerate(sums.reshape(-1, lanes * n_cu)):
            summed.append((first + step, addr + step * design.kernel_words, from_zero, words))

    @always(clk.posedge)
    def compute() -> None:
        nonlocal edge, taken
        edge += 1
        if taken is not None:
            column, addr, from_zero = taken
            row[column] = unpack(int(window), taps, width)
            row_deltas[column] = unpack(int(deltas), n_cu, width)
            if addr >= 0:
                sweep(column + 1, addr, from_zero)
            taken = None
        if summed and summed[0][0] == edge:
            _, addr, from_zero, words = summed.popleft()
            total = np.zeros(lanes * n_cu, kind)
            source = place(int(read.addr), addr // kernels % banks) if read.enable else addr
            operand = total if from_zero else memory[source].reshape(-1)
            accumulate(words, operand, total, exp_bits, frac_bits)
            read_words.append((edge + to_write, addr, total.reshape(lanes, n_cu)))
        if leaving and leaving[0][0] == edge:
            gradient.next = leaving.popleft()[1]
        if read.enable:
            if several:
                unit = int(read.cu_shift)
                each = [memory[place(int(read.addr), bank), :, unit] for bank in range(banks)]
                element = np.concatenate(each)
            else:
                lane, unit = int(read.tap_shift) // width, int(read.cu_shift) // width
                element = memory[int(read.addr), lane, unit : unit + 1]
            if more:
                narrow(element, rounded, exp_bits, frac_bits, more)
                element = rounded
            late = design.round_latency if several else 0
            leaving.append((edge + GRADIENT_READ - 1 + late, pack(element, width)))
        if read_words and read_words[0][0] == edge:
            _, addr, total = read_words.popleft()
            memory[addr] = total
        if slot.valid:
            addr = int(slot.kernel_addr) if slot.last else -1
            taken = int(slot.column), addr, bool(opening)
        if rst:
            taken = None
            summed.clear()
            read_words.clear()

    return compute
