"""Mazouz and Bridges as a comparison record: a training pipeline of the whole network.

The pipeline uses no external memory. Weights, and the maps that wait for their deltas, are on the
chip. Samples come from the host, which also computes the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Final

from merp.models.base.errors import BadInput
from merp.models.base.front import FrontPoint
from merp.models.base.ordered_sum import ordered_sum
from merp.models.comparison import of_board
from merp.models.comparison.architecture import Architecture
from merp.models.comparison.branchless import chained
from merp.models.comparison.costs import units
from merp.models.comparison.figure import Figure, derived, summed
from merp.models.comparison.options import Options
from merp.models.comparison.record import Device, PhaseRow, Record
from merp.models.fpga.board import Board
from merp.models.network.network import Network
from merp.models.network.phases import PHASES, has_phase
from merp.models.papers.mazouz.elements import WORD_BITS, ElementCost, map_blocks
from merp.models.papers.mazouz.pipeline import Pipeline

Search = Callable[[Pipeline, float, float], list[FrontPoint]]
"""Finds the Pareto-optimal designs of a pipeline within limits of DSPs and LUTs."""


@dataclass(frozen=True, kw_only=True)
class ScopedDesign:
    """A design of the layers in scope.

    Attributes:
        design: parallel filters of each convolution layer.
        word_bits: of maps and weights.
    """

    network: Network
    board: Board
    options: Options
    pipeline: Pipeline
    design: tuple[int, ...]
    word_bits: int


def plan(network: Network, board: Board, options: Options) -> ScopedDesign:
    """Choose the design of the front that fits and has the shortest time for a batch.

    If only memory is missing, all designs of the front are considered. If logic is missing, too,
    the result is the smallest design.

    Raises:
        BadInput: the network is not a chain, or has no convolution in scope.
    """
    plans = front(network, board, options)
    return min([each for each in plans if fits(each)] or plans, key=_batch_cycles)


def front(
    network: Network, board: Board, options: Options, search: Search = Pipeline.front
) -> list[ScopedDesign]:
    """Return the designs that fit the logic and are Pareto-optimal in cycles, DSP and LUT.

    The result is the smallest design if none fits.

    Raises:
        BadInput: as in ``plan`` and ``search``.
    """
    layers = tuple(chained(network, options, "mazouz"))
    if not layers or layers[0].kind != "conv":
        raise BadInput(
            f"{network.name}: mazouz begins with a convolution: the layers in scope do not"
        )
    word_bits = options.word_bits or WORD_BITS
    ours = partial(_unit, word_bits) if options.costs == "ours" else None
    pipeline = Pipeline(layers, train=True, unit=ours)
    room = board.room
    designs = [point.choices for point in search(pipeline, room.dsps, room.luts)]
    return [
        ScopedDesign(
            network=network,
            board=board,
            options=options,
            pipeline=pipeline,
            design=design,
            word_bits=word_bits,
        )
        for design in designs or [(1,) * len(pipeline.convolutions)]
    ]


def fits(plan: ScopedDesign) -> bool:
    """Return whether the part has the resources of a design."""
    room, cost = plan.board.room, plan.pipeline.cost(plan.design)
    return cost.dsp <= room.dsps and cost.lut <= room.luts and blocks(plan) <= room.block_rams


def _batch_cycles(plan: ScopedDesign) -> float:
    """Return the cycles of a batch; a sample enters as soon as the slowest layer can accept it."""
    steps = plan.pipeline.step_cycles(plan.design)
    return ordered_sum(steps) + (plan.options.batch - 1) * max(steps)


def _unit(word_bits: int, k: int) -> ElementCost:
    found = units(word_bits, k)
    return ElementCost(ceil(found["dsp"].value), ceil(found["lut"].value), 0)


def _memory(plan: ScopedDesign) -> dict[str, int]:
    """Return the bytes on the chip by use; with several samples in a batch, gradients are
    stored.
    """
    size = plan.word_bits // 8
    layers = plan.pipeline.layers
    weights = size * sum(layer.kernels + layer.biases for layer in layers)
    return {
        "weights": weights,
        "gradients": weights if plan.options.batch > 1 else 0,
        "features": size * sum(layer.inputs for layer in layers),
    }


def blocks(plan: ScopedDesign) -> int:
    """Return the block RAM of lines, maps, weights and gradients, in the part's own blocks."""
    memory = _memory(plan)
    maps = sum(
        layer.groups * layer.shape.n * map_blocks(layer.shape.columns, layer.shape.rows)
        for layer in plan.pipeline.convolutions
    )
    bits = 8 * (memory["weights"] + memory["gradients"])
    halves = plan.pipeline.cost(plan.design).ramb18 + maps * ceil(plan.word_bits / WORD_BITS)
    return ceil(halves / 2) + ceil(bits / plan.board.part.block_bits)


def record(plan: ScopedDesign) -> Record:
    """Return the cost of a plan."""
    board, pipeline = plan.board, plan.pipeline
    clock = of_board.clock(board)
    cycles = _batch_cycles(plan)
    seconds = derived(cycles / clock.value / 1e6, Figure(cycles, "model"), clock)
    cost = pipeline.cost(plan.design)
    logic = "formula" if plan.options.costs == "paper" else _level(plan)
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
        memory_gbs=None,
        devices=(
            Device(
                used={
                    "lut": Figure(cost.lut, logic),
                    "dsp": Figure(cost.dsp, logic),
                    "bram": Figure(blocks(plan), "model"),
                },
                memory={use: Figure(count, "model") for use, count in _memory(plan).items()},
            ),
        ),
        limits=of_board.limits(board),
        block_bits=board.part.block_bits,
        rows=_rows(plan),
        own=(),
        multipliers=Figure(_multipliers(plan), "formula"),
        latency_s=seconds,
        interval_s=seconds,
        reconfiguration_s=Figure(0, "formula"),
        power_w=of_board.power(board),
        notes=(
            "the slowest layer determines the interval of the samples of a batch",
            "the paper counts no traffic; flip-flops, softmax and loss are left out",
        ),
    )


def _level(plan: ScopedDesign) -> str:
    """Return the level of our unit costs; for kernels beyond the synthesised grid it is assumed."""
    ks = {layer.shape.k for layer in plan.pipeline.layers}
    return summed(units(plan.word_bits, k)["lut"] for k in ks).level


def _multipliers(plan: ScopedDesign) -> int:
    """Return the multiply-adds of a cycle: one set of multipliers for FP and dF, one for dX."""
    counts = plan.pipeline.units(plan.design)
    return 2 * sum(
        count * (layer.shape.taps if layer.kind == "conv" else layer.shape.m)
        for count, layer in zip(counts, plan.pipeline.layers, strict=True)
    )


def _binds(plan: ScopedDesign) -> str:
    """Return the resource of which the elements use the largest share."""
    cost, room = plan.pipeline.cost(plan.design), plan.board.room
    shares = {
        "DSP": cost.dsp / room.dsps,
        "LUT": cost.lut / room.luts,
        "BRAM": blocks(plan) / room.block_rams,
    }
    return max(shares, key=shares.__getitem__)


def _rows(plan: ScopedDesign) -> tuple[PhaseRow, ...]:
    pipeline, batch = plan.pipeline, plan.options.batch
    cycles, counts = pipeline.cycles(plan.design), pipeline.units(plan.design)
    binds = _binds(plan)
    rows = []
    for place, layer in enumerate(pipeline.layers):
        k = layer.shape.k
        kind = f"elements of {k} x {k}" if layer.kind == "conv" else "multipliers a head"
        for phase in PHASES:
            if not has_phase(plan.network, layer, phase):
                continue
            words = 0
            if phase == "fp" and place == 0:
                words += layer.inputs
            if phase in ("fp", "ku") and place == len(pipeline.layers) - 1:
                words += layer.outputs
            size = plan.word_bits // 8
            rows.append(
                PhaseRow(
                    layer=layer.name,
                    phase=phase,
                    cycles=Figure(batch * cycles[place], "formula" if phase == "fp" else "model"),
                    macs=layer.operations(batch) // 2,
                    bytes={"host": Figure(batch * size * words, "model")} if words else {},
                    runs_as=f"{counts[place]} {kind}",
                    binds=binds,
                )
            )
    return tuple(rows)


ARCHITECTURE: Final = Architecture(
    name="mazouz",
    title="Mazouz and Bridges",
    paper="Mazouz, Bridges, Journal of Real-Time Image Processing 2021",
    board="zc7100",
    word_bits=WORD_BITS,
    plan=plan,
    record=record,
    rows="merp.models.comparison.mazouz_rows:rows",
)
