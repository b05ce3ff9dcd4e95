"""A plan of a network on a board: the engine of each layer and phase, and the cost of a step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from merp.models.base.input_part import InputPart
from merp.models.base.ordered_sum import ordered_sum
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.plan.cost import Cost, cost_of
from merp.models.machines.cnn_merp.plan.engines import PlannedEngine
from merp.models.machines.cnn_merp.plan.search import Tile
from merp.models.machines.cnn_merp.plan.words import closed_form
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.models.machines.cnn_merp.reconfiguration import (
    PROPAGATING,
    SHARES,
    bitstreams,
    least_batch,
)
from merp.models.network.network import Layer, Network
from merp.models.network.phases import NAMED, ONE_PASS, PAIR, apart, has_phase


class PassKind(NamedTuple):
    """A kind of equal passes: their number over all groups, and their maps.

    Attributes:
        passes: number of passes.
        maps: in, and out.
        part: of the input maps.
    """

    passes: int
    maps: Tile
    part: InputPart


@dataclass(frozen=True, kw_only=True)
class PlannedPhase:
    """A phase of a layer, in passes.

    Attributes:
        work: the layer and phase.
        engine: the bitstream.
        tile: maps of the largest parts.
        board: the board.
        like: the plan of a work of the same kind on the same engine, whose passes cost the same.
    """

    work: PhaseWork
    engine: PlannedEngine
    tile: Tile
    board: Board
    like: PlannedPhase | None = None

    @property
    def in_parts(self) -> int:
        """Parts of the input maps."""
        return -(-self.work.inputs // self.tile[0])

    @property
    def out_parts(self) -> int:
        """Parts of the output maps."""
        return -(-self.work.outputs // self.tile[1])

    @property
    def passes(self) -> int:
        """Number of passes of all groups."""
        return self.work.layer.groups * self.in_parts * self.out_parts

    @cached_property
    def ports(self) -> Mapping[str, int]:
        """Bytes of each port, all passes of all groups."""
        return closed_form(self.work, *self.tile) if self.like is None else self.like.ports

    @property
    def bytes(self) -> int:
        """Bytes of all ports, without velocities of momentum."""
        return sum(self.ports.values())

    @property
    def operations(self) -> int:
        """Operations of all groups and images."""
        parts = self.work.halves or (self.work,)
        return sum(each.layer.operations(self.work.images) for each in parts)

    @property
    def kinds(self) -> list[PassKind]:
        """Kinds of passes, which differ in sizes of parts or in the source of sums."""
        (in_size, out_size), work = self.tile, self.work
        in_rest = work.inputs - (self.in_parts - 1) * in_size
        out_rest = work.outputs - (self.out_parts - 1) * out_size
        if self.in_parts == 1:
            ins = [(in_rest, True, True, 1)]
        else:
            ins = [(in_size, True, False, 1), (in_size, False, False, self.in_parts - 2)]
            ins.append((in_rest, False, True, 1))
        outs = [(out_size, self.out_parts - 1), (out_rest, 1)]
        return [
            PassKind(
                work.layer.groups * in_count * out_count,
                (maps, out),
                InputPart(first, last, added=first and work.begun),
            )
            for maps, first, last, in_count in ins
            for out, out_count in outs
            if in_count * out_count
        ]

    @cached_property
    def costs(self) -> list[tuple[PassKind, Cost]]:
        """Cost of a pass of each kind."""
        if self.like is not None:
            return self.like.costs
        return [(kind, _one_pass(self.work, self.board, kind)) for kind in self.kinds]

    @cached_property
    def cycles(self) -> int:
        """Cycles of all passes, without waits for the memory."""
        return round(ordered_sum(kind.passes * float(cost.total[0]) for kind, cost in self.costs))

    @cached_property
    def seconds(self) -> float:
        """Seconds of all passes."""
        return ordered_sum(kind.passes * float(cost.seconds[0]) for kind, cost in self.costs)

    @cached_property
    def binds(self) -> str:
        """The cause of most of the time: ``units``, a port, ``kernel`` load or update,
        ``memory``.
        """
        clock = self.board.clock_mhz * 1e6
        shares = {"memory": 0.0}
        for (many, *_), cost in self.costs:
            busy = float(cost.total[0]) / clock
            if float(cost.seconds[0]) > busy * (1 + 1e-9):
                shares["memory"] += many * float(cost.seconds[0])
                continue
            slowest = max(cost.cycles, key=lambda name: float(cost.cycles[name][0]))
            slots = float(cost.cycles[slowest][0]) / clock
            shares[slowest] = shares.get(slowest, 0.0) + many * slots
            shares["kernel"] = shares.get("kernel", 0.0) + many * (busy - slots)
        return max(shares, key=lambda name: shares[name])


def _one_pass(work: PhaseWork, board: Board, kind: PassKind) -> Cost:
    """Return the cost of a pass of a kind."""
    inputs, outputs = (np.array([count]) for count in kind.maps)
    ends = (np.array([end]) for end in (kind.part.first, kind.part.last))
    return cost_of(work, board, inputs, outputs, *ends)


@dataclass(frozen=True, kw_only=True)
class NetworkPlan:
    """A network's training step on a board.

    Attributes:
        network: with a design for every layer.
        board, batch, state, goal: as requested.
        chosen: names of the designs that the planner chose.
        layers: each layer and phase, in the network's order.
        unfused: the reason why the two layers to be fused run separately; empty if they do not.
    """

    network: Network
    board: Board
    batch: int
    state: str
    goal: str
    chosen: tuple[str, ...]
    layers: tuple[PlannedPhase, ...]
    unfused: str = ""

    def of(self, layer: str, phase: str) -> PlannedPhase:
        """Return the plan of a layer's phase."""
        return self._named[layer, phase]

    @cached_property
    def _named(self) -> Mapping[tuple[str, str], PlannedPhase]:
        return {(p.work.layer.name, p.work.phase): p for p in self.layers}

    @property
    def phases(self) -> tuple[str, ...]:
        """Phases that are planned for any layer, in the order of ``NAMED``."""
        planned = {each.work.phase for each in self.layers}
        return tuple(phase for phase in NAMED if phase in planned)

    def apart(self, layers: Iterable[Layer]) -> Iterator[str]:
        """Yield the notes of ``models.network.phases.apart``, and notes on convolutions without
        this pass.

        The first note is the reason why layers to be fused run separately, for all ``layers``.
        """
        if self.unfused:
            yield self.unfused
        yield from apart(self.network, layers)
        in_one = {each.work.layer.name for each in self.layers if each.work.phase == ONE_PASS}
        for layer in layers:
            if has_phase(self.network, layer, ONE_PASS) and layer.name not in in_one:
                yield (
                    f"{layer.name} has dp and ku, because no hardware combines them, or they do "
                    f"not fit {self.board.name} whole"
                )

    @property
    def engines(self) -> tuple[PlannedEngine, ...]:
        """Each bitstream once, in the order of first use."""
        return tuple({(p.engine.name, p.engine.phase): p.engine for p in self.layers}.values())

    @property
    def loads(self) -> int:
        """Bitstreams loaded in a step."""
        runs = [(planned.engine.name, planned.work.phase) for planned in self.layers]
        turns = ((runs, ("fp", PAIR)), (runs[::-1], PROPAGATING), (runs, ("ku",)))
        return bitstreams([run for order, phases in turns for run in order if run[1] in phases])

    @property
    def computing(self) -> float:
        """Seconds of all passes of a step."""
        return ordered_sum(planned.seconds for planned in self.layers)

    def computing_of(self, batch: int) -> float:
        """Seconds of all passes of a step of another batch, in the same tiles."""
        own = {id(planned): planned for each in self.layers for planned in [each.like or each]}
        seconds = {
            key: replace(each, work=each.work.of_images(batch)).seconds for key, each in own.items()
        }
        return ordered_sum(seconds[id(each.like or each)] for each in self.layers)

    @cached_property
    def least_batches(self) -> dict[float, int | None]:
        """For each of ``SHARES`` the smallest even batch at which loads take at most this share.

        The tiles stay those of this plan. None: there is no such batch.
        """
        seconds = cache(self.computing_of)
        return {share: least_batch(share, self.loading, seconds) for share in SHARES}

    @property
    def loading(self) -> float:
        """Seconds of all bitstreams of a step."""
        return self.loads * self.board.load_seconds

    @property
    def seconds(self) -> float:
        """Seconds of a step."""
        return self.computing + self.loading

    @property
    def images_per_second(self) -> float:
        """Images per second of a step, including bitstreams."""
        return self.batch / self.seconds
