"""Cycles, bytes and seconds of passes; of one, or of arrays of them at once.

    cycles(pass)  = max(slots, words of each port / its rate) + kernel words / kernel port
                    + biases, in a kernel update
    seconds(pass) = max(cycles / clock, bytes / what the memory moves in a second)

Kernels are loaded, or updated, before or behind the slots and not beside them. From map to map a
unit's slots wait for its accumulators, where a part has fewer groups than their latency; what sums
start at waits for places, where the slots of a position are fewer than it takes to free one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.params import row
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import (
    revisit_cycles,
    row_revisit_cycles,
)
from merp.models.machines.cnn_merp.params.latencies import DELTA_ARRIVAL, ORIGIN_READ
from merp.models.machines.cnn_merp.params.sizing import beats_of
from merp.models.machines.cnn_merp.plan.fused_ports import of_both
from merp.models.machines.cnn_merp.plan.words import delta_out_words, whole_bytes
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.models.network.network import Layer
from merp.models.network.phases import PAIR
from merp.models.traffic.count import activation_bits, state_written_bytes

Numbers = NDArray[Any]
Flags = NDArray[np.bool_]


class Cost(NamedTuple):
    """What passes cost, an element for each.

    Attributes:
        cycles: that the streams and slots of each cause take if nothing else did, by cause.
        parameters: cycles of kernel load or update, which come on top.
        bytes: through all ports. seconds: on a board.
    """

    cycles: dict[str, Numbers]
    parameters: Numbers
    bytes: Numbers
    seconds: Numbers

    @property
    def total(self) -> Numbers:
        """Cycles of a pass."""
        units, *others = self.cycles.values()
        found = np.maximum(np.zeros_like(self.bytes), units)  # of all causes the largest array
        for count in others:
            np.maximum(found, count, out=found)
        found += self.parameters
        return found


def cost_of(
    work: PhaseWork,
    board: Board,
    inputs: NDArray[np.int64],
    outputs: NDArray[np.int64],
    first: Flags,
    last: Flags,
) -> Cost:
    """Cost of passes of so many input and output maps of a group.

    All arrays broadcast. first, last: whether passes have the first, or the last, part of the input
    maps. The words of flattened maps, and of the missing taps of folded ones, are taken as if each
    map had as many.
    """
    if work.phase == PAIR:
        return _fused(work, board)
    if work.halves is not None:
        return _in_one_pass(work, board, inputs, outputs, first, last)
    groups = -(-outputs // work.engine.n_cu)
    positions = work.positions
    make = {"fp": _forward, "dp": _delta, "ku": _update}[work.phase]
    maps = inputs * (work.elements_in / work.inputs)
    begins, ends = first.astype(np.float64), last.astype(np.float64)
    words, unpooled = make(work, maps, outputs, positions, groups, begins, ends)
    cycles: dict[str, Numbers] = {"units": _slots(work, inputs, groups, positions)}
    for name, count in words.items():
        cycles[name] = count / work.engine.map_port if _is_wide(work, name) else count
    for name, count in unpooled.items():
        cycles[name] = np.maximum(cycles.get(name, 0.0), count)
    taps = 1 if work.folded else work.shape.k**2
    biases = begins * outputs if work.phase != "dp" else np.zeros(())
    parameters = taps * maps * outputs
    stored = parameters + biases
    stored *= (2 if work.phase == "ku" else 1) * work.word_bytes("kernel")  # read, and written
    parameters /= taps
    parameters *= _kernel_cycles(work)
    if work.phase == "ku":
        parameters += biases  # bias gradients come one by one
    moved = np.zeros(np.broadcast_shapes(stored.shape, last.shape))
    for name, count in words.items():
        moved += count * work.word_bytes(name)
    moved += stored
    seconds = moved / board.bytes_per_cycle
    return _timed(Cost(cycles, parameters, moved, seconds), board)


def _timed(cost: Cost, board: Board) -> Cost:
    """The cost, whose seconds are the memory's cycles before."""
    seconds = cost.total
    np.maximum(seconds, cost.seconds, out=seconds)
    seconds /= board.clock_mhz * 1e6
    return cost._replace(seconds=seconds)


def _in_one_pass(
    work: PhaseWork,
    board: Board,
    inputs: NDArray[np.int64],
    outputs: NDArray[np.int64],
    first: Flags,
    last: Flags,
) -> Cost:
    """Cost of both backward phases of a whole layer in one pass.

    The halves run side by side; kernels are loaded in front of both, and updated behind.
    """
    assert work.halves is not None
    propagation, update = work.halves
    one = cost_of(propagation, board, outputs, inputs, first, last)
    other = cost_of(update, board, inputs, outputs, first, last)
    moved = np.full_like(one.bytes, sum(whole_bytes(work).values()))
    cycles, parameters = _longer(one.cycles, other.cycles), one.parameters + other.parameters
    return _timed(Cost(cycles, parameters, moved, moved / board.bytes_per_cycle), board)


def _longer(one: Mapping[str, Numbers], other: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """What takes longer of each cause, of two engines side by side."""
    return {name: np.maximum(one.get(name, 0.0), other.get(name, 0.0)) for name in {**one, **other}}


def _fused(work: PhaseWork, board: Board) -> Cost:
    """Cost of two layers fused in forward propagation, whole.

    Their engines run side by side, and kernels of both are loaded side by side in front. Words of
    the groups of the second leave one after the other.
    """
    assert work.halves is not None
    whole = np.array([True])
    one, other = (
        cost_of(half, board, np.array([half.inputs]), np.array([half.outputs]), whole, whole)
        for half in work.halves
    )
    ports = whole_bytes(work)
    cycles = _longer(*of_both(one.cycles, other.cycles))
    leaving = {name: ports[name] / work.word_bytes(name) for name in cycles.keys() & ports.keys()}
    parameters = np.maximum(one.parameters, work.side_by_side * other.parameters)
    moved = np.full_like(one.bytes, sum(ports.values()))
    cycles = _longer(cycles, {name: np.array([count]) for name, count in leaving.items()})
    return _timed(Cost(cycles, parameters, moved, moved / board.bytes_per_cycle), board)


_WIDE = ("map_in", "map_out", "delta_in", "add_in", "partial_in", "partial_out")


def _kernel_cycles(work: PhaseWork) -> float:
    """Cycles of load or update of a kernel, or of a weight of a folded layer."""
    design, shape = work.engine, work.convolution
    elements = shape.taps
    cycles = elements / design.kernel_beat
    if work.phase == "ku":
        # Taps that smaller kernels lack are passed over, where beats have several with each read.
        cycles = max(cycles, -(-shape.reach // design.gradient_read))
    elif design.kernel_port > 1 and design.widened and not (work.folded and work.phase == "dp"):
        cycles = -(-elements // design.kernel_port)
    return cycles / (elements if work.folded else 1)


def _is_wide(work: PhaseWork, port: str) -> bool:
    """Whether ``map_port`` elements of a stream are moved in a cycle; of state a byte is."""
    if port == "delta_out":
        return not _expands(work) or work.pooled  # else they leave as they expand
    return port in _WIDE


def _expands(work: PhaseWork) -> bool:
    """Whether pooling is undone, an element a cycle; without it ReLU' takes beats."""
    return work.undone is not None and work.undone.shape.pool is not None


def _beats(maps: Numbers, each: int) -> Numbers:
    """Cycles in which so many maps' elements of a pixel are taken: each pixel begins with one."""
    return maps if np.ndim(each) == 0 and each == 1 else np.ceil(maps / each)


def slots_apart(design: EngineDesign, positions: int) -> Numbers:
    """Slots from map to map of a sum, at least, of so many positions: its accumulator's latency."""
    return design.accumulate_latency / np.minimum(design.p, positions)


def _slots(
    work: PhaseWork, inputs: NDArray[np.int64], groups: NDArray[np.int64], positions: int
) -> Numbers:
    """Slots of a pass, with those that stay empty for the accumulators' or gradients' sake."""
    design = work.engine
    if work.phase != "ku":
        # Map after map of a sum waits for its accumulator; the first one needs none.
        found = np.maximum(groups, slots_apart(design, positions)) * (inputs - 1.0)
        found += groups
        found *= positions
        return found
    sweeps = inputs.astype(np.float64) * groups
    if design.ku_kind != "row":
        return positions * np.maximum(sweeps, revisit_cycles(design))
    columns = work.sweep
    found = np.ceil(row_revisit_cycles(design) / sweeps)
    np.maximum(found, max(columns, row.steps(design)), out=found)
    found *= sweeps
    found *= -(-positions // columns)
    return found


Words = dict[str, Numbers]
"""Words of a stream; those of state are bytes."""


def _sums(count: NDArray[np.int64], first: Numbers, last: Numbers) -> Words:
    """Partial sums, which all input parts but the first take and all but the last leave."""
    return {
        "partial_in": (1 - first) * count.astype(np.float64),
        "partial_out": (1 - last) * count.astype(np.float64),
    }


def _start(work: PhaseWork, count: NDArray[np.int64], outputs: Numbers, first: Numbers) -> Words:
    """What the sums of the first input part start at, of ``count`` positions and maps."""
    if not work.begun:
        return {}
    if work.beside is None:
        return {"add_in": first * count.astype(np.float64)}
    share = work.images * (work.beside.outputs // work.layer.groups) / work.outputs
    return {
        "add_in": first * (share * outputs),
        "add_state_in": first * _state_behind(work, work.beside, outputs),
    }


def _start_cycles(
    work: PhaseWork, outputs: NDArray[np.int64], groups: NDArray[np.int64]
) -> Numbers:
    """Cycles in which a position's starts of sums are taken: each word of the units begins one.

    2p positions have places, and a place is free again once the units have read it: where positions
    are short the next one's words wait for that.
    """
    design = work.engine
    n_cu, port = design.n_cu, design.map_port
    found = (groups - 1) * -(-n_cu // port) + -(-(outputs - (groups - 1) * n_cu) // port)
    around = design.cu_latency + ORIGIN_READ + DELTA_ARRIVAL - 1
    return np.maximum(found, (found + around) / (2 * design.p))


def _forward(
    work: PhaseWork, maps: Numbers, outputs: NDArray[np.int64], positions: int,
    groups: NDArray[np.int64], first: Numbers, last: Numbers,
) -> tuple[Words, dict[str, Numbers]]:  # fmt: skip
    """Words of each port of forward propagation; and beats of ReLU and pooling."""
    shape = work.shape
    found: Words = {"map_in": work.images * shape.rows * shape.columns * maps}
    found |= _sums(positions * outputs, first, last)
    found |= _start(work, positions * outputs, outputs, first)
    pooled = work.images * shape.pooled_rows * shape.pooled_columns
    found["map_out"] = pooled * (last * outputs)
    if state_written_bytes(shape, work.images, work.state, activation_bits(work.engine)):
        found["state_out"] = last * work.state_of(work.layer, outputs)
    beats = positions * beats_of(groups, work.engine)
    pieces = positions * _start_cycles(work, outputs, groups)
    taken = {"map_in": _map_beats(work, maps), "partial_in": (1 - first) * pieces}
    if work.begun:
        taken["add_in"] = first * pieces
    return found, {"map_out": last * beats, "partial_out": (1 - last) * beats} | taken


def _map_beats(work: PhaseWork, maps: Numbers) -> Numbers:
    """Cycles in which the maps of a pass are taken."""
    pixels = work.images * work.shape.rows * work.shape.columns
    return pixels * _beats(maps, work.engine.map_port)


def _delta(
    work: PhaseWork, maps: Numbers, outputs: NDArray[np.int64], positions: int,
    groups: NDArray[np.int64], first: Numbers, last: Numbers,
) -> tuple[Words, dict[str, Numbers]]:  # fmt: skip
    """Words of each port of delta propagation; and what expands on chip, an element a cycle."""
    assert work.earlier is not None
    found: Words = {"delta_in": _delta_words(work, maps)}
    if work.pooled:
        found["state_in"] = work.state_of(work.stored, maps.astype(np.int64)).astype(np.float64)
    found |= _sums(positions * outputs, first, last)
    found |= _start(work, positions * outputs, outputs, first)
    leaving = work.images * delta_out_words(work.layer, work.earlier, work.pooled)
    found["delta_out"] = last * (leaving / work.outputs * outputs)
    if not work.pooled:
        found["state_in"] = last * _state_behind(work, work.earlier, outputs)
    beats = positions * beats_of(groups, work.engine)
    pieces = positions * _start_cycles(work, outputs, groups)
    taken = {"delta_in": _dilated_beats(work, maps), "partial_in": (1 - first) * pieces}
    if work.begun:
        one_by_one = work.beside is not None and work.beside.shape.pool is not None
        taken["add_in"] = first * np.maximum(pieces, positions * outputs * one_by_one)
    return found, {"delta_out": last * beats, "partial_out": (1 - last) * beats} | taken


def _dilated_beats(work: PhaseWork, maps: Numbers) -> Numbers:
    """Cycles in which the deltas of a pass are taken, and the zeros between them made."""
    shape, port = work.convolution, work.engine.map_port
    pixels = work.images * (1 if work.folded else shape.rows * shape.columns)
    beats = _beats(maps, port)
    if port == 1 or not (work.pooled and _expands(work)):
        return pixels * beats
    # Elements expand one by one, the zeros between them are as wide as any.
    expanded = work.images * work.shape.out_rows * work.shape.out_columns
    return pixels * beats + expanded * (maps - beats)


def _state_behind(work: PhaseWork, earlier: Layer, outputs: NDArray[np.int64]) -> Numbers:
    """Bytes of the state of the layer in front; of flattened maps as if each had as many."""
    of_group = earlier.biases // work.layer.groups
    if work.outputs == of_group:
        return work.state_of(earlier, outputs).astype(np.float64)
    return work.state_of(earlier, of_group) / work.outputs * outputs


def _delta_words(work: PhaseWork, maps: Numbers) -> Numbers:
    """Words of deltas of the layer's output as they are stored, all images."""
    shape = work.stored.shape
    if work.pooled:
        return work.images * shape.pooled_rows * shape.pooled_columns * maps
    return work.images * shape.out_rows * shape.out_columns * maps


def _update(
    work: PhaseWork, maps: Numbers, outputs: NDArray[np.int64], positions: int,
    groups: NDArray[np.int64], first: Numbers, last: Numbers,
) -> tuple[Words, dict[str, Numbers]]:  # fmt: skip
    """Words of each port of a kernel update but its kernels; and deltas as they expand."""
    shape = work.shape
    deltas = outputs.astype(np.float64)
    found: Words = {
        "map_in": work.images * shape.rows * shape.columns * maps,
        "delta_in": _delta_words(work, deltas),
    }
    if work.pooled:
        found["state_in"] = work.state_of(work.stored, outputs).astype(np.float64)
    beat = 1 if work.pooled and _expands(work) else work.engine.delta_beat
    taken = work.images * shape.out_rows * shape.out_columns * _beats(deltas, beat)
    return found, {"delta_in": taken, "map_in": _map_beats(work, maps)}
