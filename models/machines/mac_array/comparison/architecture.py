"""The RTL compiler's array in the record of all architectures: one bitstream, image after image.

Words are those of the paper's machine, whose pooling and un-pooling go through DRAM; seconds are a
model with two rates that were fitted to nine latencies.
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
"""Of the paper's board."""


@dataclass(frozen=True, kw_only=True)
class ArrayPlan:
    """An array for the layers in scope.

    Attributes:
        layers: in scope, with their geometry. maps: output maps at once.
    """

    network: Network
    board: Board
    options: Options
    layers: tuple[tuple[Layer, Geometry], ...]
    maps: int
    word_bits: int

    @property
    def geometries(self) -> list[Geometry]:
        """Of the layers in scope."""
        return [shape for _, shape in self.layers]

    @property
    def machine(self) -> BoardArray:
        """The array on its board."""
        memory, clock = of_board.memory(self.board), of_board.clock(self.board)
        return BoardArray(self.maps, clock.value * 1e6, memory.value * 1e9, self.word_bits // 8)

    @property
    def seconds(self) -> float:
        """Of a batch."""
        image = image_seconds(self.machine, self.geometries)
        return self.options.batch * image + update_seconds(self.machine, self.geometries)


def plan(network: Network, board: Board, options: Options) -> ArrayPlan:
    """Choose the paper's own array for its networks on its part, else the fastest that fits.

    Where none fits it is the smallest.

    Raises:
        BadInput: the network is no chain, or maps at once that there are not.
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
    """Whether the array itself does; whole kernels on the chip are another matter."""
    limits, used = of_board.limits(plan.board), _logic(plan)
    return all(each.value <= limits[kind] for kind, each in used.items())


def _logic(plan: ArrayPlan) -> dict[str, Figure]:
    """DSP blocks as fitted to the paper's; or what our multiply-adds take."""
    if plan.options.costs == "ours":
        return units(plan.word_bits, 1, macs(plan.maps))
    return {"dsp": Figure(dsp_blocks(plan.maps, plan.board.part.dsps), "model")}


def record(plan: ArrayPlan) -> Record:
    """What a plan costs."""
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
        "one bitstream runs all phases; the paper prints a power for each network, none of a board",
        "velocities of momentum and the loss's words are left out",
    ]
    if overlapping:
        notes.append(
            f"pooling windows overlap in {', '.join(overlapping)}: the machine has none such, its "
            "words and time are counted as if it had"
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
                undone = spent  # un-pooling, which every layer needs
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
            says="output maps at once, 4 to 64, a power of two; without: the paper's for its "
            "networks on its part, else the fastest that fits",
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
