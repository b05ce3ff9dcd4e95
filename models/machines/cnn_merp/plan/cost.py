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
from merp.models.machines.cnn_merp.plan.terms import Figure, Terms
from merp.models.machines.cnn_merp.plan.words import whole_bytes
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.models.network.phases import PAIR

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
    return cost_by(work.terms, board, inputs, outputs, first, last)


def cost_by(
    work: Terms,
    board: Board,
    inputs: NDArray[np.int64],
    outputs: NDArray[np.int64],
    first: Flags,
    last: Flags,
) -> Cost:
    """Cost of passes by the terms of their work, or works; the rest is as in ``cost_of``."""
    groups = -(-outputs // work.engine.n_cu)
    phase, of = work.has.phase, work.of
    make = {"fp": _forward, "dp": _delta, "ku": _update}[phase]
    maps = inputs * (of.elements_in / of.inputs)
    begins, ends = first.astype(np.float64), last.astype(np.float64)
    words, unpooled = make(work, maps, outputs, groups, begins, ends)
    cycles: dict[str, Numbers] = {"units": _slots(work, inputs, groups)}
    for name, count in words.items():
        cycles[name] = count / work.engine.map_port if _is_wide(work, name) else count
    for name, count in unpooled.items():
        cycles[name] = np.maximum(cycles.get(name, 0.0), count)
    biases = begins * outputs if phase != "dp" else np.zeros(())
    parameters = of.kernel * maps * outputs
    stored = parameters + biases
    stored *= (2 if phase == "ku" else 1) * work.word_bytes("kernel")  # read, and written
    parameters /= of.kernel
    parameters *= _kernel_cycles(work)
    if phase == "ku":
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


def _kernel_cycles(work: Terms) -> Figure:
    """Cycles of load or update of a kernel, or of a weight of a folded layer."""
    design, has, taps = work.engine, work.has, work.of.taps
    cycles = taps / design.kernel_beat
    if has.phase == "ku":
        # Taps that smaller kernels lack are passed over, where beats have several with each read.
        cycles = np.maximum(cycles, -(-work.of.reach // design.gradient_read))
    elif design.kernel_port > 1 and design.widened and not (has.folded and has.phase == "dp"):
        cycles = -(-taps // design.kernel_port)
    return cycles / (taps if has.folded else 1)


def _is_wide(work: Terms, port: str) -> bool:
    """Whether a stream moves ``map_port`` elements in a cycle; state moves a byte.

    Un-pooling hands out its deltas one by one.
    """
    if port == "delta_out":
        return not work.has.expands or work.has.pooled
    return port in _WIDE


def _beats(maps: Numbers, each: int) -> Numbers:
    """Cycles in which so many maps' elements of a pixel are taken: each pixel begins with one."""
    return maps if np.ndim(each) == 0 and each == 1 else np.ceil(maps / each)


def slots_apart(design: EngineDesign, positions: int) -> Numbers:
    """Slots from map to map of a sum, at least, of so many positions: its accumulator's latency."""
    return design.accumulate_latency / np.minimum(design.p, positions)


def _slots(work: Terms, inputs: NDArray[np.int64], groups: NDArray[np.int64]) -> Numbers:
    """Slots of a pass, with those that stay empty for the accumulators' or gradients' sake."""
    design, positions = work.engine, work.of.positions
    if work.has.phase != "ku":
        # Map after map of a sum waits for its accumulator; the first one needs none.
        found = np.maximum(groups, slots_apart(design, positions)) * (inputs - 1.0)
        found += groups
        found *= positions
        return found
    sweeps = inputs.astype(np.float64) * groups
    if design.ku_kind != "row":
        return positions * np.maximum(sweeps, revisit_cycles(design))
    columns = work.of.sweep
    found = np.ceil(row_revisit_cycles(design) / sweeps)
    np.maximum(found, np.maximum(columns, row.steps(design)), out=found)
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


def _start(work: Terms, count: NDArray[np.int64], outputs: Numbers, first: Numbers) -> Words:
    """What the sums of the first input part start at, of ``count`` positions and maps."""
    has, of = work.has, work.of
    if not has.begun:
        return {}
    if not has.beside:
        return {"add_in": first * count.astype(np.float64)}
    share = has.images * of.beside_words / of.outputs
    state = _state_of_outputs(work, of.beside_bits, of.beside_maps, has.beside_by_map, outputs)
    return {"add_in": first * (share * outputs), "add_state_in": first * state}


def _start_cycles(work: Terms, outputs: NDArray[np.int64], groups: NDArray[np.int64]) -> Numbers:
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
    work: Terms, maps: Numbers, outputs: NDArray[np.int64], groups: NDArray[np.int64],
    first: Numbers, last: Numbers,
) -> tuple[Words, dict[str, Numbers]]:  # fmt: skip
    """Words of each port of forward propagation; and beats of ReLU and pooling."""
    has, of = work.has, work.of
    count = of.positions * outputs
    found: Words = {"map_in": has.images * of.pixels * maps}
    found |= _sums(count, first, last)
    found |= _start(work, count, outputs, first)
    found["map_out"] = has.images * of.pooled_sums * (last * outputs)
    if has.writes_state:
        found["state_out"] = last * _state(work, of.state, outputs)
    beats = of.positions * beats_of(groups, work.engine)
    pieces = of.positions * _start_cycles(work, outputs, groups)
    taken = {"map_in": _map_beats(work, maps), "partial_in": (1 - first) * pieces}
    if has.begun:
        taken["add_in"] = first * pieces
    return found, {"map_out": last * beats, "partial_out": (1 - last) * beats} | taken


def _map_beats(work: Terms, maps: Numbers) -> Numbers:
    """Cycles in which the maps of a pass are taken."""
    return work.has.images * work.of.pixels * _beats(maps, work.engine.map_port)


def _delta(
    work: Terms, maps: Numbers, outputs: NDArray[np.int64], groups: NDArray[np.int64],
    first: Numbers, last: Numbers,
) -> tuple[Words, dict[str, Numbers]]:  # fmt: skip
    """Words of each port of delta propagation; and what expands on chip, an element a cycle."""
    has, of = work.has, work.of
    count = of.positions * outputs
    found: Words = {"delta_in": has.images * of.stored * maps}
    if has.pooled:
        found["state_in"] = _state(work, of.state, maps.astype(np.int64)).astype(np.float64)
    found |= _sums(count, first, last)
    found |= _start(work, count, outputs, first)
    found["delta_out"] = last * (has.images * of.leaving / of.outputs * outputs)
    if not has.pooled:
        state = _state_of_outputs(work, of.behind_bits, of.behind_maps, has.behind_by_map, outputs)
        found["state_in"] = last * state
    beats = of.positions * beats_of(groups, work.engine)
    pieces = of.positions * _start_cycles(work, outputs, groups)
    taken = {"delta_in": _dilated_beats(work, maps), "partial_in": (1 - first) * pieces}
    if has.begun:
        taken["add_in"] = first * np.maximum(pieces, count * has.beside_pools)
    return found, {"delta_out": last * beats, "partial_out": (1 - last) * beats} | taken


def _dilated_beats(work: Terms, maps: Numbers) -> Numbers:
    """Cycles in which the deltas of a pass are taken, and the zeros between them made."""
    has, port = work.has, work.engine.map_port
    pixels = has.images * work.of.dilated
    beats = _beats(maps, port)
    if not (has.pooled and has.expands):
        return pixels * beats
    # Elements expand one by one, the zeros between them are as wide as any.
    return pixels * beats + has.images * work.of.sums * (maps - beats)


def _state(work: Terms, bits: Figure, maps: Figure) -> Numbers:
    """Bytes of state that a pass moves for maps of ``bits`` bits each."""
    return -(-work.has.images * bits * maps // 8)


def _state_of_outputs(
    work: Terms, bits: Figure, maps: Figure, by_map: bool, outputs: Numbers
) -> Numbers:
    """Bytes of another layer's state for outputs; flattened maps share them equally."""
    if by_map:
        return _state(work, bits, outputs).astype(np.float64)
    return _state(work, bits, maps) / work.of.outputs * outputs


def _update(
    work: Terms, maps: Numbers, outputs: NDArray[np.int64], groups: NDArray[np.int64],
    first: Numbers, last: Numbers,
) -> tuple[Words, dict[str, Numbers]]:  # fmt: skip
    """Words of each port of a kernel update but its kernels; and deltas as they expand."""
    has, of = work.has, work.of
    deltas = outputs.astype(np.float64)
    found: Words = {
        "map_in": has.images * of.pixels * maps,
        "delta_in": has.images * of.stored * deltas,
    }
    if has.pooled:
        found["state_in"] = _state(work, of.state, outputs).astype(np.float64)
    beat = 1 if has.pooled and has.expands else work.engine.delta_beat
    taken = has.images * of.sums * _beats(deltas, beat)
    return found, {"delta_in": taken, "map_in": _map_beats(work, maps)}
