"""What a comparison asks of the machine: what a training step costs on a board."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.errors import BadInput
from merp.models.comparison import of_board
from merp.models.comparison.architecture import Architecture
from merp.models.comparison.figure import Figure, derived, summed
from merp.models.comparison.options import Options
from merp.models.comparison.record import Device, PhaseRow, Record
from merp.models.fpga.board import Board
from merp.models.network.network import Network
from merp.models.network.phases import has_phase
from pointwise.counts import cycles, port_words
from pointwise.design import Design
from pointwise.machine import MACHINE, OF_MAPS


@dataclass(frozen=True)
class Plan:
    """Layers on a board, one after the other."""

    network: Network
    board: Board
    options: Options


def plan(network: Network, board: Board, options: Options) -> Plan:
    """Run the layers on the designs of the network file.

    Raises:
        BadInput: a layer has no design of this machine, or another word is asked for.
    """
    for layer in options.layers(network):
        if layer.design is None or not isinstance(network.design(layer), Design):
            raise BadInput(f"{network.name}: {layer.name}: allowed are designs of {MACHINE.name}")
    if options.word_bits not in (None, network.fmt.width):
        raise BadInput(f"{network.name}: allowed are words of {network.fmt.width} bits")
    return Plan(network, board, options)


def record(plan: Plan) -> Record:
    """The costs: cycles and words by formula, and no resources, which nobody has measured."""
    network, options, board = plan.network, plan.options, plan.board
    rows = []
    for phase in MACHINE.phases:
        for layer in options.layers(network):
            if has_phase(network, layer, phase.name):
                words = port_words(phase.name, layer.shape, options.batch)
                moved = {"maps": 0, "kernels": 0}
                for port, count in words.items():
                    kind = "maps" if port in OF_MAPS else "kernels"
                    moved[kind] += count * network.fmt.bytes
                rows.append(
                    PhaseRow(
                        layer=layer.name,
                        phase=phase.name,
                        cycles=Figure(cycles(phase.name, layer.shape, options.batch), "model"),
                        macs=layer.operations(options.batch) // 2,
                        bytes={kind: Figure(count, "model") for kind, count in moved.items()},
                        runs_as="one multiplier",
                    )
                )
    clock, total = of_board.clock(board), summed(row.cycles for row in rows)
    seconds = derived(total.value / (clock.value * 1e6), clock, total)
    return Record(
        architecture=MACHINE.name,
        network=network.name,
        board=board.name,
        part=board.part.name,
        options=options.plain(),
        scope=options.scope,
        batch=options.batch,
        word_bits=network.fmt.width,
        accumulator_bits=network.fmt.width,
        clock_mhz=clock,
        memory_gbs=of_board.memory(board),
        devices=(Device(),),
        limits=of_board.limits(board),
        block_bits=board.part.block_bits,
        rows=tuple(rows),
        own=("maps",),
        multipliers=Figure(1, "model"),
        latency_s=seconds,
        interval_s=seconds,
        reconfiguration_s=Figure(0, "model"),
        notes=("no wait for memory",),
    )


ARCHITECTURE = Architecture(
    name=MACHINE.name,
    title="pointwise",
    paper="merp's example",
    board="kc705",
    word_bits=None,
    hardware=MACHINE.name,
    plan=plan,
    record=record,
)
