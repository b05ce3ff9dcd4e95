"""Bench of the update path: it models the array's sums after each sweep, and parameter streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.mac_array.ports.rounding import Readout, RoundedSums
from merp.hdl.mac_array.ports.updates import ArrayUpdateConfig, Saturated, StepStreams
from merp.hdl.mac_array.update.update_path import TO_ROUNDED, TO_SHIFT, update_path
from merp.models.machines.mac_array.params.array_pass import SHIFTS, ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign, over
from merp.models.machines.mac_array.params.update_registers import ArrayUpdateRun, update_table
from merp.models.machines.mac_array.params.words import ROUNDED_BITS
from merp.testbenches.block.trace import Sample, Trace, run_block
from merp.testbenches.mac_array.words import clipped, joined, nearest

NEXT_COPY = 7
"""Cycles from a sweep's last read to the earliest copy of the next sweep."""

KINDS = ("gradient", "kernel", "velocity")


@dataclass(frozen=True)
class ImageSums:
    """Exact gradient sums of an image.

    Attributes:
        kernels: sums by output map, input map and tap.
        biases: sums by output map.
    """

    kernels: Sequence[Sequence[Sequence[int]]]
    biases: Sequence[int]


@dataclass
class UpdateRunResult:
    """The observations of a run.

    Attributes:
        trace: the trace of all ports.
        left: output beats by kind, each with its ``last``.
        taken: number of accepted input beats, by kind.
        saturated: number of clipped words, by kind.
    """

    trace: Trace
    left: dict[str, list[tuple[int, int]]]
    taken: dict[str, int]
    saturated: dict[str, int]


def sweeps(work: ArrayPass, design: ArrayDesign) -> list[tuple[int, int, int, int]]:
    """Return the tile of output maps, group of input maps and tile of taps of each sweep."""
    side, regions = design.region_side(work.kernel), design.regions(work.kernel)
    tiles = range(over(work.kernel, side))
    return [
        (tile, group, down, across)
        for tile in range(design.map_tiles(work.outputs))
        for group in range(over(work.inputs, regions))
        for down in tiles
        for across in tiles
    ]


def sum_at(
    sums: ImageSums,
    sweep: tuple[int, int, int, int],
    place: int,
    f: int,
    work: ArrayPass,
    d: ArrayDesign,
) -> int | None:
    """Return the sum of MAC ``place`` for output map f after a sweep; None if the MAC is idle."""
    _, group, down, across = sweep
    if f >= work.outputs:
        return None
    if place == d.pixels:
        return sums.biases[f]
    side = d.region_side(work.kernel)
    high, wide = d.region_grid(work.kernel)
    row, column = divmod(place, d.pox)
    region_row, region_column = row // side, column // side
    i = group * high * wide + region_row * wide + region_column
    ky, kx = down * side + row % side, across * side + column % side
    if region_row >= high or region_column >= wide or i >= work.inputs:
        return None
    return sums.kernels[f][i][ky * work.kernel + kx] if max(ky, kx) < work.kernel else None


def update_args(design: ArrayDesign) -> dict[str, Any]:
    """Create the arguments of the update path."""
    kinds = KINDS if design.momentum else KINDS[:2]
    return {
        "clk": flag(), "rst": flag(), "start": flag(), "config": ArrayUpdateConfig(design),
        "readout": Readout(design), "sums": RoundedSums(design, bits(6)),
        **{ends: StepStreams(**{kind: Stream(design.parameter_bits) for kind in kinds})
           for ends in ("sinks", "sources")},
        "saturated": Saturated(), "design": design,
    }  # fmt: skip


def registers(work: ArrayPass, design: ArrayDesign) -> dict[str, int]:
    """Return the values of the registers by port."""
    values = update_table(design).values(ArrayUpdateRun(work, design))
    return {name.replace("update_config", "config"): value for name, value in values.items()}


def inputs_of(design: ArrayDesign) -> tuple[str, ...]:
    """Return the ports that a bench drives, without registers."""
    kinds = KINDS if design.momentum else KINDS[:2]
    pins = [f"sinks_{kind}_{pin}" for kind in kinds for pin in ("data", "valid", "last")]
    pins += [f"sources_{kind}_ready" for kind in kinds]
    return ("rst", "start", "readout_copied", "sums_rounded", *pins)


def run_update(
    work: ArrayPass,
    design: ArrayDesign,
    sums: ImageSums,
    given: Mapping[str, Sequence[int]],
    rng: Random,
    rate: float = 1.0,
    hurry: bool = True,
) -> UpdateRunResult:
    """Run a pass.

    Args:
        work: the pass.
        design: the array.
        sums: sums of its image.
        given: offered beats of each kind, even if the pass does not read them.
        rng: random generator of the stalls.
        rate: probability per cycle that a source has a beat, and that a sink is ready.
        hurry: whether each sweep begins in the earliest allowed cycle.
    """
    args = update_args(design)
    kinds = KINDS if design.momentum else KINDS[:2]
    values = registers(work, design)
    order = sweeps(work, design)
    coming = {kind: list(given[kind]) for kind in kinds}
    left: dict[str, list[tuple[int, int]]] = {kind: [] for kind in kinds}
    reads: list[tuple[int, int] | None] = []
    shifts: list[int] = []
    at, wait, reading = -1, NEXT_COPY + 1, False

    def rounded(cycle: int) -> int:
        read = reads[cycle - TO_ROUNDED] if cycle >= TO_ROUNDED else None
        words = []
        for lane in range(design.pof):
            total = None
            if read is not None:
                sweep, place = order[read[0]], read[1]
                total = sum_at(sums, sweep, place, sweep[0] * design.pof + lane, work, design)
            n = shifts[cycle - TO_ROUNDED + TO_SHIFT] + SHIFTS["shift"][0] if total else 0
            noise = rng.getrandbits(ROUNDED_BITS)
            words.append(noise if total is None else clipped(nearest(total, n), ROUNDED_BITS))
        return joined(words, ROUNDED_BITS)

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        nonlocal at, wait, reading
        pins = {"rst": int(cycle == 0), "start": int(cycle == 1), "readout_copied": 0}
        if seen:
            reads.append((at, seen["readout_place"]) if reading else None)
            shifts.append(seen["sums_shift"])
            if seen["readout_drained"]:
                reading = False
                wait = NEXT_COPY - 1 + (0 if hurry else rng.randrange(20))
        if cycle > 1 and not reading:
            wait -= 1
            if wait == 0 and at + 1 < len(order):
                at += 1
                reading = True
                pins["readout_copied"] = 1
        for kind in kinds:
            taken = seen and seen[f"sinks_{kind}_valid"] and seen[f"sinks_{kind}_ready"]
            if taken:
                coming[kind].pop(0)
            if seen and seen[f"sources_{kind}_valid"] and seen[f"sources_{kind}_ready"]:
                left[kind].append((seen[f"sources_{kind}_data"], seen[f"sources_{kind}_last"]))
            held = seen and seen[f"sinks_{kind}_valid"] and not taken
            offered = bool(coming[kind]) and cycle > 1 and (held or rng.random() < rate)
            pins |= {
                f"sinks_{kind}_valid": int(offered), f"sinks_{kind}_last": 0,
                f"sinks_{kind}_data": coming[kind][0] if offered
                else rng.getrandbits(design.parameter_bits),
                f"sources_{kind}_ready": int(rng.random() < rate),
            }  # fmt: skip
        return {**values, **pins, "sums_rounded": rounded(cycle)}

    beats = ArrayUpdateRun(work, design).beats
    cycles = 50 + len(order) * (9 + 20 * (not hurry))
    cycles += beats if rate == 1 else int(3 * beats / rate)
    names = (*inputs_of(design), *values)
    trace = run_block(update_path, args, names, drive, cycles, quick=True)
    taken = {kind: len(given[kind]) - len(coming[kind]) for kind in kinds}
    saturated = {kind: trace.column(f"saturated_{kind}")[-1] for kind in KINDS}
    return UpdateRunResult(trace, left, taken, saturated)
