"""CNN-MERP as a comparison record: its plan, and the bytes that the plan moves.

Bytes of class ``maps`` are those of count ``maps``. Bytes of class ``again`` are those that a
plan's tiles move of maps in addition. All bytes of a row together are those of count ``board``. As
in the paper, deltas are stored at the resolution of sums, and the ReLU/pooling mask as mask bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.base.ordered_sum import ordered_sum
from merp.models.comparison import of_board
from merp.models.comparison.architecture import Architecture
from merp.models.comparison.figure import Figure, derived
from merp.models.comparison.options import Options
from merp.models.comparison.record import DRAM, RESOURCES, Device, PhaseRow, Record
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.plan.fit import quickest
from merp.models.machines.cnn_merp.plan.plan import plan as plan_on_board
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan as BoardPlan
from merp.models.machines.cnn_merp.plan.planned import PlannedPhase
from merp.models.machines.cnn_merp.reconfiguration import bitstreams
from merp.models.network.network import Network
from merp.models.network.planning import BEST, GOALS, SHIPPED
from merp.models.network.step_passes import layer_passes
from merp.models.traffic.closed_form import LayerTraffic, network_traffic

STATE: Final = "1"
FORMATS: Final = {32: BINARY32, 16: BFLOAT16}
"""By requested word width; 16-bit fixed point has no hardware."""

NOTES: Final = (
    "the host provides images and labels, and computes the loss",
    "deltas in memory are as large as the sums, masks of ReLU are bits, as in the paper",
)

_CLASSES: Final = {
    **dict.fromkeys(("kernel", "bias", "kernel_out", "bias_out"), "kernels"),
    **dict.fromkeys(("state_in", "state_out", "add_state_in"), "state"),
    **dict.fromkeys(("partial_in", "partial_out"), "partial"),
}
"""Classes of ports that move no maps."""


@dataclass(frozen=True, kw_only=True)
class ComparedPlan:
    """A plan of ``models/machines/cnn_merp/plan``, and its options.

    Attributes:
        step: of all layers, as ``merp plan`` returns it.
        maps: of each layer, count ``maps``.
    """

    step: BoardPlan
    maps: Mapping[str, LayerTraffic]
    options: Options


def plan(network: Network, board: Board, options: Options) -> ComparedPlan:
    """Plan the whole network; the record covers the layers in scope.

    If several sets of designs are available, the one with the shortest time in scope is used.

    Raises:
        BadInput: the part is too small, our estimates do not cover its family, or the shipped
            designs have another word width.
    """
    if not board.part.planned:
        raise BadInput(
            f"board {board.name}: {board.part.name}: estimates are of FPGAs of AMD: allowed is a "
            "board with such a part"
        )
    asked = _with_word(network, options)
    if options.fit == SHIPPED and not asked.designs:
        raise BadInput(
            f"--fit {SHIPPED}: {network.name}: no designs of words of {8 * asked.fmt.bytes} bits: "
            f"allowed is --fit {BEST}"
        )
    step = quickest(
        asked, options.fit, GOALS,
        lambda each, goal: plan_on_board(each, board, options.batch, goal, STATE),
        lambda each: _seconds(each, options.scope),
    )  # fmt: skip
    traffic = network_traffic(asked, options.batch)
    return ComparedPlan(
        step=step, maps={each.layer.name: each for each in traffic}, options=options
    )


def _with_word(network: Network, options: Options) -> Network:
    """Return the network in a format of the requested width, without designs if the format
    changes.
    """
    if options.word_bits is None:
        return network
    fmt = FORMATS[options.word_bits]
    if (network.fmt, network.storage) == (fmt, None):
        return network
    bare = tuple(replace(layer, design=None) for layer in network.layers)
    return replace(network, numbers=fmt, storage=None, layers=bare, designs={})


def _loading(step: BoardPlan, scope: Sequence[str]) -> float:
    """Return the seconds of loading the bitstreams of the layers in scope."""
    runs = [run for run in layer_passes(step.network) if run[0].name in scope]
    loads = bitstreams([(str(layer.design), phase) for layer, phase in runs])
    return loads * step.board.load_seconds


def _seconds(step: BoardPlan, scope: Sequence[str]) -> float:
    computing = ordered_sum(each.seconds for each in step.layers if each.work.layer.name in scope)
    return computing + _loading(step, scope)


def record(plan: ComparedPlan) -> Record:
    """Return the cost of a plan."""
    step, options = plan.step, plan.options
    board, scope = step.board, options.scope
    planned = [each for each in step.layers if each.work.layer.name in scope]
    engines = list({id(each.engine): each.engine for each in planned}.values())
    largest = max(engines, key=lambda each: each.resources.bram)
    loading = derived(_loading(step, scope), of_board.load_seconds(board))
    computing = derived(ordered_sum(each.seconds for each in planned), *_timed(board, planned))
    return Record(
        architecture=ARCHITECTURE.name,
        network=step.network.name,
        board=board.name,
        part=board.part.name,
        options=options.plain(),
        scope=scope,
        batch=options.batch,
        word_bits=8 * step.network.fmt.bytes,
        accumulator_bits=max(each.design.accumulator_format.width for each in engines),
        clock_mhz=of_board.clock(board),
        memory_gbs=of_board.memory(board),
        devices=(
            Device(
                used={
                    kind: Figure(max(each.resources.figures()[kind] for each in engines), "model")
                    for kind in RESOURCES
                },
                memory={
                    memory.name: Figure(memory.count * memory.words * memory.bits / 8, "model")
                    for memory in largest.memories
                },
            ),
        ),
        limits=of_board.limits(board),
        block_bits=board.part.block_bits,
        rows=tuple(_row(each, plan.maps[each.work.layer.name]) for each in planned),
        own=("maps",),
        multipliers=Figure(max(each.design.n_cu * each.design.taps for each in engines), "model"),
        latency_s=computing + loading,
        interval_s=computing + loading,
        reconfiguration_s=loading,
        power_w=of_board.power(board),
        notes=(*NOTES, *_notes(step.network)),
    )


def _notes(network: Network) -> Iterator[str]:
    if network.fmt != BINARY32:
        yield "LUT and FF are those of binary32 units, and therefore too large"
    if network.storage is not None:
        yield "tensors in memory have the formats of the network file, narrower than the word"


def _timed(board: Board, planned: Iterable[PlannedPhase]) -> tuple[Figure, ...]:
    """Return the inputs of the seconds: the cycles, the clock, and the memory if it is waited
    for.
    """
    model = (Figure(0, "model"), of_board.clock(board))
    waits = any(_waits(each) for each in planned)
    return (*model, of_board.memory(board)) if waits else model


def _waits(planned: PlannedPhase) -> float:
    """Return the cycles in which a phase waits for the memory."""
    waits = planned.seconds * planned.board.clock_mhz * 1e6 - planned.cycles
    return waits if waits > 1 else 0.0


def _row(planned: PlannedPhase, traffic: LayerTraffic) -> PhaseRow:
    work, board, design = planned.work, planned.board, planned.engine.design
    (paper,) = traffic.phases(work.phase)
    moved: Counter[str] = Counter()
    for port, count in planned.ports.items():
        moved[_CLASSES.get(port, "maps")] += count
    moved["again"] = moved["maps"] - paper.bytes
    moved["maps"] = paper.bytes
    waits = _waits(planned)
    return PhaseRow(
        layer=work.layer.name,
        phase=work.phase,
        cycles=derived(planned.cycles + waits, *_timed(board, [planned])),
        macs=planned.operations // 2,
        bytes={
            each: Figure(moved[each], "formula" if each == "maps" else "model")
            for each in DRAM
            if moved[each]
        },
        waits={"memory": derived(waits, *_timed(board, [planned]))} if waits else {},
        runs_as=f"{design.n_cu} units of {design.k} x {design.k}, passes: {planned.passes}",
        binds=planned.binds,
    )


ARCHITECTURE: Final = Architecture(
    name="cnn-merp",
    title="CNN-MERP",
    paper="Han, Zhou, Wang, Kimura, ICCD 2016",
    board="kc705",
    word_bits=None,
    hardware="cnn-merp",
    plan=plan,
    record=record,
    rows="merp.models.machines.cnn_merp.comparison.rows:rows",
)
