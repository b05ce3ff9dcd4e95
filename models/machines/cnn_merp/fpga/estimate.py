"""An estimate of the FPGA resources of a design, before any synthesis.

Block RAM follows from ``memories``. DSP blocks are counted. LUT and FF are those of the measured
blocks of AlexNet's layer 2 (16 units of 5 x 5, ``tests/data/resources.json``). Each is scaled by
the size of its logic: multipliers, units, both, or nothing. At that size the estimate equals the
measurement except for rounding. At other sizes it is a model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from merp.models.base.formats import BINARY32, DSP_BITS
from merp.models.base.fused import products_apiece
from merp.models.base.ordered_sum import ordered_sum
from merp.models.fpga.resources import Resources
from merp.models.machines.cnn_merp.fpga.memories import Memory, bank_memory, convolution_memories
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


class _Each(NamedTuple):
    """LUT (as logic and shift register) and FF of one block."""

    lut: float
    ff: float


# source: tests/data/resources.json, without LUT RAM; the value of a tap is 1/25 of its block
_SHELL: Final = {"fp": _Each(758, 799), "dp": _Each(1130, 966), "ku": _Each(692, 827)}
_ROW_SHELL: Final = _Each(846, 1483)  # with the word of deltas that is being assembled
_ADD, _MULTIPLY = _Each(372, 191), _Each(91, 100)
_MULTIPLY_LATE = _Each(91, 85)  # of a tree; its kernels are the output of their memories
_ACCUMULATOR = _Each(34, 32)
# of fused units by DSP blocks for a product, and of narrow factors: 48 units of 8 bits, W = 18
_NARROW: Final = "narrow"
_FUSED: Final = {
    1: _Each(5685 / 25, 5068 / 25),
    2: _Each(4140 / 25, 3568 / 25),
    _NARROW: _Each(2665 / 25, 2836 / 25),
}
_OPERANDS: Final = {
    1: _Each(3353 / 25, 3034 / 25),
    2: _Each(2732 / 25, 2384 / 25),
    _NARROW: _Each(1052 / 25, 1164 / 25),
}
_ROW: Final = {
    1: _Each(6204 / 25, 5278 / 25),
    2: _Each(4675 / 25, 3970 / 25),
    _NARROW: _Each(3126 / 25, 2862 / 25),
}
_ROW_ARRAY: Final = {
    1: _Each(4459 / 41, 4160 / 41),
    2: _Each(3862 / 41, 3510 / 41),
    _NARROW: _Each(4280 / 73, 7987 / 73),
}
_TREES = _Each(524, 28)  # delays in parallel to the trees of 16 units
_GRADIENT_WORD = _Each(69 / 9600, 3 / 9600)  # selection among a memory's block RAMs
_LANE = _Each(900, 300)  # of each further lane: selection, rounding; assumed
_INPUT: Final = {"fp": _Each(4246, 1466), "dp": _Each(4389, 1603), "ku": _Each(4601, 1467)}
_BANK: Final = {"fp": _Each(11, 0), "dp": _Each(47, 2), "ku": _Each(12, 0)}
_POOLING = _Each(151, 100)  # of each memory of partial results
_SIX = _Each(98 / 4, 0)  # of each lane, ReLU6: synthesis of four lanes with and without
_PLAIN = _Each(671, 1285)  # of a super layer that does not pool, for 16 units
_LOADER: Final = {"fp": _Each(123, 921), "dp": _Each(58 + 134, 864 + 39)}
_UNPOOL = _Each(974, 705)
# of sums in parts: their start, their input stream, and the output for each of r lanes
_PARTIAL_IN = _Each(400 + 153, 16 + 187)
_PARTIAL_OUT = _Each(77 / 2, 151 / 2)
# source: syntheses of digits' k3 with and without; of sums that start at another layer's output
_ADDED: Final = {"fp": _Each(134 + 2, 117), "dp": _Each(105 + 2, 70)}
_ADDED_LANE: Final = {"fp": _Each(113, 181), "dp": _Each(45, 78)}  # without its adder, forward
# of ports of 2, 4 and 8 elements a beat, in addition to a port of one; by syntheses of units of 3 x
# 3
_LOAD: Final = {2: _Each(187, 37), 4: _Each(394, 104), 8: _Each(1055, 236)}
_UPDATE_BEATS: Final = {2: _Each(584, 682), 4: _Each(1367, 1334), 8: _Each(3291, 2632)}
_GRADIENT_BANK = _Each(35, 32)  # of each further memory of a lane's gradients
_GEARBOX: Final = {2: _Each(213, 143), 4: _Each(440, 262), 8: _Each(1067, 519)}
_CHOICE: Final = {2: _Each(33, 0), 4: _Each(32, 0), 8: _Each(125, 0)}  # of a tap
_PACKING: Final = {2: _Each(196, 32), 4: _Each(329, 97), 8: _Each(619, 226)}
_UNPOOL_BEATS: Final = {2: _Each(316, 352), 4: _Each(534, 625), 8: _Each(1031, 1149)}
_WIDE_BANK = _Each(7, 0)  # of each further memory of a bank
_LUT_BANK = _Each(0, 32)  # the register of a memory that is LUT RAM
_BIAS_SUM = _Each(9, 133)  # of each further bias gradient
_POSITIONS = _Each(461, 32)  # of a gradient unit, without its adders and multipliers
_POSITION_ARRAY = _Each(253 + 133, 58 + 1142)
_UPDATE = _Each(341 + 15, 168 + 101)
# source: docs/resources.md, AlexNet's layer 2 on 8 + 8 units in one pass
_READ_BACK = _Each(4205 / 200, 348 / 200)  # of each tap of a unit whose kernels are read back
_MEASURED_UNITS: Final = 16
_MEASURED_TAPS: Final = 25


def dsps(
    design: EngineDesign,
    phase: str,
    unpool: UnpoolDesign | None = None,
    add_unpool: UnpoolDesign | None = None,
) -> int:
    """Return the DSP blocks of a design: two for a product of binary32, or as many as
    ``fused_dsp``.

    A product of formats with at most DSP_BITS of significand uses one block. Two units with factors
    of 8 bits share one block. Average pooling uses a product for each of r lanes, and so does leaky
    ReLU. Un-pooling uses one product, with leaky ReLU more. The rate of a kernel update uses one
    for each element of a beat.
    """
    one = 2 if design.fmt.frac_bits + 1 > DSP_BITS else 1
    taps = design.fused_dsp if design.cu_kind == "fused" else one
    blocks = -(-design.n_cu // products_apiece(design.operand_precision))
    found = blocks * design.taps * taps
    if phase == "fp":
        found += one * design.r * (design.average + design.leaky)
    found += one * sum(_factors(each, design) for each in (unpool, add_unpool) if each is not None)
    return found + (design.kernel_port * (1 if design.beside else one) if phase == "ku" else 0)


def _factors(unpool: UnpoolDesign, design: EngineDesign) -> int:
    """Return the multipliers of un-pooling for averages and for leaky ReLU.

    Beats of several elements have one for each element, where nothing is pooled.
    """
    wide = design.map_port > 1
    found = design.map_port if unpool.leaky and wide else 0
    if unpool.average or (unpool.leaky and not (wide and unpool.window == 1)):
        found += 1
    return found + bool(unpool.leak_latency)


def estimate(
    design: EngineDesign,
    phase: str,
    memories: Iterable[Memory],
    unpool: UnpoolDesign | None = None,
    add_unpool: UnpoolDesign | None = None,
) -> Resources:
    """Return the resources of a design in a phase; ``memories`` are its memories there.

    unpool: the unit that expands deltas, or undoes pooling. add_unpool: the unit that expands added
    deltas.
    """
    memories = list(memories)
    blocks = _update(design) if phase == "ku" else _convolution(design, phase)
    blocks.append((1, _ROW_SHELL if phase == "ku" and design.ku_kind == "row" else _SHELL[phase]))
    share = design.taps / _MEASURED_TAPS
    blocks.append((share, _INPUT[phase]))
    blocks.append((design.taps, _BANK[phase]))
    blocks += _map_port(design, phase)
    for each in (unpool, add_unpool):
        if each is not None:
            blocks += [(1, _UNPOOL), (each.overlap**2 - 1, _ADD)]
            blocks.append((_factors(each, design), _MULTIPLY))
            if design.map_port > 1:
                blocks.append((1, _UNPOOL_BEATS[design.map_port]))
    scale = design.fmt.width / BINARY32.width
    return Resources(
        logic=_rounded(scale * ordered_sum(count * each.lut for count, each in blocks)),
        memory=sum(memory.luts for memory in memories),
        ff=_rounded(scale * ordered_sum(count * each.ff for count, each in blocks)),
        bram=sum(memory.halves for memory in memories) / 2,
        dsp=dsps(design, phase, unpool, add_unpool),
    )


def _rounded(count: Any) -> Any:
    """Round to a whole number, or to an array of them for designs of several sizes."""
    return round(count) if isinstance(count, float) else count.round()


def backward_estimate(
    propagation: EngineDesign,
    update: EngineDesign,
    memories: Iterable[Memory],
    unpool: UnpoolDesign | None,
) -> Resources:
    """Return the resources of both backward phases in one pass; ``memories`` are those of the pass.

    The halves are DP and KU. Reading kernels back is added. The registers of both, behind AXI, are
    counted.
    """
    memories = list(memories)
    places = propagation.n_cu * propagation.taps
    scale = propagation.fmt.width / BINARY32.width
    read_back = Resources(
        logic=round(scale * places * _READ_BACK.lut), ff=round(scale * places * _READ_BACK.ff)
    )
    kept = Resources(
        memory=sum(memory.luts for memory in memories),
        bram=sum(memory.halves for memory in memories) / 2,
    )
    halves = estimate(propagation, "dp", (), unpool) + estimate(update, "ku", ())
    return halves + read_back + kept


def fused_estimate(design: FusedDesign) -> Resources:
    """Return the resources of two fused layers: one engine for the first, and one per group.

    The logic between them, and the registers behind AXI, are counted as those of the engines.
    """
    return engine_estimate(design.first) + engine_estimate(design.second) * design.groups


def engine_estimate(design: EngineDesign) -> Resources:
    """Return the resources of the engine of one of two fused layers."""
    return estimate(design, "fp", convolution_memories(design))


def _kind(design: EngineDesign) -> int | str:
    """Return the measured kind of a design's fused units; units of 11 bits count as units of 8
    bits.
    """
    return _NARROW if design.summation.narrow else design.fused_dsp


def _convolution(design: EngineDesign, phase: str) -> list[tuple[float, _Each]]:
    """Return the blocks of FP and DP, with their numbers."""
    taps, units = design.taps, design.n_cu
    found: list[tuple[float, _Each]] = [(units, _ACCUMULATOR), (units, _ADD)]
    if design.cu_kind == "fused":
        found += [(units * taps, _FUSED[_kind(design)]), (taps, _OPERANDS[_kind(design)])]
    else:
        found += [
            (units * taps, _MULTIPLY_LATE),
            (units * (taps - 1), _ADD),
            (units / _MEASURED_UNITS, _TREES),
        ]
    found += [(taps / _MEASURED_TAPS, _LOADER[phase]), (units / _MEASURED_UNITS, _PLAIN)]
    cells = design.r * design.pool_overlap**2 if design.pool_window > 1 else 0
    found.append((cells, _POOLING))
    if design.relu6:
        found.append((design.r, _SIX))
    if design.leaky:
        found.append((design.r, _MULTIPLY))
    if design.average:
        found += [(cells, _ADD), (design.r, _MULTIPLY)]
    if design.partial:
        found += [(1, _PARTIAL_IN), (design.r, _PARTIAL_OUT)]
    if design.added:
        found.append((1, _ADDED[phase]))
        found.append((design.map_port, _ADDED_LANE[phase]))
        found.append((design.map_port if phase == "fp" else 0, _ADD))
    if design.kernel_port > 1:
        found.append((1, _LOAD[design.kernel_port]))
    return found


def _map_port(design: EngineDesign, phase: str) -> list[tuple[float, _Each]]:
    """Return the blocks for several maps a beat: gearboxes, routing, selection of each tap's
    memory.
    """
    port = design.map_port
    if port == 1:
        return []
    rows = bank_memory(design, design.row_words)
    found: list[tuple[float, _Each]] = [
        (1, _GEARBOX[port]),
        (design.taps, _CHOICE[port]),
        (design.taps * (port - 1), _WIDE_BANK),
        (rows.count if rows.luts else 0, _LUT_BANK),
    ]
    if phase != "ku":
        found.append((1, _PACKING[port]))
    else:  # its deltas also arrive in such beats, and it outputs none
        more = design.delta_beat - 1
        found += [(1, _GEARBOX[port]), (more, _BIAS_SUM), (more, _ADD)]
    return found


def _update(design: EngineDesign) -> list[tuple[float, _Each]]:
    """Return the blocks of a kernel update, with their numbers."""
    taps, units = design.taps, design.n_cu
    found: list[tuple[float, _Each]] = [(1, _UPDATE), (2, _ADD), (1, _MULTIPLY)]
    if design.kernel_port > 1:
        banks = units * design.ku_lanes * (design.gradient_banks - 1)
        found += [(1, _UPDATE_BEATS[design.kernel_port]), (banks, _GRADIENT_BANK)]
        found += [(design.kernel_port - 1, _ADD), (design.kernel_port - 1, _MULTIPLY)]
    if design.ku_kind == "row":
        if design.kernel_port == 1:  # in one memory for each unit, otherwise in banks
            found.append((units * taps * design.kernel_words, _GRADIENT_WORD))
        found += [
            (units * taps, _ROW[_kind(design)]),
            (units * design.ku_lanes, _ADD),
            (units * (design.ku_lanes - 1), _LANE),
            (taps + units, _ROW_ARRAY[_kind(design)]),
        ]
        return found
    products = units * taps
    share = units / _MEASURED_UNITS
    return [*found, (products, _MULTIPLY), (products, _ADD), (units * taps / _MEASURED_TAPS,
            _POSITIONS), (share, _POSITION_ARRAY)]  # fmt: skip
