"""Bench of the output path: it models tiles of rounded words of the array, and reads atoms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from merp.hdl.base.signals import bits, flag
from merp.hdl.mac_array.output.output_path import TO_WORDS, output_path
from merp.hdl.mac_array.ports.kernels import BiasTileWrite
from merp.hdl.mac_array.ports.outputs import ArrayOutputConfig, Outputs
from merp.hdl.mac_array.ports.rounding import PixelWords, Readout
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.output_registers import output_table
from merp.models.machines.mac_array.params.pass_run import PassRun
from merp.testbenches.block.trace import Sample, Trace, run_block
from merp.testbenches.mac_array.words import any_word, joined

NEXT_COPY = 7
"""Cycles from a tile's last read to the earliest copy of the next tile."""


@dataclass(frozen=True)
class Maps:
    """Rounded sums of a pass by map, row and column, and flags of the clipped words."""

    words: list[list[list[int]]]
    clipped: list[list[list[int]]]

    @property
    def size(self) -> tuple[int, int, int]:
        """Numbers of maps, rows and columns."""
        return len(self.words), len(self.words[0]), len(self.words[0][0])


def random_maps(maps: int, rows: int, columns: int, rng: Random, kinds: int = 0) -> Maps:
    """Create maps of random words.

    If ``kinds`` is not 0, words are from -kinds to kinds - 1, so that equal maxima occur.
    """

    def word() -> int:
        return rng.randrange(-kinds, kinds) & 0xFFFF if kinds else any_word(rng)

    return Maps(
        [[[word() for _ in range(columns)] for _ in range(rows)] for _ in range(maps)],
        [
            [[int(rng.random() < 0.1) for _ in range(columns)] for _ in range(rows)]
            for _ in range(maps)
        ],
    )


def tiles(maps: Maps, design: ArrayDesign) -> Iterator[tuple[int, int, int]]:
    """Yield the first row, map and column of each tile.

    The order is bands, tiles of maps, tiles of columns.
    """
    size, rows, columns = maps.size
    for row in range(0, rows, design.poy):
        for first in range(0, size, design.pof):
            for column in range(0, columns, design.pox):
                yield row, first, column


@dataclass
class OutputRun:
    """The observations of a run of the output path.

    Attributes:
        trace: the trace of all ports.
        atoms: words of each output atom, column 0 first, and its ``last``.
        indices: positions of maxima, by address of the index memory.
    """

    trace: Trace
    atoms: list[tuple[list[int], int]] = field(default_factory=list)
    indices: dict[int, list[int]] = field(default_factory=dict)


def split(word: int, count_of: int, width: int) -> list[int]:
    """Split concatenated words into ``count_of`` raw words."""
    return [word >> i * width & (1 << width) - 1 for i in range(count_of)]


def output_args(design: ArrayDesign) -> dict[str, Any]:
    """Create the arguments of the output path."""
    return {
        "clk": flag(), "rst": flag(), "start": flag(), "config": ArrayOutputConfig(design),
        "bias": BiasTileWrite(design), "readout": Readout(design), "pixels": PixelWords(design),
        "outputs": Outputs(design), "saturated": bits(32), "design": design,
    }  # fmt: skip


def registers(work: ArrayPass, design: ArrayDesign) -> dict[str, int]:
    """Return the values of the registers by port."""
    values = output_table(design).values(PassRun(work, design))
    return {name.replace("output_config", "config"): value for name, value in values.items()}


INPUTS = (
    "rst", "start", "readout_copied", "pixels_words", "pixels_clipped", "outputs_atoms_ready"
)  # fmt: skip
BIAS_INPUTS = ("bias_enable", "bias_addr", "bias_data")


def run_output(
    runs: list[tuple[ArrayPass, Maps]],
    design: ArrayDesign,
    rng: Random,
    ready: float = 1.0,
    hurry: bool = True,
    held: int = 0,
) -> list[OutputRun]:
    """Run passes one after the other; each starts after the last atom of the previous pass.

    Pixels outside the maps and lanes without a map carry noise. Cycles without a read carry noise,
    too. Biases are written after start, one word per cycle.

    Args:
        runs: passes and their words.
        design: the array.
        rng: random generator of noise and stalls.
        ready: probability per cycle that the sink is ready, after the first ``held`` cycles.
        hurry: whether each tile begins in the earliest allowed cycle.
        held: number of first cycles in which the sink is never ready.

    Raises:
        AssertionError: the path outputs other biases than the biases of the tile that it reads.
    """
    args = output_args(design)
    config = [f"config_{name}" for name in vars(args["config"])]
    read: list[tuple[int, int, int] | None] = []  # by cycle: run, tile and place
    state = {"run": -1, "tile": -1, "reading": 0, "started": 0}
    order: list[list[tuple[int, int, int]]] = [list(tiles(maps, design)) for _, maps in runs]
    starts: list[int] = []
    ends: list[int] = []
    wait = 0
    biases = [
        [rng.getrandbits(design.parameter_bits) for _ in range(-(-maps.size[0] // design.pof))]
        for _, maps in runs
    ]
    writes: list[tuple[int, int]] = []

    def given(run: int, tile: int, place: int) -> tuple[int, int]:
        maps = runs[run][1]
        size, rows, columns = maps.size
        row, first, column = order[run][tile]
        r, c = row + place // design.pox, column + place % design.pox
        words, flags = [], []
        for lane in range(design.pof):
            inside = r < rows and c < columns and first + lane < size
            words.append(maps.words[first + lane][r][c] if inside else rng.getrandbits(16))
            flags.append(maps.clipped[first + lane][r][c] if inside else rng.getrandbits(1))
        return joined(words), joined(flags, 1)

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        nonlocal wait
        values = {
            "rst": int(cycle == 0), "start": 0, "readout_copied": 0,
            "outputs_atoms_ready": int(cycle >= held and rng.random() < ready), "bias_enable": 0,
            "bias_addr": 0, "bias_data": 0,
        }  # fmt: skip
        if seen:
            left = seen["outputs_atoms_valid"] and seen["outputs_atoms_ready"]
            if left and seen["outputs_atoms_last"]:
                ends.append(cycle - 1)
                state["started"] = 0
            # The sampled place belongs to the previous cycle.
            at = state["run"], state["tile"], seen["readout_place"]
            read.append(at if state["reading"] else None)
            if seen["readout_drained"]:
                state["reading"] = 0
                wait = NEXT_COPY - 1 + (0 if hurry else rng.randrange(20))
        if not state["started"] and cycle > 1 and state["run"] + 1 < len(runs):
            state["run"] += 1
            state["tile"], state["started"] = -1, 1
            starts.append(cycle)
            values["start"] = 1
            wait = NEXT_COPY
            writes.extend(enumerate(biases[state["run"]]))
            values |= registers(runs[state["run"]][0], design)
        elif state["started"] and wait > 0:
            wait -= 1
            if wait == 0 and state["tile"] + 1 < len(order[state["run"]]):
                state["tile"] += 1
                values["readout_copied"] = state["reading"] = 1
        if writes and not values["start"]:
            addr, data = writes.pop(0)
            values |= {"bias_enable": 1, "bias_addr": addr, "bias_data": data}
        late = read[cycle - TO_WORDS] if cycle >= TO_WORDS else None
        if late is None:
            values["pixels_words"] = rng.getrandbits(design.parameter_bits)
            values["pixels_clipped"] = rng.getrandbits(design.pof)
        else:
            values["pixels_words"], values["pixels_clipped"] = given(*late)
        return values

    cycles = 40 + held
    for _, maps in runs:
        size, rows, columns = maps.size
        atoms = -(-size // design.pof) * design.pof * rows * -(-columns // design.pox)
        number_of = len(list(tiles(maps, design)))
        cycles += int(atoms / ready) + number_of * (design.pixels + 8 + 20 * (not hurry)) + 60
    trace = run_block(
        output_path, args, (*INPUTS, *BIAS_INPUTS, *config), drive, cycles, quick=True
    )
    assert len(ends) == len(runs), "the run was too short"
    for given_biases, of in zip(trace.column("pixels_biases"), read, strict=False):
        if of is not None:
            run, tile, _ = of
            added = runs[run][0].phase == "fp"
            assert given_biases == added * biases[run][order[run][tile][1] // design.pof]
    return _found(trace, starts, ends, design)


def _found(
    trace: Trace, starts: list[int], ends: list[int], design: ArrayDesign
) -> list[OutputRun]:
    columns = {name: trace.column(name) for name in (
        "outputs_atoms_valid", "outputs_atoms_ready", "outputs_atoms_data", "outputs_atoms_last",
        "outputs_index_enable", "outputs_index_addr", "outputs_index_data",
    )}  # fmt: skip
    found = []
    for start, end in zip(starts, ends, strict=True):
        run = OutputRun(trace)
        for t in range(start, end + 1):
            if columns["outputs_atoms_valid"][t] and columns["outputs_atoms_ready"][t]:
                words = split(columns["outputs_atoms_data"][t], design.pox, 16)
                run.atoms.append((words, columns["outputs_atoms_last"][t]))
            if columns["outputs_index_enable"][t]:
                places = split(columns["outputs_index_data"][t], design.pox, design.index_bits)
                run.indices[columns["outputs_index_addr"][t]] = places
        found.append(run)
    return found
