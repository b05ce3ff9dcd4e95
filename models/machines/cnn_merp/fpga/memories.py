"""The memories of a design, phase by phase, as synthesis infers them: words, bits, count.

Each memory has a write port and a read port. The on-chip memory of a design is their sum, in whole
blocks. k*k parallel kernel elements need the full width, even for few words.
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
        name: of their contents.
        block: the hardware block that contains them, in tables.
        count: number of memories.
        words, bits: of each.
        at_once: whether they are read in the cycle of their address, and are therefore LUT RAM.
        fixed: whether their words are independent of the maps of a pass.
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
        """RAMB18 of all memories."""
        return self.count * mapped(self.words, self.bits, self.at_once).halves

    @property
    def luts(self) -> int:
        """LUTs of all memories as LUT RAM."""
        return self.count * mapped(self.words, self.bits, self.at_once).luts


def block_rams(memories: Iterable[Memory]) -> float:
    """Return the RAMB36 of all memories; a RAMB18 is half of one."""
    return sum(memory.halves for memory in memories) / 2


def kernel_memory(design: EngineDesign, words: int, read_back: bool = False) -> Memory:
    """Return the kernel memories of the units, ``words`` of k*k elements each.

    Fused units store kernels decoded, as operands. If kernels are read back, a decoded element also
    has the sign of a zero.
    """
    decoded = design.cu_kind == "fused"
    bits = operand_bits(design.operand_precision) + read_back if decoded else design.fmt.width
    return Memory("kernels", "dual_port_ram", design.n_cu, words, design.taps * bits)


def gradient_memory(design: EngineDesign, words: int) -> Memory:
    """Return the gradient memories of the units, of ``words`` kernels each."""
    if design.ku_kind == "row":
        count = design.n_cu * design.ku_lanes * design.gradient_banks
        each, bits = words * gradient_steps(design), design.accumulator_format.width
        return Memory("gradients", "dual_port_ram", count, each, bits)
    return Memory("gradients", "gradient_cu", design.n_cu, words, design.window_width)


def gradient_steps(design: EngineDesign) -> int:
    """Return the words of a kernel in each memory of gradients."""
    if design.ku_kind != "row":
        return 1
    return -(-design.taps // (design.ku_lanes * design.gradient_banks))


def bank_memory(design: EngineDesign, row_words: int) -> Memory:
    """Return the k*k banks, with d rings of rows; each has ``map_port`` memories."""
    count = design.taps * design.map_port
    return Memory("map rows", "bank", count, design.d * row_words, design.fmt.width)


def sum_memories(design: EngineDesign) -> list[Memory]:
    """Return the memories after the units of FP and DP.

    They are partial sums, biases, finished sums, pooling, and output words. Accumulators are read
    in the cycle of their address, and forward written values. If sums may start at a stream, biases
    share their memory with the words of the stream.
    """
    width, wide = design.fmt.width, design.n_cu * design.sum_format.width
    sums, origin = design.accumulator_format.width, design.origin_format.width
    found = [
        Memory("partial sums", "accumulator", design.n_cu, design.p * design.groups, sums, True),
        Memory("biases", "accumulator", design.n_cu, design.origins, origin, True),
        Memory("finished sums", "super_layer", 1, design.fifo_words, wide),
    ]
    if design.partial:
        # A beat, the number of its valid lanes, and whether it is the last beat.
        beat = design.r * design.partial_width + design.r.bit_length() + 1
        found.append(Memory("leaving sums", "super_layer", 1, CREDIT_RETURN + 1, beat))
    if design.pool_window > 1:
        code = position_bits(design.pool_window) if design.state else 0
        cells = design.r * design.pool_overlap**2
        found.append(Memory("pooling", "super_layer", cells, design.pool_words, width + code))
    return found


def unpool_memory(design: UnpoolDesign) -> Memory:
    """Return the memory of pooled rows during expansion; position codes are above the deltas."""
    bits = design.fmt.width + design.code_bits
    return Memory("un-pooling", "unpool", design.overlap**2, design.words, bits)


def delta_memories(design: EngineDesign) -> list[Memory]:
    """Return the memories of a kernel update other than maps and gradients.

    They are deltas, bias gradients, and a row of operands.
    """
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
    """Return the memories of forward propagation, or with ``unpool`` of delta propagation.

    add_unpool: un-pooling in front of the start of the sums.
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
    """Return the memories for maps added to sums: their biases, and sums in the pipeline."""
    places = design.add_latency + CREDIT_RETURN + 1
    biases, lanes = design.groups * design.n_cu, design.map_port
    own, sums = ("added_maps", "added_maps") if lanes == 1 else ("added_lane", "added_beats")
    beat = lanes * design.accumulator_format.width + 1
    return [
        Memory("biases beside maps", own, lanes, biases, design.fmt.width),
        Memory("maps with biases", sums, 1, places, beat, fixed=True),
    ]


def fused_memories(design: FusedDesign) -> list[Memory]:
    """Return the memories of two layers fused in forward propagation: those of every engine."""
    behind = design.groups * convolution_memories(design.second)
    return [*convolution_memories(design.first), *behind]


def update_memories(design: EngineDesign, unpool: UnpoolDesign | None = None) -> list[Memory]:
    """Return the memories of a kernel update; with ``unpool``, for deltas at pooled resolution."""
    found = [
        gradient_memory(design, design.kernel_words),
        bank_memory(design, design.row_words),
        *delta_memories(design),
    ]
    return found if unpool is None else [*found, unpool_memory(unpool)]


def backward_memories(
    propagation: EngineDesign, update: EngineDesign, unpool: UnpoolDesign | None
) -> list[Memory]:
    """Return the memories of both backward phases in one pass; kernels and un-pooling count
    once.
    """
    kernels = kernel_memory(propagation, propagation.kernel_words, read_back=True)
    _, *others = convolution_memories(propagation)
    return [kernels, *others, *update_memories(update, unpool)]
