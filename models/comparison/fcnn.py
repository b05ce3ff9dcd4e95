"""F-CNN as a comparison record: one module for each layer and direction, loaded in turn.

Maps, deltas and partial sums are in the card's DRAM. Weights are on the host, which updates them.
With several cards, a module's input crosses PCI-E, and one card is loaded while another one
computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor, inf
from typing import Final

from merp.models.base.errors import BadInput
from merp.models.base.ordered_sum import ordered_sum
from merp.models.base.shape import Shape
from merp.models.comparison import of_board
from merp.models.comparison.architecture import Architecture, OwnOption
from merp.models.comparison.branchless import chained
from merp.models.comparison.costs import KINDS, units
from merp.models.comparison.fcnn_paper import ALEXNET
from merp.models.comparison.figure import Figure, derived
from merp.models.comparison.options import Options
from merp.models.comparison.record import Device, PhaseRow, Record
from merp.models.fpga.board import Board
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES, has_phase
from merp.models.papers.fcnn.convolution import (
    LANES,
    ConvolutionTask,
    DramWords,
    Kernels,
    bounds,
    cycles,
    resources,
    words,
)
from merp.models.papers.fcnn.others import KERNELS, SIDE, full_cycles, pool_cycles
from merp.models.papers.fcnn.resources import STRATIX_V, BlockResources, Costs, full_module
from merp.models.papers.fcnn.schedule import round_seconds, seconds

WORD_BITS: Final = 32


@dataclass(frozen=True)
class PhaseCost:
    """Cost of a module in a phase: cycles of a batch, and words by class of bytes."""

    phase: str
    cycles: float
    words: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class ModuleCost:
    """A bitstream, and its cost for a batch.

    Attributes:
        kernels: Nk and its factors.
        binds: the resource that limits the number of kernels.
        multipliers: of all kernels.
        crossing: words that cross from the card of the module before.
    """

    layer: str
    parts: tuple[PhaseCost, ...]
    kernels: Kernels
    binds: str
    multipliers: int
    resources: BlockResources
    crossing: int

    @property
    def cycles(self) -> float:
        """Cycles of a batch, with its phases in sequence."""
        return ordered_sum(part.cycles for part in self.parts)


@dataclass(frozen=True, kw_only=True)
class ModuleSequence:
    """Modules in the order in which they are loaded.

    Attributes:
        word_bits: of all words.
    """

    network: Network
    board: Board
    options: Options
    word_bits: int
    layers: tuple[Layer, ...]
    modules: tuple[ModuleCost, ...]

    @property
    def accumulate(self) -> int:
        """Number of batches for which a module is loaded once."""
        return int(str(self.options.extra["accumulate"]))

    @property
    def cards(self) -> int:
        """Number of cards; one is loaded while another one computes."""
        return self.board.devices

    def seconds(self) -> list[float]:
        """Return the seconds of each module with a batch; with several cards, including its input's
        transfer.
        """
        hertz, size = self.board.clock_mhz * 1e6, self.word_bits / 8
        rate = _host_rate(self.board).value * 1e9 if self.cards > 1 else inf
        return [each.cycles / hertz + each.crossing * size / rate for each in self.modules]

    def interval(self) -> float:
        """Return the seconds from batch to batch."""
        times = [self.accumulate * each for each in self.seconds()]
        return round_seconds(times, self.cards, self.board.load_seconds) / self.accumulate


def plan(network: Network, board: Board, options: Options) -> ModuleSequence:
    """Choose the kernels of every module.

    Raises:
        BadInput: the network is not a chain, no kernel of a layer fits, or no host connects the
            cards.
    """
    layers = tuple(chained(network, options, "fcnn"))
    if board.devices > 1:
        _host_rate(board)
    word_bits = options.word_bits or WORD_BITS
    card = _Card(board, options, word_bits, _costs(board, options, layers, word_bits))
    forward = [module for layer in layers for module in card.forward(layer)]
    backward = [
        module
        for layer in reversed(layers)
        for module in card.backward(
            layer, _backward_phases(network, layer), first=layer is network.layers[0]
        )
    ]
    return ModuleSequence(
        network=network,
        board=board,
        options=options,
        word_bits=word_bits,
        layers=layers,
        modules=(*forward, *backward),
    )


def _backward_phases(network: Network, layer: Layer) -> tuple[str, ...]:
    """Return the backward phases of a layer, in the order of their parts in a module."""
    return tuple(phase for phase in ("dp", "ku") if has_phase(network, layer, phase))


def _costs(board: Board, options: Options, layers: tuple[Layer, ...], word_bits: int) -> Costs:
    """Return the paper's costs, or costs of our units: a tap of the most expensive kernel, no
    control.
    """
    if options.costs == "paper":
        return STRATIX_V
    found = [(layer.shape.taps, units(word_bits, layer.shape.k)) for layer in layers]
    lut, ff, dsp = (max(unit[kind].value / taps for taps, unit in found) for kind in KINDS)
    tap = BlockResources(lut, ff, dsp, 0)
    none = BlockResources(0, 0, 0, 0)
    return Costs(control=none, tap=tap, activation=none, block_bits=board.part.block_bits)


@dataclass(frozen=True)
class _Card:
    """A card, and modules for it."""

    board: Board
    options: Options
    word_bits: int
    costs: Costs

    @property
    def limit(self) -> BlockResources:
        """Resources that a module may use."""
        room = self.board.room
        return BlockResources(room.luts, room.flip_flops, room.dsps, room.block_rams)

    @property
    def words_per_cycle(self) -> float:
        """Words that DRAM moves in a cycle."""
        return self.board.bytes_per_cycle * 8 / self.word_bits

    def forward(self, layer: Layer) -> list[ModuleCost]:
        """Return the modules of FP."""
        if layer.kind == "fc":
            return [self._full(layer, ("fp",))]
        pooled = [self._pool(layer, "fp")] if layer.shape.pool else []
        return [self._convolution(layer, ("fp",), layer.inputs), *pooled]

    def backward(self, layer: Layer, phases: tuple[str, ...], *, first: bool) -> list[ModuleCost]:
        """Return the modules of DP and KU; un-pooling counts in KU, or in DP of a frozen layer."""
        if not phases:
            return []
        if layer.kind == "fc":
            return [self._full(layer, phases)]
        pooled = [self._pool(layer, phases[-1])] if layer.shape.pool else []
        error = first and bool(self.options.extra["first_dp"])
        crossing = layer.sums + layer.inputs
        return [*pooled, self._convolution(layer, phases, crossing, error=error)]

    def _convolution(
        self, layer: Layer, phases: tuple[str, ...], crossing: int, *, error: bool = False
    ) -> ModuleCost:
        tasks = {phase: _task(layer.shape, phase, self.options.batch) for phase in phases}
        updates = any(PHASES[phase].updates for phase in phases)
        buffers = 2 if updates else 1
        main = tasks[phases[-1]]
        kernels, binds = self._kernels(layer, main, buffers)
        parts = [self._part(layer, phase, task, kernels) for phase, task in tasks.items()]
        if error:
            task = _task(layer.shape, "dp", self.options.batch)
            more = layer.groups * cycles(task, kernels, self.words_per_cycle)
            parts = [replace(parts[0], cycles=parts[0].cycles + more)]
        return ModuleCost(
            layer=layer.name,
            parts=tuple(parts),
            kernels=kernels,
            binds=binds,
            multipliers=kernels.count * layer.shape.taps,
            resources=resources(main, kernels.count, self.costs, buffers, self.word_bits),
            crossing=crossing * self.options.batch,
        )

    def _part(self, layer: Layer, phase: str, task: ConvolutionTask, kernels: Kernels) -> PhaseCost:
        moved = words(task, kernels, task.n * _map_words(layer.shape, phase))
        spent = layer.groups * cycles(task, kernels, self.words_per_cycle)
        return PhaseCost(phase, spent, _words(layer, phase, moved, task.images))

    def _kernels(self, layer: Layer, task: ConvolutionTask, buffers: int) -> tuple[Kernels, str]:
        """Return Nk of a module: the paper's for the paper's own layers, else the largest useful
        one.

        If DRAM limits Nk, more kernels can still fit next to a buffer of twice the size, from which
        words are reused. These kernels also wait for DRAM.
        """
        found = self._bounds(task, buffers)
        bound = min(found, key=found.__getitem__)
        own = _papers(layer, task) if self.board.part.name == "5SGSD8" else None
        if own is not None and buffers == 1:
            return Kernels.of(own), bound
        doubled = self._bounds(task, 2)
        reusing = min(most for name, most in doubled.items() if name != "DRAM")
        most = floor(max(found[bound], reusing))
        if most < 1:
            self._refuse(layer, resources(task, 1, self.costs, buffers, self.word_bits))
        lanes = max(
            n for n in range(1, LANES + 1) if n <= most and not (LANES % n or task.images % n)
        )
        split = [Kernels(lanes, maps) for maps in range(1, min(most // lanes, task.m) + 1)]
        return min(split, key=lambda each: cycles(task, each, self.words_per_cycle)), bound

    def _bounds(self, task: ConvolutionTask, buffers: int) -> Mapping[str, float]:
        limit, rate = self.limit, self.words_per_cycle
        return bounds(task, self.costs, limit, rate, self.word_bits, buffers)

    def _refuse(self, layer: Layer, need: BlockResources) -> None:
        name = need.exceeded(self.limit)
        raise BadInput(
            f"layer {layer.name}: fcnn: one kernel of {layer.shape.k} x {layer.shape.k} needs "
            f"{getattr(need, name):.0f} {name.upper()}: board {self.board.name} has "
            f"{getattr(self.limit, name):.0f}"
        )

    def _pool(self, layer: Layer, phase: str) -> ModuleCost:
        images = self.options.batch
        moved = {"maps": (layer.sums + layer.outputs) * images}
        if PHASES[phase].backward:
            moved["state"] = layer.sums * images
        crossing = layer.sums + (0 if PHASES[phase].forward else layer.outputs)
        return ModuleCost(
            layer=layer.name,
            parts=(PhaseCost(phase, pool_cycles(layer.sums * images, KERNELS), moved),),
            kernels=Kernels(LANES, KERNELS // LANES),
            binds="DRAM",
            multipliers=0,
            resources=self.costs.control,
            crossing=crossing * images,
        )

    def _full(self, layer: Layer, phases: tuple[str, ...]) -> ModuleCost:
        shape, images = layer.shape, self.options.batch
        forward = all(PHASES[phase].forward for phase in phases)
        kernels = KERNELS
        while kernels and self._full_resources(kernels, shape.n).exceeded(self.limit):
            kernels -= 1
        if not kernels:
            self._refuse(layer, self._full_resources(1, shape.n))
        spent = full_cycles(shape.n, shape.m, images, kernels, self.words_per_cycle)
        maps = {"maps": (shape.n + shape.m) * images}
        return ModuleCost(
            layer=layer.name,
            parts=tuple(
                PhaseCost(each, spent, maps | {"host": _host(layer, each)}) for each in phases
            ),
            kernels=Kernels(1, kernels),
            binds="BRAM",
            multipliers=kernels * SIDE**2,
            resources=self._full_resources(kernels, shape.n),
            crossing=(shape.n + (0 if forward else shape.m)) * images,
        )

    def _full_resources(self, kernels: int, inputs: int) -> BlockResources:
        return full_module(self.costs, kernels, SIDE, inputs, self.word_bits, activations=0)


def _task(shape: Shape, phase: str, images: int) -> ConvolutionTask:
    """Return one group's convolution; the error task has as many passes as the larger of its
    maps.
    """
    if PHASES[phase].propagates:
        rows, columns = max(shape.rows, shape.out_rows), max(shape.columns, shape.out_columns)
        return ConvolutionTask(
            n=shape.m, m=shape.n, k=shape.k, rows=rows, columns=columns,
            out_rows=shape.rows, out_columns=shape.columns, images=images,
        )  # fmt: skip
    return ConvolutionTask(
        n=shape.n, m=shape.m, k=shape.k, stride=shape.stride, rows=shape.padded_rows,
        columns=shape.padded_columns, out_rows=shape.out_rows, out_columns=shape.out_columns,
        images=images,
    )  # fmt: skip


def _papers(layer: Layer, task: ConvolutionTask) -> int | None:
    """Return Nk of table II, if a group of the layer is one of its rows."""
    for row in ALEXNET.values():
        same = ("n", "m", "k", "stride", "out_rows", "out_columns")
        if all(getattr(row.task, each) == getattr(task, each) for each in same):
            return row.kernels
    return None


def _map_words(shape: Shape, phase: str) -> int:
    """Return the words of one streamed map."""
    deltas = shape.out_rows * shape.out_columns
    return deltas if PHASES[phase].propagates else shape.rows * shape.columns


def _words(layer: Layer, phase: str, moved: DramWords, images: int) -> dict[str, int]:
    """Return the words of all groups. Gradients stay on the chip while maps and deltas are
    streamed.
    """
    groups = layer.groups
    found = {"host": _host(layer, phase)}
    if PHASES[phase].updates:
        deltas = layer.sums * images
        found["maps"] = groups * moved.inputs + deltas
        found["again"] = groups * moved.again + (layer.shape.n - 1) * deltas
        return found
    found["maps"] = groups * (moved.inputs + moved.sums)
    found["again"] = groups * moved.again
    found["partial"] = groups * (moved.partial_in + moved.partial_out)
    return found


def _host(layer: Layer, phase: str) -> int:
    """Return the words of kernels sent to the card or gradients read from it; biases where they are
    used.
    """
    return layer.kernels + (0 if PHASES[phase].propagates else layer.biases)


def record(plan: ModuleSequence) -> Record:
    """Return the cost of a plan."""
    board, options = plan.board, plan.options
    clock, load = of_board.clock(board), of_board.load_seconds(board)
    host = [_host_rate(board)] if plan.cards > 1 else []
    computing = derived(
        ordered_sum(plan.seconds()), Figure(0, "model"), clock, of_board.memory(board), *host
    )
    interval = plan.interval()
    first = seconds([plan.accumulate * each for each in plan.seconds()], plan.cards, load.value)
    return Record(
        architecture=ARCHITECTURE.name,
        network=plan.network.name,
        board=board.name,
        part=board.part.name,
        options=ARCHITECTURE.json_options(options.plain()),
        scope=options.scope,
        batch=options.batch,
        word_bits=plan.word_bits,
        accumulator_bits=plan.word_bits,
        clock_mhz=clock,
        memory_gbs=of_board.memory(board),
        devices=tuple(_device(plan, card) for card in range(plan.cards)),
        limits=of_board.limits(board),
        block_bits=board.part.block_bits,
        rows=_rows(plan),
        own=("maps", "again", "partial"),
        multipliers=Figure(plan.cards * max(each.multipliers for each in plan.modules), "formula"),
        latency_s=derived(first / plan.accumulate, computing, load),
        interval_s=derived(interval, computing, load),
        reconfiguration_s=derived(max(0.0, round(interval - computing.value, 12)), load),
        power_w=of_board.power(board),
        notes=_notes(plan),
    )


def _host_rate(board: Board) -> Figure:
    if board.host_gbytes_s is None:
        raise BadInput(f"board {board.name}: host is missing: fcnn connects its cards by the host")
    return of_board.figure(board, "host: gbytes_s", board.host_gbytes_s)


def _device(plan: ModuleSequence, card: int) -> Device:
    """Return the largest use of each resource among the modules of a card."""
    own = plan.modules[card :: plan.cards]
    if not own:
        return Device()
    level = "formula" if plan.options.costs == "paper" else "synthesised"
    return Device(
        used={
            kind: Figure(max(getattr(module.resources, kind) for module in own), level)
            for kind in ("lut", "ff", "bram", "dsp")
        }
    )


def _rows(plan: ModuleSequence) -> tuple[PhaseRow, ...]:
    """Return a row for each layer and phase: all its modules, on the card of the multiplying
    module.
    """
    found: dict[tuple[str, str], list[tuple[int, ModuleCost, PhaseCost]]] = {}
    for place, module in enumerate(plan.modules):
        for part in module.parts:
            found.setdefault((module.layer, part.phase), []).append((place, module, part))
    return tuple(_row(plan, *key, own) for key, own in found.items())


def _row(
    plan: ModuleSequence, name: str, phase: str, own: list[tuple[int, ModuleCost, PhaseCost]]
) -> PhaseRow:
    place, main, _ = max(own, key=lambda each: each[1].multipliers)
    moved: Counter[str] = Counter()
    for _, _, part in own:
        moved.update(part.words)
    (layer,) = (each for each in plan.layers if each.name == name)
    return PhaseRow(
        device=place % plan.cards,
        layer=name,
        phase=phase,
        cycles=Figure(ordered_sum(part.cycles for _, _, part in own), "model"),
        macs=layer.operations(plan.options.batch) // 2,
        bytes={
            kind: Figure(count * plan.word_bits // 8, "formula") for kind, count in moved.items()
        },
        runs_as=f"Nk {main.kernels.count} = {main.kernels.lanes} x {main.kernels.maps}",
        binds=main.binds,
    )


def _notes(plan: ModuleSequence) -> tuple[str, ...]:
    notes = ["the host's update and its transfers of weights are not timed"]
    if plan.board.power_w is not None:
        notes.append("the power is that of all cards, although one card works at a time")
    if plan.accumulate > 1:
        notes.append(
            f"each module is loaded once for {plan.accumulate} batches: the effective batch is "
            f"{plan.accumulate * plan.options.batch}"
        )
    if plan.options.costs == "ours":
        notes.append("stream control is left out of the resources")
    return tuple(notes)


ARCHITECTURE: Final = Architecture(
    name="fcnn",
    title="F-CNN",
    paper="Zhao, Fu, Luk, Yu, Wang, Feng, Ma, Yang, ASAP 2016",
    board="maia",
    word_bits=WORD_BITS,
    hardware="fcnn",
    choices=(
        OwnOption(
            name="accumulate",
            says="batches for which a module is loaded once; their gradients are summed",
            default=1,
            kind=int,
            low=1,
            high=1 << 20,
            former=("group",),
        ),
        OwnOption(
            name="first_dp",
            says="the error task of the first layer is computed, as table V counts it",
            default=False,
            kind=bool,
        ),
    ),
    plan=plan,
    record=record,
    rows="merp.models.comparison.fcnn_rows:rows",
)
