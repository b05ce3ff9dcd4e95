"""The RTL compiler's array in the comparison of architectures.

One bitstream runs all phases, one image after the other. The words are those of the paper's
machine, whose pooling and un-pooling are passes over DRAM. The seconds are a model with two rates,
which were fitted to nine latencies.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final

from merp.models.base.errors import BadInput
from merp.models.base.given import mention
from merp.models.comparison import of_board
from merp.models.comparison.architecture import Architecture, OwnOption
from merp.models.comparison.branchless import chained
from merp.models.comparison.costs import units
from merp.models.comparison.figure import Figure, derived
from merp.models.comparison.options import Options
from merp.models.comparison.record import Device, PhaseRow, Record
from merp.models.fpga.board import Board
from merp.models.machines.mac_array.array_cycles import SLOTS
from merp.models.machines.mac_array.array_traffic import words
from merp.models.machines.mac_array.comparison.paper import of_paper
from merp.models.machines.mac_array.geometry import Geometry, geometry
from merp.models.machines.mac_array.rtl_compiler.latency import (
    BoardArray,
    image_seconds,
    update_seconds,
)
from merp.models.machines.mac_array.rtl_compiler.resources import (
    MAPS,
    dsp_blocks,
    macs,
    memory_bits,
)
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES

WORD_BITS: Final = 16
PART: Final = "1SG280"
"""The FPGA of the paper's board."""


@dataclass(frozen=True, kw_only=True)
class ArrayPlan:
    """An array for the layers in scope.

    Attributes:
        network: the network.
        board: the board.
        options: options of the comparison.
        layers: layers in scope, with their geometry.
        maps: output maps that the array computes concurrently.
        word_bits: bits of a word.
    """

    network: Network
    board: Board
    options: Options
    layers: tuple[tuple[Layer, Geometry], ...]
    maps: int
    word_bits: int

    @property
    def geometries(self) -> list[Geometry]:
        """The geometries of the layers in scope."""
        return [shape for _, shape in self.layers]

    @property
    def machine(self) -> BoardArray:
        """The array on its board."""
        memory, clock = of_board.memory(self.board), of_board.clock(self.board)
        return BoardArray(self.maps, clock.value * 1e6, memory.value * 1e9, self.word_bits // 8)

    @property
    def seconds(self) -> float:
        """Seconds of a batch."""
        image = image_seconds(self.machine, self.geometries)
        return self.options.batch * image + update_seconds(self.machine, self.geometries)


def plan(network: Network, board: Board, options: Options) -> ArrayPlan:
    """Choose an array for a network on a board.

    For a network of the paper on the paper's part, it is the paper's array. Otherwise it is the
    fastest array that fits. If none fits, it is the smallest array.

    Raises:
        BadInput: the network is not a chain of layers, or ``pof`` is not in ``MAPS``.
    """
    layers = tuple(
        (layer, geometry(network, layer)) for layer in chained(network, options, "rtl-compiler")
    )
    asked = options.extra["pof"]
    if asked is not None and asked not in MAPS:
        allowed = ", ".join(map(str, MAPS))
        raise BadInput(f"{mention('pof', asked)}: allowed are {allowed}: powers of two")
    plans = [
        ArrayPlan(
            network=network,
            board=board,
            options=options,
            layers=layers,
            maps=maps,
            word_bits=options.word_bits or WORD_BITS,
        )
        for maps in MAPS
        if asked in (None, maps)
    ]
    fitting = [each for each in plans if _fits(each)]
    own = of_paper(network) if board.part.name == PART else None
    papers = [each for each in fitting if own is not None and each.maps == own.maps]
    return min(papers or fitting or plans[:1], key=lambda each: each.seconds)


def _fits(plan: ArrayPlan) -> bool:
    """Check that the logic of the array fits; the memory of the kernels is not checked."""
    limits, used = of_board.limits(plan.board), _logic(plan)
    return all(each.value <= limits[kind] for kind, each in used.items())


def _logic(plan: ArrayPlan) -> dict[str, Figure]:
    """Return the DSP blocks as fitted to the paper, or the resources of merp's multiply-adds."""
    if plan.options.costs == "ours":
        return units(plan.word_bits, 1, macs(plan.maps))
    return {"dsp": Figure(dsp_blocks(plan.maps, plan.board.part.dsps), "model")}


def record(plan: ArrayPlan) -> Record:
    """Record the resources, cycles and traffic of a plan."""
    board = plan.board
    clock, memory = of_board.clock(board), of_board.memory(board)
    seconds = derived(plan.seconds, Figure(0, "model"), clock, memory)
    bits = memory_bits(plan.geometries, plan.maps, plan.word_bits)
    largest = max(shape.kernels for shape in plan.geometries) * plan.word_bits // 8
    return Record(
        architecture=ARCHITECTURE.name,
        network=plan.network.name,
        board=board.name,
        part=board.part.name,
        options=plan.options.plain(),
        scope=plan.options.scope,
        batch=plan.options.batch,
        word_bits=plan.word_bits,
        accumulator_bits=48,
        clock_mhz=clock,
        memory_gbs=memory,
        devices=(
            Device(
                used={
                    **_logic(plan),
                    "bram": Figure(ceil(bits / board.part.block_bits), "model"),
                },
                memory={
                    "kernels, old and new": Figure(2 * largest, "model"),
                    "tiles": Figure(bits / 8 - 2 * largest, "model"),
                },
            ),
        ),
        limits=of_board.limits(board),
        block_bits=board.part.block_bits,
        rows=_rows(plan),
        own=("maps", "kernels"),
        multipliers=Figure(macs(plan.maps), "formula"),
        latency_s=seconds,
        interval_s=seconds,
        reconfiguration_s=Figure(0, "formula"),
        power_w=of_board.power(board),
        notes=_notes(plan),
    )


def _notes(plan: ArrayPlan) -> tuple[str, ...]:
    overlapping = [
        layer.name
        for layer, _ in plan.layers
        if layer.shape.pool and layer.shape.pool.stride < layer.shape.pool.window
    ]
    notes = [
        "one bitstream runs all phases; the paper prints a power per network, but none of a board",
        "velocities of momentum and the words of the loss are not counted",
    ]
    if overlapping:
        notes.append(
            f"pooling windows overlap in {', '.join(overlapping)}: the machine does not support "
            "this, but its words and time are counted as if it did"
        )
    return tuple(notes)


def _rows(plan: ArrayPlan) -> tuple[PhaseRow, ...]:
    batch, machine = plan.options.batch, plan.machine
    model = (Figure(0, "model"), of_board.clock(plan.board), of_board.memory(plan.board))
    rows = []
    for layer, shape in plan.layers:
        undone = 0.0
        for phase, does in PHASES.items():
            spent = batch * machine.image(shape, phase)
            if does.propagates and not shape.propagates:
                undone = spent  # un-pooling, which KU of the layer needs too
                continue
            if does.updates and not shape.updates:
                continue
            if does.updates:
                spent += undone + machine.update(shape)
            slots = batch * SLOTS[phase](shape, machine.array)
            cycles = spent * machine.hertz
            moved = words(shape, machine.array, batch, phase)
            size = plan.word_bits // 8
            rows.append(
                PhaseRow(
                    layer=layer.name,
                    phase=phase,
                    cycles=derived(cycles, *model),
                    macs=layer.operations(batch) // 2,
                    bytes={
                        "maps": Figure(size * moved.maps, "model"),
                        "kernels": Figure(size * moved.kernels, "model"),
                    },
                    waits={"memory": derived(cycles - slots, *model)},
                    runs_as=f"{machine.array.pox} x {machine.array.poy} pixels x {plan.maps} maps",
                    binds="DRAM" if cycles > 2 * slots else "array",
                )
            )
    return tuple(rows)


ARCHITECTURE: Final = Architecture(
    name="rtl-compiler",
    title="RTL compiler",
    paper="Venkataramanaiah, Ma, Yin, Nurvithadhi, Dasu, Cao, Seo, FPL 2019",
    board="stratix10-devkit",
    word_bits=WORD_BITS,
    hardware="mac-array",
    choices=(
        OwnOption(
            name="pof",
            says="concurrent output maps, a power of two from 4 to 64; default: the paper's for "
            "its networks on its part, else the fastest that fits",
            default=None,
            kind=int,
            low=4,
            high=64,
        ),
    ),
    plan=plan,
    record=record,
    rows="merp.models.machines.mac_array.comparison.rows:rows",
)
