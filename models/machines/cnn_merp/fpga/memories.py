"""The memories of a design, phase by phase, as the synthesis sees them: words, bits, how many.

Every one has a write port and a read port. What is on chip of a design is the sum of them, each
made of whole blocks: k*k kernel elements side by side are as wide as they are, however few.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from merp.models.base.fused import operand_bits
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.base.state_field import position_bits
from merp.models.fpga.block_ram import mapped
from merp.models.machines.cnn_merp.params import row
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@dataclass(frozen=True)
class Memory:
    """Memories of a kind.

    Attributes:
        name: what they hold. block: the block of hardware that they belong to, in tables.
        count: how many there are. words, bits: of each.
        at_once: they are read in the cycle of their address, so that they are LUT RAM.
        fixed: the maps of a pass do not change their words.
    """

    name: str
    block: str
    count: int
    words: int
    bits: int
    at_once: bool = False
    fixed: bool = False

    @property
    def halves(self) -> int:
        """RAMB18 of all of them."""
        return self.count * mapped(self.words, self.bits, self.at_once).halves

    @property
    def luts(self) -> int:
        """LUTs of all of them as LUT RAM."""
        return self.count * mapped(self.words, self.bits, self.at_once).luts


def block_rams(memories: Iterable[Memory]) -> float:
    """RAMB36 of all of them; a RAMB18 is half of one."""
    return sum(memory.halves for memory in memories) / 2


def kernel_memory(design: EngineDesign, words: int, read_back: bool = False) -> Memory:
    """Kernels of the units, ``words`` of k*k elements each; as operands where decoded.

    Where they are read back a decoded element has the sign of a zero besides.
    """
    decoded = design.cu_kind == "fused"
    bits = operand_bits(design.operand_precision) + read_back if decoded else design.fmt.width
    return Memory("kernels", "dual_port_ram", design.n_cu, words, design.taps * bits)


def gradient_memory(design: EngineDesign, words: int) -> Memory:
    """Gradients of the units, of ``words`` kernels each."""
    if design.ku_kind == "row":
        count = design.n_cu * design.ku_lanes * design.gradient_banks
        each, bits = words * gradient_steps(design), design.accumulator_format.width
        return Memory("gradients", "dual_port_ram", count, each, bits)
    return Memory("gradients", "gradient_cu", design.n_cu, words, design.window_width)


def gradient_steps(design: EngineDesign) -> int:
    """Words of a kernel in each memory of gradients."""
    if design.ku_kind != "row":
        return 1
    return -(-design.taps // (design.ku_lanes * design.gradient_banks))


def bank_memory(design: EngineDesign, row_words: int) -> Memory:
    """The k*k banks, with d rings of rows; map_port memories in each."""
    count = design.taps * design.map_port
    return Memory("map rows", "bank", count, design.d * row_words, design.fmt.width)


def sum_memories(design: EngineDesign) -> list[Memory]:
    """Behind the units of FP and DP: partial sums, biases, finished sums, pooling, leaving words.

    Accumulators are read in the cycle of their address, and forward what is written in it. Where
    sums may come from a stream, biases share their memory with these.
    """
    width, wide = design.fmt.width, design.n_cu * design.sum_format.width
    sums, origin = design.accumulator_format.width, design.origin_format.width
    found = [
        Memory("partial sums", "accumulator", design.n_cu, design.p * design.groups, sums, True),
        Memory("biases", "accumulator", design.n_cu, design.origins, origin, True),
        Memory("finished sums", "super_layer", 1, design.fifo_words, wide),
    ]
    if design.partial:
        # A beat, how many of its lanes count, and whether it is the last one.
        beat = design.r * design.partial_width + design.r.bit_length() + 1
        found.append(Memory("leaving sums", "super_layer", 1, CREDIT_RETURN + 1, beat))
    if design.pool_window > 1:
        code = position_bits(design.pool_window) if design.state else 0
        cells = design.r * design.pool_overlap**2
        found.append(Memory("pooling", "super_layer", cells, design.pool_words, width + code))
    return found


def unpool_memory(design: UnpoolDesign) -> Memory:
    """Pooled rows that are being expanded, position codes above the deltas."""
    bits = design.fmt.width + design.code_bits
    return Memory("un-pooling", "unpool", design.overlap**2, design.words, bits)


def delta_memories(design: EngineDesign) -> list[Memory]:
    """Of a kernel update, beside maps and gradients: deltas, bias gradients, a row of operands."""
    width, wide = design.fmt.width, design.n_cu * design.fmt.width
    maps = design.groups * design.n_cu // design.delta_beat
    found = [Memory("bias gradients", "bias_gradient", design.delta_beat, maps, width)]
    if design.ku_kind == "row":
        deltas = 2 * design.groups * design.max_size
        found.append(Memory("deltas", "kernel_update", 1, deltas, wide))
        bits = wide + design.window_width
        found.append(
            Memory("a row's operands", "dual_port_ram", 1, design.max_size, bits, fixed=True)
        )
        sums = design.n_cu * design.ku_lanes
        earlier = (row.steps(design), row.sum_bits(design))
        found.append(Memory("earlier sums", "row_cu", sums, *earlier, True, fixed=True))
    else:
        found.append(Memory("deltas", "delta_buffer", 1, 2 * design.groups, wide))
    return found


def convolution_memories(
    design: EngineDesign, unpool: UnpoolDesign | None = None, add_unpool: UnpoolDesign | None = None
) -> list[Memory]:
    """Of forward propagation, or with ``unpool`` of delta propagation.

    add_unpool: un-pooling in front of what its sums start at.
    """
    found = [
        kernel_memory(design, design.kernel_words),
        bank_memory(design, design.row_words),
        *sum_memories(design),
    ]
    if unpool is not None:
        return [*found, *(unpool_memory(each) for each in (unpool, add_unpool) if each)]
    return [*found, *added_memories(design)] if design.added else found


def added_memories(design: EngineDesign) -> list[Memory]:
    """Of forward propagation that adds maps to its sums: their biases, and sums on their way."""
    places = design.add_latency + CREDIT_RETURN + 1
    biases, lanes = design.groups * design.n_cu, design.map_port
    own, sums = ("added_maps", "added_maps") if lanes == 1 else ("added_lane", "added_beats")
    beat = lanes * design.accumulator_format.width + 1
    return [
        Memory("biases beside maps", own, lanes, biases, design.fmt.width),
        Memory("maps with biases", sums, 1, places, beat, fixed=True),
    ]


def fused_memories(design: FusedDesign) -> list[Memory]:
    """Of two layers fused in forward propagation: those of every engine."""
    behind = design.groups * convolution_memories(design.second)
    return [*convolution_memories(design.first), *behind]


def update_memories(design: EngineDesign, unpool: UnpoolDesign | None = None) -> list[Memory]:
    """Of a kernel update; with ``unpool``, of deltas at pooled resolution."""
    found = [
        gradient_memory(design, design.kernel_words),
        bank_memory(design, design.row_words),
        *delta_memories(design),
    ]
    return found if unpool is None else [*found, unpool_memory(unpool)]


def backward_memories(
    propagation: EngineDesign, update: EngineDesign, unpool: UnpoolDesign | None
) -> list[Memory]:
    """Of both backward phases in one pass: those of the halves, kernels and un-pooling once."""
    kernels = kernel_memory(propagation, propagation.kernel_words, read_back=True)
    _, *others = convolution_memories(propagation)
    return [kernels, *others, *update_memories(update, unpool)]
