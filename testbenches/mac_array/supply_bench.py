"""Play passes on the supply side alone: beats offered and sums read under any pressure.

What every slot must bring is computed from the definition of the layer, slot by slot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from merp.hdl.base.signals import Stream, flag
from merp.hdl.mac_array.phases.operand_supply import operand_supply
from merp.hdl.mac_array.ports.kernels import BiasWrite
from merp.hdl.mac_array.ports.operands import Operands
from merp.hdl.mac_array.ports.registers import (
    ColumnsConfig,
    KernelsConfig,
    LoadConfig,
    RowsConfig,
    WalkConfig,
)
from merp.hdl.mac_array.ports.slots import Verdict
from merp.models.mac_array.atom_order import atom_words
from merp.models.mac_array.circulant import (
    Words,
    by_input_tiles,
    parameter_beats,
    with_biases,
)
from merp.models.params.mac_array.array_pass import ArrayPass
from merp.models.params.mac_array.design import Design
from merp.models.params.mac_array.input_registers import input_registers
from merp.models.params.mac_array.pass_run import PassRun
from merp.testbenches.block.trace import Sample, Trace, run_block
from merp.testbenches.mac_array.words import joined, parted

CONFIGS = {
    "rows_config": RowsConfig, "columns_config": ColumnsConfig, "load_config": LoadConfig,
    "kernels_config": KernelsConfig, "walk_config": WalkConfig,
}  # fmt: skip
CAUSES = ("issue", "stall_kernel", "stall_input", "stall_output")
DRAIN = 5
"""Cycles from the last operands of a tile to the earliest reading of its last sum."""


@dataclass(frozen=True)
class Layer:
    """A pass with the words that it takes.

    Attributes:
        maps: that come in, (maps, rows, columns). kernels: (output maps, input maps, taps).
        biases: (output maps,). seed: of the words of no meaning.
    """

    work: ArrayPass
    maps: Words
    kernels: Words
    biases: Words
    seed: int

    def atoms(self, design: Design) -> Words:
        """The beats of maps."""
        return atom_words(self.maps, self.work, design, np.random.default_rng(self.seed))

    def beats(self, design: Design) -> Words:
        """The beats of kernels."""
        rng = np.random.default_rng([self.seed, 1])
        outputs, inputs, taps = self.kernels.shape
        lanes = design.pof
        missing = -outputs % lanes
        padding = rng.integers(-32768, 32768, (missing, inputs, taps))
        beats = parameter_beats(self.kernels, lanes, padding)
        if self.work.phase == "dp":
            return by_input_tiles(beats, inputs, taps)
        noise = rng.integers(-32768, 32768, missing)
        return with_biases(beats, np.concatenate((self.biases, noise)).reshape(-1, lanes))


def make_layer(seed: int, **sizes: Any) -> Layer:
    """A pass with random words, the largest ones among them."""
    work = ArrayPass(**sizes)
    rng = np.random.default_rng(seed)

    def words(*shape: int) -> Words:
        drawn = rng.integers(-32768, 32768, shape)
        return np.where(rng.random(shape) < 0.1, -32768, drawn)

    maps = (work.inputs, work.rows, work.columns)
    if work.phase == "dp":
        maps = (work.outputs, work.out_rows, work.out_columns)
    kernels = words(work.outputs, work.inputs, work.taps)
    return Layer(work, words(*maps), kernels, words(work.outputs), seed)


class Expected(NamedTuple):
    """A slot: pixels (rows, columns) of the MACs and weights of the lanes that count."""

    first: bool
    last: bool
    pixels: Words
    weights: Words


def slots(layer: Layer, design: Design) -> Iterator[Expected]:
    """Every slot of a pass, in order, by the layer's definition."""
    work = layer.work
    k = work.kernel
    delta = work.phase == "dp"
    stride, pad = (1, k - 1 - work.pad) if delta else (work.stride, work.pad)
    rows, columns = (work.rows, work.columns) if delta else (work.out_rows, work.out_columns)
    lanes_of = work.inputs if delta else work.outputs
    around = design.pox + design.poy + k  # what a window can reach of what is no map
    padded = np.pad(layer.maps, ((0, 0), (around, around), (around, around)))
    for top in range(0, rows, design.poy):
        for lane in range(0, lanes_of, design.pof):
            for left in range(0, columns, design.pox):
                high, wide = min(design.poy, rows - top), min(design.pox, columns - left)
                for i in range(len(layer.maps)):
                    for tap in range(k * k):
                        row = stride * top + tap // k - pad + around
                        column = stride * left + tap % k - pad + around
                        pixels = padded[i, row::stride, column::stride][:high, :wide]
                        group = slice(lane, lane + design.pof)
                        weights = (
                            layer.kernels[i, group, k * k - 1 - tap]
                            if delta
                            else layer.kernels[group, i, tap]
                        )
                        at = i * k * k + tap
                        yield Expected(at == 0, at == len(layer.maps) * k * k - 1, pixels, weights)


@dataclass(frozen=True)
class Pressure:
    """When beats are offered and how long a tile's sums take; patterns are cyclic."""

    maps: Sequence[int] = (1,)
    parameters: Sequence[int] = (1,)
    drain: int = DRAIN


def arguments(design: Design) -> dict[str, Any]:
    """Arguments of ``operand_supply``."""
    return {
        "clk": flag(), "rst": flag(), "start": flag(),
        **{name: bundle(design) for name, bundle in CONFIGS.items()},
        "maps": Stream(design.atom_bits), "parameters": Stream(design.parameter_bits),
        "drained": flag(), "operands": Operands(design), "bias": BiasWrite(design),
        "verdict": Verdict(design), "loaded": flag(), "complete": flag(),
        "framing_error": flag(), "design": design,
    }  # fmt: skip


def run_supply(
    design: Design,
    passes: Sequence[tuple[Layer, Pressure]],
    cycles: int,
    reset_at: int | None = None,
) -> Trace:
    """Play passes, each when the sums of the one before are read; ``cycles`` must suffice.

    In cycle ``reset_at`` everything is reset, and the pass at hand begins anew.
    """
    args = arguments(design)
    config = [f"{name}_{field}" for name in CONFIGS for field in vars(args[name])]
    streams = ("maps", "parameters")
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
    running: tuple[Layer, Pressure] | None = None
    finished = False  # the last slot was issued

    def begin(layer: Layer) -> dict[str, int]:
        beats["maps"] = [joined(atom) for atom in layer.atoms(design).tolist()]
        beats["parameters"] = [joined(beat) for beat in layer.beats(design).tolist()]
        for name in streams:
            sent[name], offered[name] = 0, False
        draining.clear()
        quiet = {f"{name}_valid": 0 for name in streams}
        return {**input_registers(PassRun(layer.work, design)), **quiet, "start": 1, "drained": 0}

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

    return run_block(operand_supply, args, inputs, drive, cycles)


def check_slots(trace: Trace, design: Design, layers: Sequence[Layer]) -> int:
    """Compare every slot of a trace with those of the passes; the number of slots."""
    names = ("valid", "first", "last", "pixels", "weights")
    columns = [trace.column(f"operands_{name}") for name in names]
    wanted = (each for layer in layers for each in slots(layer, design))
    seen = 0
    for valid, first, last, pixels, weights in zip(*columns, strict=True):
        if not valid:
            continue
        expected = next(wanted, None)
        assert expected is not None, "a slot behind the last one"
        assert (bool(first), bool(last)) == (expected.first, expected.last), seen
        given = np.reshape(parted(pixels, design.pixels), (design.poy, design.pox))
        high, wide = expected.pixels.shape
        assert np.array_equal(given[:high, :wide], expected.pixels), seen
        assert parted(weights, expected.weights.size) == expected.weights.tolist(), seen
        seen += 1
    assert next(wanted, None) is None, f"only {seen} slots"
    return seen
