"""FPDeep as a comparison record: whole maps on whole units, along a chain of boards.

Weights, gradients and features are in block RAM. Images come from the host, which also computes the
loss of the last layer in scope. Weights are updated after every batch, so the chain drains between
batches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf
from typing import Final

from merp.models.base.errors import BadInput
from merp.models.base.ordered_sum import ordered_sum
from merp.models.comparison import of_board
from merp.models.comparison.architecture import Architecture, OwnOption
from merp.models.comparison.branchless import chained
from merp.models.comparison.costs import KINDS, units
from merp.models.comparison.figure import Figure, derived, summed
from merp.models.comparison.options import Options
from merp.models.comparison.record import Device, PhaseRow, Record
from merp.models.fpga.board import Board, Link
from merp.models.network.network import Layer, Network
from merp.models.papers.fpdeep.balance import KeptKernels, balanced, with_weights
from merp.models.papers.fpdeep.links import BoardLink, borders
from merp.models.papers.fpdeep.memory import feature_words, weight_words
from merp.models.papers.fpdeep.partition import Partition, partition
from merp.models.papers.fpdeep.piece import Piece
from merp.models.papers.fpdeep.shares import partition_in_proportion
from merp.models.papers.fpdeep.stage import stages

WORD_BITS: Final = 16

LATENCY: Final = 4
"""Intervals until an image's gradients are ready: 3.9 for AlexNet, 3.8 for VGG-16 on 15 boards."""


@dataclass(frozen=True, kw_only=True)
class ChainCut:
    """A cut of the layers in scope over the boards.

    Attributes:
        layers: in scope.
        word_bits: of maps, weights and links.
        binds: the limiting resource, DSP or LUT.
        borders: words of an image between boards.
        kept: weights that are stored on other boards.
    """

    network: Network
    board: Board
    options: Options
    layers: tuple[Layer, ...]
    word_bits: int
    binds: str
    cut: Partition
    borders: tuple[BoardLink, ...]
    kept: tuple[KeptKernels, ...]

    @property
    def link_cycles(self) -> float:
        """Cycles that the busiest link takes for an image."""
        if not self.borders:
            return 0.0
        words = max(border.most for border in self.borders)
        link = _link(self.board)
        bytes_per_cycle = link.lanes * link.gbytes_s * 1e3 / self.board.clock_mhz
        return words * self.word_bits / 8 / bytes_per_cycle

    @property
    def depth(self) -> int:
        """Largest number of images in flight, whose features are stored."""
        return _depth(self.options)

    @property
    def stage(self) -> float:
        """Cycles of an image in the slowest stage, which may be a link."""
        return max(self.cut.interval, self.link_cycles)

    @property
    def interval(self) -> float:
        """Cycles from image to image; with few images in flight, all wait for the first one's
        gradients.
        """
        return self.stage * max(1, LATENCY / self.depth)


def plan(network: Network, board: Board, options: Options) -> ChainCut:
    """Cut the layers in scope.

    Raises:
        BadInput: the network is not a chain, or options exclude each other. Or the boards have no
            link, have too few DSPs, or outnumber the maps.
    """
    layers = tuple(chained(network, options, "fpdeep"))
    if board.devices > 1:
        _link(board)
    word_bits = options.word_bits or WORD_BITS
    room = board.room
    by_logic = _taps_of_logic(layers, room.luts, word_bits) if options.costs == "ours" else inf
    taps = int(min(room.dsps, by_logic))
    cut_at = partition
    if options.extra["grain"] == "dsp":
        cut_at = partition_in_proportion
        if options.extra["balance"] != "none" or options.costs == "ours":
            raise BadInput("--grain dsp: allowed only with --balance none and --costs paper")
    dealt = stages(network, layers)
    most = sum(stage.maps for stage in dealt)
    if board.devices > most:
        raise BadInput(
            f"{network.name} has {most} maps to distribute: at most {most} boards can work, not "
            f"{board.devices}"
        )
    try:
        cut = cut_at(dealt, board.devices, taps)
    except ValueError as wrong:
        raise BadInput(f"board {board.name}: {board.devices} of {taps} DSPs: {wrong}") from None
    crossing, kept = borders(cut.pieces), list[KeptKernels]()
    if options.extra["balance"] == "image":
        capacity = board.room.block_rams * board.part.block_bits / word_bits
        kept = balanced(weight_words(cut.pieces), _features(cut, _depth(options)), capacity)
        crossing = with_weights(crossing, kept)
    return ChainCut(
        network=network,
        board=board,
        options=options,
        layers=layers,
        word_bits=word_bits,
        binds="LUT" if by_logic < room.dsps else "DSP",
        cut=cut,
        borders=tuple(crossing),
        kept=tuple(kept),
    )


def _taps_of_logic(layers: Iterable[Layer], luts: int, word_bits: int) -> float:
    """Return the taps, of one DSP each, that fit ``luts`` LUT in every mix of the layers."""
    taps = {layer.shape.k: layer.shape.taps for layer in layers}
    return luts / max(units(word_bits, k)["lut"].value / count for k, count in taps.items())


def _link(board: Board) -> Link:
    if board.link is None:
        raise BadInput(f"board {board.name}: link is missing: fpdeep joins {board.devices} boards")
    return board.link


def _depth(options: Options) -> int:
    return int(options.extra["depth"] or 0)


def _features(cut: Partition, depth: int) -> dict[int, float]:
    return {node: depth * words for node, words in feature_words(cut.pieces).items()}


def record(plan: ChainCut) -> Record:
    """Return the cost of a plan."""
    board, batch = plan.board, plan.options.batch
    clock = of_board.clock(board)
    linked = plan.link_cycles > plan.cut.interval
    rate = [_rate(board)] if linked else []
    step = (batch - 1) * plan.interval + LATENCY * plan.stage
    seconds = derived(step / clock.value / 1e6, Figure(step, "model"), clock, *rate)
    return Record(
        architecture=ARCHITECTURE.name,
        network=plan.network.name,
        board=board.name,
        part=board.part.name,
        options=plan.options.plain(),
        scope=plan.options.scope,
        batch=batch,
        word_bits=plan.word_bits,
        accumulator_bits=36,
        clock_mhz=clock,
        memory_gbs=None,
        devices=tuple(_device(plan, node) for node in range(board.devices)),
        limits=of_board.limits(board),
        block_bits=board.part.block_bits,
        rows=tuple(row for piece in plan.cut.pieces for row in _rows(plan, piece)),
        own=("link",),
        multipliers=Figure(plan.cut.multipliers, "formula"),
        latency_s=seconds,
        interval_s=seconds,
        reconfiguration_s=Figure(0, "formula"),
        power_w=of_board.power(board),
        at_work=_at_work(plan),
        notes=(
            f"the chain fills and drains in every batch: {LATENCY - 1} intervals more than images",
            f"features of {plan.depth} images are kept; line buffers, FIFOs and state are left out",
            "the paper does not give the use of logic",
            *_without_work(plan),
        ),
    )


def _without_work(plan: ChainCut) -> list[str]:
    """Return notes about boards without a map."""
    idle = plan.board.devices - _at_work(plan)
    if not idle:
        return []
    energy = "" if plan.board.power_w is None else ": the energy is that of the others"
    return [f"{idle} of {plan.board.devices} boards have no map{energy}"]


def _at_work(plan: ChainCut) -> int:
    """Return the number of boards that have a map."""
    return len({piece.node for piece in plan.cut.pieces})


def _rate(board: Board) -> Figure:
    link = _link(board)
    lanes = of_board.figure(board, "link: lanes", link.lanes)
    return derived(
        lanes.value * link.gbytes_s,
        lanes,
        of_board.figure(board, "link: gbytes_s", link.gbytes_s),
    )


def _device(plan: ChainCut, node: int) -> Device:
    pieces = [piece for piece in plan.cut.pieces if piece.node == node]
    own = weight_words(pieces).get(node, 0.0)
    moved = ordered_sum(
        each.words * ((each.keeper == node) - (each.user == node)) for each in plan.kept
    )
    words = {
        "weights": own + moved,
        "gradients": own + moved,
        "features": plan.depth * feature_words(pieces).get(node, 0.0),
    }
    memory = {
        use: Figure(ceil(count) * plan.word_bits / 8, "model") for use, count in words.items()
    }
    bits = 8 * ordered_sum(each.value for each in memory.values())
    blocks = Figure(ceil(bits / plan.board.part.block_bits), "model")
    return Device(
        used={**_logic(plan, pieces), "bram": blocks},
        memory=memory,
    )


def _logic(plan: ChainCut, pieces: Iterable[Piece]) -> dict[str, Figure]:
    """Return a DSP per tap, as the paper does, or the resources of our units with as many taps."""
    if plan.options.costs == "paper":
        return {"dsp": Figure(ordered_sum(piece.dsps for piece in pieces), "formula")}
    found = [
        units(plan.word_bits, piece.stage.layer.shape.k, int(piece.dsps) // piece.stage.taps)
        for piece in pieces
    ]
    return {kind: summed(each[kind] for each in found) for kind in KINDS}


def _rows(plan: ChainCut, piece: Piece) -> list[PhaseRow]:
    stage, batch = piece.stage, plan.options.batch
    macs = int(piece.end * stage.macs) - int(piece.begin * stage.macs)
    dsps = Fraction(piece.dsps) / len(stage.phases)
    count = float(dsps / stage.taps)
    return [
        PhaseRow(
            device=piece.node,
            layer=stage.layer.name,
            phase=phase,
            cycles=Figure(batch * ceil(macs / dsps), "formula"),
            macs=batch * macs,
            bytes={
                kind: Figure(batch * ceil(words) * plan.word_bits // 8, "model")
                for kind, words in _words(plan, piece, phase).items()
                if words
            },
            runs_as=f"{count:.4g} units of {stage.layer.shape.k} x {stage.layer.shape.k}",
            binds="link" if plan.link_cycles > plan.cut.interval else plan.binds,
        )
        for phase in stage.phases
    ]


def _words(plan: ChainCut, piece: Piece, phase: str) -> dict[str, float]:
    """Return the words of an image that a piece sends in a phase, and those that the host
    exchanges.
    """
    stage = piece.stage
    here = [each for each in plan.cut.pieces if each.node == piece.node]
    border = next((each for each in plan.borders if each.node == piece.node), None)
    behind = border if piece is here[-1] else None
    words = {"link": 0.0, "host": 0.0}
    if phase == "fp":
        words["link"] = behind.forward if behind else 0.0
        words["host"] += stage.layer.inputs if piece is plan.cut.pieces[0] else 0
        words["host"] += stage.layer.outputs if piece is plan.cut.pieces[-1] else 0
    if phase == "ku":
        words["link"] = behind.backward if behind else 0.0
        words["host"] += stage.layer.outputs if piece is plan.cut.pieces[-1] else 0
    return words


ARCHITECTURE: Final = Architecture(
    name="fpdeep",
    title="FPDeep",
    paper="Geng, Wang, Sanaullah, Yang, Patel, Herbordt, FPL 2018",
    board="vc709",
    all_devices=True,
    word_bits=WORD_BITS,
    choices=(
        OwnOption(
            name="balance",
            says="weights that do not fit where they are used travel with every image (image)",
            default="none",
            kind=str,
            allowed=("none", "image"),
        ),
        OwnOption(
            name="grain",
            says="the unit of distribution: whole maps on whole units, or DSPs as in the paper",
            default="unit",
            kind=str,
            allowed=("unit", "dsp"),
        ),
        OwnOption(
            name="depth",
            says="images in flight at most; their features are kept",
            default=LATENCY,
            kind=int,
            low=1,
            high=1024,
        ),
    ),
    plan=plan,
    record=record,
    rows="merp.models.comparison.fpdeep_rows:rows",
    simulate="merp.models.comparison.fpdeep_simulated:simulated_alone",
)
