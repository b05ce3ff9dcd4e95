"""The CU array as one behavioural process: simulation only, the same bits in the same cycle.

It holds the n_cu CUs and their accumulators as arrays. Its arithmetic is independent
(``integer_float``, ``integer_fused``), so its results are a third check next to the hardware and
the golden model.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from myhdl import always

from merp.hdl.behavioural import integer_float, integer_fused
from merp.hdl.behavioural.integer_float import accumulate, narrow, pack, unpack
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelRead, KernelWrite, OriginWrite
from merp.hdl.cnn_merp.ports.outputs import Sums
from merp.hdl.cnn_merp.ports.slots import OriginSlot, Slot
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def cu_array_fast(
    clk: Bit,
    rst: Bit,
    kernel: KernelWrite,
    bias: BiasWrite | OriginWrite,
    slot: Slot,
    window: Word,
    sums: Sums,
    design: EngineDesign,
    raw: Bit = None,
    read: KernelRead | None = None,
) -> Any:
    """Behave as ``cu_array``: the same ports, the same sums, and sums_valid in the same cycle.

    The work of each slot is done at the clock edges at which the hardware samples its inputs.
    Therefore a memory that is written meanwhile, or an accumulator that is reused too early, gives
    the same bits. There are two differences: sums_data keeps the last finished sums while
    sums_valid is low, and read.element keeps its value in cycles without a read.
    """
    n_cu, taps, width = design.n_cu, design.taps, design.fmt.width
    fmt = design.accumulator_format
    exp_bits, frac_bits, more = fmt.exp_bits, fmt.frac_bits, fmt.width - width
    # Edges from the slot to the read of its accumulator, and from there to the output of the sum,
    # after which it is written back.
    to_operand, to_sum = design.cu_latency, design.add_latency
    kind: Any = np.uint64 if more else np.uint32
    own = design.origin_format.width  # bits of a start word of the sums
    kept, places = own - width, len(bias.data) // own
    origin = slot.origin if isinstance(slot, OriginSlot) else slot.group

    kernels = np.zeros((design.kernel_words, taps, n_cu), np.uint32)
    biases = np.zeros((design.origins, n_cu), kind if kept else np.uint32)
    partial = np.zeros((design.p * design.groups, n_cu), kind)
    scratch = np.zeros((taps, n_cu), np.int64)
    held = np.zeros(taps, np.uint32)
    held_word = 0

    edge = 0
    taken: tuple[int, int, int, bool, bool] | None = None  # the slot whose window arrives now
    kernel_written: tuple[int, int, int, int, int, int] | None = None  # the operands for this slot
    multiplied: deque[tuple[int, Any, int, int, bool, bool]] = deque()
    added: deque[tuple[int, Any, int, bool]] = deque()
    leaving: tuple[Any, int] | None = None  # sums at the adder output, to be written back
    rounding: Any = None  # finished sums at the adder output, to be rounded
    found: deque[tuple[int, int]] = deque()  # read elements, and the edge of their output
    wanted = read or KernelRead(design)  # a design without read-back reads nothing

    arithmetic = (
        design.fused_dsp, design.operand_precision, design.fused_window, frac_bits + 1,
    )  # fmt: skip

    def multiply(words: Any, sums: Any) -> None:
        if design.cu_kind == "fused":
            integer_fused.sums_of_products(held, words, sums, *arithmetic)
        else:
            integer_float.sums_of_products(held, words, scratch, sums, exp_bits, frac_bits)

    every_tap = (1 << taps) - 1

    lanes = design.kernel_port
    apart = kernel.elements is not None

    def write_kernel(enable: int, addr: int, data: int, some: int, own: int, places: int) -> None:
        elements = unpack(data, taps, width)
        mine = unpack(own, lanes, width)
        written = [tap for tap in range(taps) if some >> tap & 1]
        placed = [tap for tap in written if places >> tap & 1]
        for j in range(n_cu):
            if enable >> j & 1:
                kernels[addr, written, j] = elements[written]
                kernels[addr, placed, j] = mine[j % lanes]

    def write_bias(enable: int, addr: int, data: int) -> None:
        for j in range(n_cu):
            if enable >> j & 1:
                biases[addr, j] = data >> (j % places * own) & (1 << own) - 1

    @always(clk.posedge)
    def compute() -> None:
        nonlocal edge, taken, kernel_written, leaving, rounding, held_word
        edge += 1
        if leaving is not None:
            total, acc_addr = leaving
            partial[acc_addr] = total
            leaving = None
        if taken is not None:
            kernel_addr, acc_addr, start, first, last = taken
            taken = None
            word = int(window)
            if word != held_word:
                held[:], held_word = unpack(word, taps, width), word
            products = np.empty(n_cu, kind)
            multiply(kernels[kernel_addr], products)
            multiplied.append((edge + to_operand - 1, products, acc_addr, start, first, last))
        if multiplied and multiplied[0][0] == edge:
            _, products, acc_addr, start, first, last = multiplied.popleft()
            operand = (
                biases[start].astype(kind) << kind(more - kept) if first else partial[acc_addr]
            )
            total = np.empty(n_cu, kind)
            accumulate(products, operand, total, exp_bits, frac_bits)
            added.append((edge + to_sum, total, acc_addr, last))
        finished = rounding is not None
        if finished and raw is not None and raw:
            sums.data.next = pack(rounding, fmt.width)
            rounding = None
        elif finished:
            elements = np.empty(n_cu, np.uint32)
            narrow(rounding, elements, exp_bits, frac_bits, more)
            sums.data.next = pack(elements, design.sum_format.width)
            rounding = None
        if added and added[0][0] == edge:
            _, total, acc_addr, last = added.popleft()
            leaving = total, acc_addr
            if more and last:
                rounding = total
            elif last:
                finished = True
                sums.data.next = pack(total, width)
        if finished != sums.valid:
            sums.valid.next = finished

        if kernel_written is not None:
            write_kernel(*kernel_written)
            kernel_written = None
        if kernel.enable:
            some = every_tap if kernel.taps is None else int(kernel.taps)
            own = (int(kernel.elements), int(kernel.places)) if apart else (0, 0)
            kernel_written = int(kernel.enable), int(kernel.addr), int(kernel.data), some, *own
        if bias.enable:
            write_bias(int(bias.enable), int(bias.addr), int(bias.data))
        if wanted.enable:
            word = int(kernels[int(wanted.addr), int(wanted.tap), int(wanted.cu)])
            found.append((edge + design.kernel_read_latency - 1, _kept_element(word, design)))
        if found and found[0][0] == edge:
            wanted.element.next = found.popleft()[1]
        if slot.valid:
            taken = (
                int(slot.kernel_addr),
                int(slot.acc_addr),
                int(origin),
                bool(slot.first),
                bool(slot.last),
            )
        if rst:
            taken = leaving = rounding = None
            multiplied.clear()
            added.clear()
            sums.valid.next = False

    return compute


def _kept_element(word: int, design: EngineDesign) -> int:
    """Return an element as it is read back: fused CUs keep no subnormal, and only one NaN."""
    if design.cu_kind != "fused":
        return word
    sign, frac = design.fmt.sign_bit, design.fmt.frac_bits
    magnitude = word & sign - 1
    if magnitude < 1 << frac:
        return word & sign
    infinite = sign - (1 << frac)
    return infinite | 1 << frac - 1 if magnitude > infinite else word
