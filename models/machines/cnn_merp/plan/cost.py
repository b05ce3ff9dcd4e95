"""Cycles, bytes and seconds of one pass, or of arrays of passes.

    slots(pass)      = max(slots, words of each port / its rate)
    parameters(pass) = kernel words / kernel port + biases, in a kernel update
    cycles(pass)     = slots(pass) + parameters(pass)

Each of the two takes its cycles or the memory's time for its bytes, whichever is longer.

Kernels are loaded before the slots, or updated after them, not in parallel. Memory is shared, so it
may limit the kernels of a pass even if it keeps up with the whole pass. If a part has fewer
groups than the accumulators' latency, a unit's slots wait for them from map to map. The starts of
sums wait for places, if a position has fewer slots than the cycles to free a place.
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
    """Cost of passes, an element for each.

    Attributes:
        cycles: cycles of the streams and slots of each cause alone, by cause.
        parameters: additional cycles of kernel load or update.
        bytes: through all ports.
        seconds: on a board.
    """

    cycles: dict[str, Numbers]
    parameters: Numbers
    bytes: Numbers
    seconds: Numbers

    @property
    def slots(self) -> Numbers:
        """Cycles of a pass without kernels."""
        units, *others = self.cycles.values()
        found = np.maximum(np.zeros_like(self.bytes), units)  # the largest array among all causes
        for count in others:
            np.maximum(found, count, out=found)
        return found

    @property
    def total(self) -> Numbers:
        """Cycles of a pass."""
        found = self.slots
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
    """Return the cost of passes with these numbers of input and output maps of a group.

    All arrays broadcast. first, last: whether passes have the first, or the last, part of the input
    maps. Each map of flattened maps, and each folded map, is assumed to have the same number of
    words.
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
    """Return the cost of passes from the terms of their work or works.

    The other arguments are those of ``cost_of``.
    """
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
        parameters += biases  # bias gradients are read one by one
    moved = np.zeros(np.broadcast_shapes(stored.shape, last.shape))
    for name, count in words.items():
        moved += count * work.word_bytes(name)
    moved += stored
    return _timed(cycles, parameters, moved, stored, board)


def _timed(
    cycles: dict[str, Numbers], parameters: Numbers, moved: Numbers, stored: Numbers, board: Board
) -> Cost:
    """Return the cost of passes that move ``moved`` bytes, ``stored`` of them for kernels and
    biases.
    """
    cost = Cost(cycles, parameters, moved, moved)
    rate = board.bytes_per_cycle
    seconds = cost.slots
    np.maximum(seconds, (moved - stored) / rate, out=seconds)
    seconds += np.maximum(parameters, stored / rate)
    seconds /= board.clock_mhz * 1e6
    return cost._replace(seconds=seconds)


def _stored(ports: Mapping[str, int]) -> int:
    """Return the bytes of kernels and biases among those of all ports."""
    return sum(count for name, count in ports.items() if name.startswith(("kernel", "bias")))


def _in_one_pass(
    work: PhaseWork,
    board: Board,
    inputs: NDArray[np.int64],
    outputs: NDArray[np.int64],
    first: Flags,
    last: Flags,
) -> Cost:
    """Return the cost of both backward phases of a whole layer in one pass.

    The halves run in parallel. Kernels are loaded before both, and updated after both.
    """
    assert work.halves is not None
    propagation, update = work.halves
    one = cost_of(propagation, board, outputs, inputs, first, last)
    other = cost_of(update, board, inputs, outputs, first, last)
    ports = whole_bytes(work)
    moved, stored = (
        np.full_like(one.bytes, count) for count in (sum(ports.values()), _stored(ports))
    )
    cycles, parameters = _longer(one.cycles, other.cycles), one.parameters + other.parameters
    return _timed(cycles, parameters, moved, stored, board)


def _longer(one: Mapping[str, Numbers], other: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """Return the longer cycles of each cause, of two engines in parallel."""
    return {name: np.maximum(one.get(name, 0.0), other.get(name, 0.0)) for name in {**one, **other}}


def _fused(work: PhaseWork, board: Board) -> Cost:
    """Return the cost of two whole layers fused in forward propagation.

    Their engines run in parallel, and kernels of both are loaded in parallel before. Words of the
    groups of the second layer are output one after the other.
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
    moved, stored = (
        np.full_like(one.bytes, count) for count in (sum(ports.values()), _stored(ports))
    )
    cycles = _longer(cycles, {name: np.array([count]) for name, count in leaving.items()})
    return _timed(cycles, parameters, moved, stored, board)


_WIDE = ("map_in", "map_out", "delta_in", "add_in", "partial_in", "partial_out")


def _kernel_cycles(work: Terms) -> Figure:
    """Return the cycles of load or update of a kernel, or of a weight of a folded layer."""
    design, has, taps = work.engine, work.has, work.of.taps
    cycles = taps / design.kernel_beat
    if has.phase == "ku":
        # Taps that smaller kernels lack are skipped, if beats with each read have several elements.
        cycles = np.maximum(cycles, -(-work.of.reach // design.gradient_read))
    elif design.kernel_port > 1 and design.widened and not (has.folded and has.phase == "dp"):
        cycles = -(-taps // design.kernel_port)
    return cycles / (taps if has.folded else 1)


def _is_wide(work: Terms, port: str) -> bool:
    """Return whether a stream moves ``map_port`` elements in a cycle; the mask moves a byte.

    Un-pooling outputs its deltas one by one.
    """
    if port == "delta_out":
        return not work.has.expands or work.has.pooled
    return port in _WIDE


def _beats(maps: Numbers, each: int) -> Numbers:
    """Return the cycles for the elements of a pixel of ``maps`` maps; each pixel begins a new
    beat.
    """
    return maps if np.ndim(each) == 0 and each == 1 else np.ceil(maps / each)


def slots_apart(design: EngineDesign, positions: int) -> Numbers:
    """Return the minimum slots from map to map of a sum: the latency of its accumulator."""
    return design.accumulate_latency / np.minimum(design.p, positions)


def _slots(work: Terms, inputs: NDArray[np.int64], groups: NDArray[np.int64]) -> Numbers:
    """Return the slots of a pass, including slots left empty for accumulators or gradients."""
    design, positions = work.engine, work.of.positions
    if work.has.phase != "ku":
        # Every map of a sum waits for its accumulator, except the first map.
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
"""Words of a stream; bytes for the mask."""


def _sums(count: NDArray[np.int64], first: Numbers, last: Numbers) -> Words:
    """Return partial sums: all input parts but the first read them, all but the last write them."""
    return {
        "partial_in": (1 - first) * count.astype(np.float64),
        "partial_out": (1 - last) * count.astype(np.float64),
    }


def _start(work: Terms, count: NDArray[np.int64], outputs: Numbers, first: Numbers) -> Words:
    """Return the start of the sums of the first input part, of ``count`` positions and maps."""
    has, of = work.has, work.of
    if not has.begun:
        return {}
    if not has.beside:
        return {"add_in": first * count.astype(np.float64)}
    share = has.images * of.beside_words / of.outputs
    state = _state_of_outputs(work, of.beside_bits, of.beside_maps, has.beside_by_map, outputs)
    return {"add_in": first * (share * outputs), "add_state_in": first * state}


def _start_cycles(work: Terms, outputs: NDArray[np.int64], groups: NDArray[np.int64]) -> Numbers:
    """Return the cycles for reading the starts of a position's sums; each word begins a new beat.

    There are places for 2p positions. A place is free again when the units have read it. If
    positions are short, the words of the next position wait for a place.
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
    """Return the words of each port of forward propagation, and the beats of ReLU and pooling."""
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
    """Return the cycles in which the maps of a pass are read."""
    return work.has.images * work.of.pixels * _beats(maps, work.engine.map_port)


def _delta(
    work: Terms, maps: Numbers, outputs: NDArray[np.int64], groups: NDArray[np.int64],
    first: Numbers, last: Numbers,
) -> tuple[Words, dict[str, Numbers]]:  # fmt: skip
    """Return the words of each port of delta propagation, and the cycles of on-chip expansion.

    Expansion takes a cycle per element.
    """
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
    """Return the cycles for reading the deltas of a pass and generating the zeros between them."""
    has, port = work.has, work.engine.map_port
    pixels = has.images * work.of.dilated
    beats = _beats(maps, port)
    if not (has.pooled and has.expands):
        return pixels * beats
    # Elements expand one by one. The zeros between them are as wide as any beat.
    return pixels * beats + has.images * work.of.sums * (maps - beats)


def _state(work: Terms, bits: Figure, maps: Figure) -> Numbers:
    """Return the bytes of the mask that a pass moves for maps of ``bits`` bits each."""
    return -(-work.has.images * bits * maps // 8)


def _state_of_outputs(
    work: Terms, bits: Figure, maps: Figure, by_map: bool, outputs: Numbers
) -> Numbers:
    """Return the bytes of another layer's mask for outputs; flattened maps share them equally."""
    if by_map:
        return _state(work, bits, outputs).astype(np.float64)
    return _state(work, bits, maps) / work.of.outputs * outputs


def _update(
    work: Terms, maps: Numbers, outputs: NDArray[np.int64], groups: NDArray[np.int64],
    first: Numbers, last: Numbers,
) -> tuple[Words, dict[str, Numbers]]:  # fmt: skip
    """Return the words of each port of a kernel update except its kernels, and deltas as they
    expand.
    """
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
