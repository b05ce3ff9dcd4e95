"""Mazouz and Bridges in the record of all architectures: a training pipeline of the whole network.

Nothing goes to a memory outside: weights and the maps that wait for their deltas lie on the chip;
samples come from the host, which also computes the loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final

from merp.models.comparison import of_board
from merp.models.comparison.architecture import Architecture
from merp.models.comparison.chain import chained
from merp.models.comparison.figure import Figure, derived
from merp.models.comparison.mazouz_printed import published
from merp.models.comparison.options import Options
from merp.models.comparison.record import Device, Record, Row
from merp.models.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.mazouz.elements import WORD_BITS, map_blocks
from merp.models.mazouz.pipeline import Pipeline
from merp.models.network.network import Network
from merp.models.network.phases import PHASES, has_phase


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A design of the layers in scope.

    Attributes:
        design: filters at a time, of each convolution layer. word_bits: of maps and weights.
    """

    network: Network
    board: Board
    options: Options
    pipeline: Pipeline
    design: tuple[int, ...]
    word_bits: int


def plan(network: Network, board: Board, options: Options) -> Plan:
    """Choose the fastest design that fits.

    Where only memory is missing, the fastest one; where logic is, too, the smallest.

    Raises:
        BadInput: the network is no chain, or has no convolution in scope.
    """
    layers = tuple(chained(network, options, "mazouz"))
    if not layers or layers[0].kind != "conv":
        raise BadInput(
            f"{network.name}: mazouz begins with a convolution: the layers in scope do not"
        )
    pipeline = Pipeline(layers, train=True)
    word_bits = options.word_bits or WORD_BITS
    room = board.room
    points = pipeline.front(room.dsps, room.luts)
    plans = [
        Plan(
            network=network,
            board=board,
            options=options,
            pipeline=pipeline,
            design=design,
            word_bits=word_bits,
        )
        for design in [point.choices for point in points] or [(1,) * len(pipeline.convolutions)]
    ]
    fitting = (each for each in plans if _blocks(each) <= room.block_rams)
    return next(fitting, plans[0])


def _memory(plan: Plan) -> dict[str, int]:
    """Bytes on the chip by use; gradients are kept where a batch is summed up."""
    size = plan.word_bits // 8
    layers = plan.pipeline.layers
    weights = size * sum(layer.kernels + layer.biases for layer in layers)
    return {
        "weights": weights,
        "gradients": weights if plan.options.batch > 1 else 0,
        "features": size * sum(layer.inputs for layer in layers),
    }


def _blocks(plan: Plan) -> int:
    """Block RAM of lines, maps, weights and gradients, in the part's own blocks."""
    memory = _memory(plan)
    maps = sum(
        layer.groups * layer.shape.n * map_blocks(layer.shape.columns, layer.shape.rows)
        for layer in plan.pipeline.convolutions
    )
    bits = 8 * (memory["weights"] + memory["gradients"])
    halves = plan.pipeline.cost(plan.design).ramb18 + maps * ceil(plan.word_bits / WORD_BITS)
    return ceil(halves / 2) + ceil(bits / plan.board.part.block_bits)


def record(plan: Plan) -> Record:
    """What a plan costs."""
    board, pipeline, batch = plan.board, plan.pipeline, plan.options.batch
    clock = of_board.clock(board)
    steps = pipeline.step_cycles(plan.design)
    cycles = sum(steps) + (batch - 1) * max(steps)
    seconds = derived(cycles / clock.value / 1e6, Figure(cycles, "model"), clock)
    cost = pipeline.cost(plan.design)
    return Record(
        architecture=ARCHITECTURE.name,
        network=plan.network.name,
        board=board.name,
        part=board.part.name,
        options=plan.options.plain(),
        scope=plan.options.scope,
        batch=batch,
        word_bits=plan.word_bits,
        accumulator_bits=48,
        clock_mhz=clock,
        devices=(
            Device(
                used={
                    "lut": Figure(cost.lut, "formula"),
                    "dsp": Figure(cost.dsp, "formula"),
                    "bram": Figure(_blocks(plan), "model"),
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
        power_w=of_board.power(board),
        notes=(
            "samples of a batch follow each other as closely as the slowest layer allows",
            "the paper counts no traffic; flip-flops, softmax and loss are left out",
        ),
    )


def _multipliers(plan: Plan) -> int:
    """Multiply-adds a cycle: one set for FP and dF, one for dX."""
    units = plan.pipeline.units(plan.design)
    return 2 * sum(
        count * (layer.shape.taps if layer.kind == "conv" else layer.shape.m)
        for count, layer in zip(units, plan.pipeline.layers, strict=True)
    )


def _binds(plan: Plan) -> str:
    """The resource of which the elements take the largest share."""
    cost, room = plan.pipeline.cost(plan.design), plan.board.room
    shares = {
        "DSP": cost.dsp / room.dsps,
        "LUT": cost.lut / room.luts,
        "BRAM": _blocks(plan) / room.block_rams,
    }
    return max(shares, key=shares.__getitem__)


def _rows(plan: Plan) -> tuple[Row, ...]:
    pipeline, batch = plan.pipeline, plan.options.batch
    cycles, units = pipeline.cycles(plan.design), pipeline.units(plan.design)
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
                Row(
                    layer=layer.name,
                    phase=phase,
                    cycles=Figure(batch * cycles[place], "formula" if phase == "fp" else "model"),
                    macs=layer.operations(batch) // 2,
                    bytes={"host": Figure(batch * size * words, "model")} if words else {},
                    runs_as=f"{units[place]} {kind}",
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
    published=published,
)
