"""Play passes on the supply side only, with arbitrary stalls of its beats and of reading sums.

The expected operands are calculated from the definition of the layer, slot by slot. A slot is a
cycle in which the supply side issues operands to the array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from merp.hdl.base.signals import Stream, flag, signals_of
from merp.hdl.mac_array.phases.operand_supply import OperandSupplyPorts, operand_supply
from merp.hdl.mac_array.ports.kernels import BiasTileWrite
from merp.hdl.mac_array.ports.operands import Operands
from merp.hdl.mac_array.ports.registers import SupplyConfig
from merp.hdl.mac_array.ports.slots import ArrayVerdict
from merp.models.machines.mac_array.circulant import Words, parameter_beats
from merp.models.machines.mac_array.orders import (
    BIAS,
    Atom,
    Beat,
    delta_kernels,
    forward_kernels,
    maps_in,
    pooling_out,
    update_deltas,
    update_maps,
)
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array, ArrayDesign
from merp.models.machines.mac_array.params.pass_registers import supply_registers
from merp.testbenches.block.trace import Sample, Trace, run_block
from merp.testbenches.mac_array.words import joined, parted

CAUSES = ("issue", "stall_kernel", "stall_input", "stall_output")
DRAIN = 5
"""Cycles from the last operands of a tile to the earliest read of its last sum."""


@dataclass(frozen=True)
class SuppliedPass:
    """A pass with its input words.

    Attributes:
        work: the pass.
        maps: maps that the pass reads, (maps, rows, columns).
        kernels: (output maps, input maps, taps).
        biases: (output maps,).
        deltas: deltas of KU, (output maps, rows, columns).
        seed: seed of the padding words.
    """

    work: ArrayPass
    maps: Words
    kernels: Words
    biases: Words
    deltas: Words
    seed: int

    def streams(self, design: ArrayDesign) -> dict[str, Words]:
        """Return the beats of every stream of the supply side."""
        none = np.empty((0, 1), np.int64)
        streams = {"parameters": none, "deltas": none}
        if self.work.phase == "ku":
            streams["deltas"] = self.delta_atoms(design)
        elif self.work.phase != "upsample":
            streams["parameters"] = self.beats(design)
        return {"maps": self.atoms(design), **streams}

    def atoms(self, design: ArrayDesign) -> Words:
        """Return the beats of the maps."""
        orders = {"ku": update_maps, "upsample": pooling_out}
        order = orders.get(self.work.phase, maps_in)(self.work, design)
        return atom_words(self.maps, order, design, np.random.default_rng(self.seed))

    def delta_atoms(self, design: ArrayDesign) -> Words:
        """Return the beats of KU's deltas."""
        order = update_deltas(self.work, design)
        return atom_words(self.deltas, order, design, np.random.default_rng([self.seed, 2]))

    def beats(self, design: ArrayDesign) -> Words:
        """Return the beats of the kernels."""
        order = delta_kernels if self.work.phase == "dp" else forward_kernels
        noise = np.random.default_rng([self.seed, 1])
        return beat_words(order(self.work, design), design, self.kernels, self.biases, noise)


def atom_words(
    maps: Words, order: Iterable[Atom] | Words, design: ArrayDesign, noise: np.random.Generator
) -> Words:
    """Convert maps (maps, rows, columns) to atoms (atoms, pox) in an order.

    Words after the last column of a row are padding, drawn from ``noise``.
    """
    columns = maps.shape[2]
    width = design.column_blocks(columns) * design.pox
    filled = noise.integers(-32768, 32768, (*maps.shape[:2], width))
    filled[:, :, :columns] = maps
    blocks = filled.reshape(*maps.shape[:2], -1, design.pox)
    at = order if isinstance(order, np.ndarray) else np.array([*order], np.int64).reshape(-1, 3)
    return blocks[at[:, 0], at[:, 1], at[:, 2]]


def beat_words(
    order: Iterable[Beat],
    design: Array,
    kernels: Words,
    biases: Words,
    noise: np.random.Generator | None,
) -> Words:
    """Convert kernels (output maps, input maps, taps) and biases to beats (beats, pof) in an order.

    Lanes without an output map carry words drawn from ``noise``, or 0 without ``noise``.
    """
    outputs, inputs, taps = kernels.shape
    padding: Words = np.zeros((-outputs % design.pof, inputs * taps + 1), np.int64)
    if noise is not None:
        padding = noise.integers(-32768, 32768, size=padding.shape)
    of_kernels = padding[:, 1:].reshape(-1, inputs, taps)
    beats = parameter_beats(kernels, design.pof, of_kernels)
    of_biases = np.concatenate((biases, padding[:, 0])).reshape(-1, design.pof)
    return np.array([
        of_biases[tile] if i == BIAS else beats[(tile * inputs + i) * taps + tap]
        for tile, i, tap in order
    ])  # fmt: skip


def make_layer(seed: int, /, **sizes: Any) -> SuppliedPass:
    """Create a pass with random words; 10 % of them are the most negative word."""
    work = ArrayPass(**sizes)
    rng = np.random.default_rng(seed)

    def words(*shape: int) -> Words:
        drawn = rng.integers(-32768, 32768, shape)
        return np.where(rng.random(shape) < 0.1, -32768, drawn)

    maps = (work.inputs, work.rows, work.columns)
    if work.phase == "dp":
        maps = (work.outputs, work.out_rows, work.out_columns)
    if work.phase != "ku" and work.expands:
        maps = (work.outputs, work.pooled_rows, work.pooled_columns)
    kernels = words(work.outputs, work.inputs, work.taps)
    sums = (work.out_rows, work.out_columns)
    if work.phase == "ku" and work.expands:
        sums = (work.pooled_rows, work.pooled_columns)
    deltas = words(work.outputs, *sums)
    return SuppliedPass(work, words(*maps), kernels, words(work.outputs), deltas, seed)


class ExpectedSlot(NamedTuple):
    """A slot: numbers and pixels of the MACs in use, and weights of the lanes in use."""

    first: bool
    last: bool
    biased: bool
    places: Words
    pixels: Words
    weights: Words


def slots(layer: SuppliedPass, design: ArrayDesign) -> Iterator[ExpectedSlot]:
    """Calculate every slot of a pass, in order, by the definition of the layer."""
    if layer.work.phase == "upsample":
        return iter(())
    return (sweep_slots if layer.work.phase == "ku" else tile_slots)(layer, design)


def sweep_slots(layer: SuppliedPass, design: ArrayDesign) -> Iterator[ExpectedSlot]:
    """Calculate the slots of KU: each MAC sums one tap of a map's gradient.

    Deltas are the weights. If deltas are pooled, ``layer`` must contain the expanded deltas. Sums
    outside the pooling windows have no delta.
    """
    work, q = layer.work, design.region_side(layer.work.kernel)
    regions, across = design.regions(work.kernel), design.region_grid(work.kernel)[1]
    last = (work.delta_rows - 1, work.delta_columns - 1)
    around = work.kernel + q
    padded = np.pad(layer.maps, ((0, 0), (around, around), (around, around)))
    tiles = range(0, work.kernel, q)
    for lane, low, down, right in product(
        range(0, work.outputs, design.pof), range(0, work.inputs, regions), tiles, tiles
    ):
        held = [
            (region // across * q + a, region % across * q + b, low + region, down + a, right + b)
            for region in range(min(regions, work.inputs - low))
            for a in range(min(q, work.kernel - down))
            for b in range(min(q, work.kernel - right))
        ]
        row, column, each_map, tap_row, tap_column = np.array(held).T
        for at in product(range(work.delta_rows), range(work.delta_columns)):
            y, x = (work.stride * place - work.pad + around for place in at)
            yield ExpectedSlot(
                at == (0, 0), at == last, (low, down, right) == (0, 0, 0),
                row * design.pox + column, padded[each_map, y + tap_row, x + tap_column],
                layer.deltas[(slice(lane, lane + design.pof), *at)],
            )  # fmt: skip


def tile_slots(layer: SuppliedPass, design: ArrayDesign) -> Iterator[ExpectedSlot]:
    """Calculate the slots of FP and DP."""
    work, k = layer.work, layer.work.kernel
    delta = work.phase == "dp"
    phases, stride = (work.stride, 1) if delta else (1, work.stride)
    size = (work.rows, work.columns) if delta else (work.out_rows, work.out_columns)
    lanes_of = work.inputs if delta else work.outputs
    around = work.stride * (design.pox + design.poy) + k  # reach of a window beyond the map
    padded = np.pad(layer.maps, ((0, 0), (around, around), (around, around)))
    bands, tiles = (
        range(0, -(-each // phases), side)
        for each, side in zip(size, (design.poy, design.pox), strict=True)
    )

    def met(phase: int) -> list[tuple[int, int]]:
        """Return the taps along an axis, and the offset of the first pixel's element in the map."""
        if not delta:
            return [(tap, tap - work.pad) for tap in range(k)]
        ways = [(tap, phase + work.pad - tap) for tap in reversed(range(k))]
        return [(tap, way // phases) for tap, way in ways if way % phases == 0]

    for top, down, lane, left, right in product(
        bands, range(phases), range(0, lanes_of, design.pof), tiles, range(phases)
    ):
        high, wide = (
            max(0, min(side, -(-(each - phase) // phases) - low))
            for each, phase, low, side in zip(
                size, (down, right), (top, left), (design.poy, design.pox), strict=True
            )
        )
        places = np.add.outer(np.arange(high) * design.pox, np.arange(wide)).reshape(-1)
        taps = list(product(range(len(layer.maps)), met(down), met(right)))
        for number, (i, (y, below), (x, beside)) in enumerate(taps):
            row, column = stride * top + below + around, stride * left + beside + around
            pixels = padded[i, row::stride, column::stride][:high, :wide]
            group = slice(lane, lane + design.pof)
            weights = layer.kernels[i, group] if delta else layer.kernels[group, i]
            yield ExpectedSlot(
                number == 0, number == len(taps) - 1, False, places, pixels.reshape(-1),
                weights[:, y * k + x],
            )  # fmt: skip


@dataclass(frozen=True)
class Pressure:
    """Stalls of a pass: cyclic patterns of offered beats, and cycles until a tile is read."""

    maps: Sequence[int] = (1,)
    parameters: Sequence[int] = (1,)
    deltas: Sequence[int] = (1,)
    drain: int = DRAIN


def arguments(design: ArrayDesign) -> dict[str, Any]:
    """Create the arguments of ``operand_supply``."""
    ports = OperandSupplyPorts(
        config=SupplyConfig(design),
        maps=Stream(design.atom_bits),
        parameters=Stream(design.parameter_bits),
        deltas=Stream(design.atom_bits),
        drained=flag(),
        operands=Operands(design),
        bias=BiasTileWrite(design),
        verdict=ArrayVerdict(design),
        complete=flag(),
        framing_error=flag(),
    )
    return {"clk": flag(), "rst": flag(), "start": flag(), "ports": ports, "design": design}


def run_supply(
    design: ArrayDesign,
    passes: Sequence[tuple[SuppliedPass, Pressure]],
    cycles: int,
    reset_at: int | None = None,
) -> Trace:
    """Play passes; each starts after the sums of the previous pass are read.

    ``cycles`` must suffice for all passes. In cycle ``reset_at`` everything is reset, and the
    current pass begins again.
    """
    args = arguments(design)
    config = [f"config_{name}" for name, _ in signals_of(args["ports"].config)]
    streams = ("maps", "parameters", "deltas")
    inputs = (
        "rst", "start", "drained", *config,
        *(f"{name}_{field}" for name in streams for field in ("data", "valid", "last")),
    )  # fmt: skip
    queue = list(passes)
    beats: dict[str, list[int]] = {name: [] for name in streams}
    sent = dict.fromkeys(streams, 0)
    offered = dict.fromkeys(streams, False)
    draining: list[int] = []
    since = 0
    running: tuple[SuppliedPass, Pressure] | None = None
    finished = False  # the last slot was issued

    def begin(layer: SuppliedPass) -> dict[str, int]:
        for name, words in layer.streams(design).items():
            beats[name] = [joined(beat) for beat in words.tolist()]
        for name in streams:
            sent[name], offered[name] = 0, False
        draining.clear()
        quiet = {f"{name}_valid": 0 for name in streams}
        values = supply_registers(layer.work, design)
        registers = {name.removeprefix("supply_"): value for name, value in values.items()}
        return {**registers, **quiet, "start": 1, "drained": 0}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal running, since, finished
        if cycle < 2:
            return {"rst": 1}
        values = {"rst": 0, "start": 0, "drained": 0}
        if reset_at is not None and cycle == reset_at:
            if running is not None:
                queue.insert(0, running)
                running, finished = None, False
            return {"rst": 1}
        if running is not None:
            finished = finished or bool(seen["verdict_final_issue"])
            if finished and seen["drained"]:
                running, finished = None, False
                return values | {f"{name}_valid": 0 for name in streams}
        if running is None:
            if not queue or cycle < 3 or (reset_at is not None and cycle == reset_at + 1):
                return values
            running, since = queue.pop(0), 0
            return values | begin(running[0])
        pressure = running[1]
        since += 1
        for name in streams:
            if offered[name] and seen[f"{name}_ready"]:
                sent[name] += 1
                offered[name] = False
            pattern = getattr(pressure, name)
            if not offered[name] and sent[name] < len(beats[name]):
                offered[name] = bool(pattern[since % len(pattern)])
                values[f"{name}_data"] = beats[name][sent[name]]
                values[f"{name}_last"] = int(sent[name] == len(beats[name]) - 1)
            values[f"{name}_valid"] = int(offered[name])
        if seen["operands_valid"] and seen["operands_last"]:
            draining.append(cycle + pressure.drain)
        if draining and draining[0] <= cycle:
            draining.pop(0)
            values["drained"] = 1
        return values

    return run_block(operand_supply, args, inputs, drive, cycles, quick=True)


def check_slots(trace: Trace, design: ArrayDesign, layers: Sequence[SuppliedPass]) -> int:
    """Compare every slot of a trace with the slots of the passes; return the number of slots."""
    names = ("valid", "first", "last", "biased", "pixels", "weights")
    columns = [trace.column(f"operands_{name}") for name in names]
    wanted = (each for layer in layers for each in slots(layer, design))
    seen = 0
    for valid, first, last, biased, pixels, weights in zip(*columns, strict=True):
        if not valid:
            continue
        expected = next(wanted, None)
        assert expected is not None, "a slot after the last one"
        assert (bool(first), bool(last), bool(biased)) == expected[:3], seen
        given = np.array(parted(pixels, design.pixels))[expected.places]
        assert np.array_equal(given, expected.pixels), seen
        assert parted(weights, expected.weights.size) == expected.weights.tolist(), seen
        seen += 1
    assert next(wanted, None) is None, f"only {seen} slots"
    return seen
