"""What a choice of a design costs: its layers' passes in all phases, as the planner plans them.

Bitstreams of choices that differ only in what a phase does not see are planned once. What a product
takes of DSP blocks changes neither passes nor memories, so that tiles are searched for with no
other limit than block RAM, and once more only where these do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from merp.models.base.errors import BadInput
from merp.models.base.formats import BINARY32
from merp.models.base.ordered_sum import ordered_sum
from merp.models.fpga.board import Board
from merp.models.fpga.resources import KINDS, Resources, capacity
from merp.models.machines.cnn_merp.explore.choices import FreeKeys, Kinds, design_of
from merp.models.machines.cnn_merp.fpga.estimate import estimate
from merp.models.machines.cnn_merp.fpga.memories import Memory
from merp.models.machines.cnn_merp.params.design import PORTS, EngineDesign
from merp.models.machines.cnn_merp.plan.automatic import made, most_luts, rings_of_rows, shapes_of
from merp.models.machines.cnn_merp.plan.candidates import cheapest, totals
from merp.models.machines.cnn_merp.plan.engines import (
    PlannedEngine,
    least_engine,
    least_logic,
    rings,
)
from merp.models.machines.cnn_merp.plan.plan import works_of
from merp.models.machines.cnn_merp.plan.search import best_tiles
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES

ADDED: Final = ("cycles", "bytes")
"""What designs of a network cost together is the sum; of all else the largest bitstream's."""

COSTS: Final = (*ADDED, *KINDS)

Costs = tuple[float, ...]
"""An element for each of ``COSTS``."""

_BOUNDLESS: Final = 1 << 40

_Known = dict[tuple[str, FreeKeys, int], Costs | None]
_Find = Callable[[str, FreeKeys], Costs | None]


def joined(one: Costs, other: Costs) -> Costs:
    """What two cost together."""
    many = len(ADDED)
    added = (a + b for a, b in zip(one[:many], other[:many], strict=True))
    return (*added, *map(max, one[many:], other[many:]))


class _Planned(NamedTuple):
    """A bitstream in the cheapest tiles that block RAM allows, one DSP block a product."""

    cycles: int
    bytes: int
    engine: PlannedEngine
    memories: list[Memory]


class DesignCosts:
    """Costs of the choices of one design of a network.

    Args:
        network: complete but for this design. name: of the design. goal: tiles are chosen for.
    """

    def __init__(
        self, network: Network, name: str, board: Board, batch: int, goal: str, state: str
    ) -> None:
        self.name, self.board, self.goal = name, board, goal
        self.layers: Sequence[Layer] = [each for each in network.layers if each.design == name]
        self._fmt, self._storage = network.fmt, network.at(self.layers[0]).storage
        self._shapes = shapes_of(self.layers)
        cu_kind = "fused" if self._fmt == BINARY32 else "tree"
        self._any = FreeKeys(1, 1, Kinds(cu_kind, 1, "position", 1), 1, 1)
        some = made(network, {name: self.design(self._any)})
        self._drafts = {phase: list(works_of(some, name, phase, batch, state)) for phase in PHASES}
        self.phases = [phase for phase in PHASES if self._drafts[phase]]
        part = replace(board.part, luts=_BOUNDLESS, flip_flops=_BOUNDLESS, dsps=_BOUNDLESS)
        self._roomy = replace(board, part=part)
        self._limits = replace(capacity(board.room), logic=int(most_luts(board)))
        self._planned: dict[tuple[str, FreeKeys], _Planned | None] = {}
        self._costs: _Known = {}
        self._bounds: _Known = {}
        self._least: dict[tuple[str, int], PlannedEngine] = {}
        self._quickest: dict[tuple[str, FreeKeys], tuple[float, float]] = {}
        self.tried = 0  # bitstreams planned

    def design(self, choice: FreeKeys) -> EngineDesign:
        """The design of a choice, sized for its layers."""
        return design_of(choice, self.layers, self._fmt, self._storage)

    def of(self, choice: FreeKeys) -> Costs | None:
        """What a choice costs; None if one of its bitstreams does not fit the board."""
        return self._together(choice, self._costs, self._bitstream)

    def bound(self, choice: FreeKeys) -> Costs | None:
        """No more than a choice costs, of each; None if it is seen at once that it does not fit.

        Cycles and bytes of the best tiles of a part with any amount of block RAM, at the widest
        ports; logic of the least engine without its memories.
        """
        return self._together(choice, self._bounds, self._bound)

    def _together(self, choice: FreeKeys, known: _Known, find: _Find) -> Costs | None:
        """Of the bitstreams of all phases, each found once."""
        together: Costs = (0.0,) * len(COSTS)
        for phase in self.phases:
            seen = phase, self._seen(phase, choice), choice.kinds.fused_dsp
            if seen not in known:
                known[seen] = find(phase, choice)
            found = known[seen]
            if found is None:
                return None
            together = joined(together, found)
        return together

    def _works(self, phase: str, choice: FreeKeys) -> list[PhaseWork]:
        engine = rings(self.design(choice), phase, self._drafts[phase])
        return [replace(draft, engine=engine) for draft in self._drafts[phase]]

    def _bitstream(self, phase: str, choice: FreeKeys) -> Costs | None:
        seen = self._seen(phase, choice)
        if (phase, seen) not in self._planned:
            self.tried += 1
            self._planned[phase, seen] = self._plan(phase, seen, self._roomy)
        planned = self._planned[phase, seen]
        if planned is None:
            return None
        taken = self._resources(planned, phase, choice)
        if not self._fits(taken) and not self._fits(replace(taken, memory=0)):
            return None
        if any(taken.figures()[kind] > capacity(self.board.room).figures()[kind] for kind in KINDS):
            planned = self._plan(phase, choice, self.board)
            if planned is None:
                return None
            taken = self._resources(planned, phase, choice)
        if not self._fits(taken):
            return None
        return (planned.cycles, planned.bytes, *taken.figures().values())

    def _seen(self, phase: str, choice: FreeKeys) -> FreeKeys:
        """The choice with what a phase does not see as it goes without saying."""
        kinds = choice.kinds._replace(fused_dsp=1)
        if not PHASES[phase].updates:
            kinds = kinds._replace(ku_kind="position", ku_lanes=1)
        # Behind forward propagation the positions in turn matter only by the rings that they ask.
        rings = (rings_of_rows(self._shapes, positions) for positions in (1, 2))
        alike = PHASES[phase].backward and next(rings) == next(rings)
        return choice._replace(kinds=kinds, p=1 if alike else choice.p)

    def _plan(self, phase: str, choice: FreeKeys, board: Board) -> _Planned | None:
        try:
            works = self._works(phase, choice)
            engine, tiles = best_tiles(self.name, works, board, self.goal)
        except (BadInput, ValueError):
            return None
        moved = seconds = 0.0
        for work, (inputs, outputs) in zip(works, tiles, strict=True):
            each = totals(work, self.board, *map(np.array, ([[inputs]], [outputs])))
            moved, seconds = moved + float(each[0][0, 0]), seconds + float(each[1][0, 0])
        return _Planned(self._cycles(seconds), round(moved), engine, engine.memories)

    def _cycles(self, seconds: float) -> int:
        return round(seconds * self.board.clock_mhz * 1e6)

    def _resources(self, planned: _Planned, phase: str, choice: FreeKeys) -> Resources:
        engine = planned.engine
        design = replace(engine.design, fused_dsp=choice.kinds.fused_dsp)
        return estimate(design, phase, planned.memories, engine.unpool, engine.add_unpool)

    def _fits(self, taken: Resources) -> bool:
        limits = self._limits.figures()
        return all(taken.figures()[kind] <= limits[kind] for kind in KINDS)

    def _bound(self, phase: str, choice: FreeKeys) -> Costs | None:
        least = self._smallest(phase, choice.n_cu)
        try:
            design = replace(
                least.design,
                kernel_port=choice.kernel_port,
                map_port=choice.map_port,
                **choice.kinds._asdict(),
            )
        except ValueError:  # ports that folded layers or the format do not allow
            return None
        taken = least_logic(replace(least, design=design))
        if not self._fits(taken):
            return None
        return (*self._quick(phase, choice), *taken.figures().values())

    def _smallest(self, phase: str, units: int) -> PlannedEngine:
        """The engine of one map in and one map out."""
        if (phase, units) not in self._least:
            works = self._works(phase, self._any._replace(n_cu=units))
            self._least[phase, units] = least_engine(self.name, works)
        return self._least[phase, units]

    def _quick(self, phase: str, choice: FreeKeys) -> tuple[float, float]:
        """Least cycles and bytes at the widest ports, with any amount of block RAM."""
        seen = self._seen(phase, choice)._replace(kernel_port=PORTS[-1], map_port=PORTS[-1])
        if (phase, seen) not in self._quickest:
            works = self._works(phase, seen)
            kinds = {work.kind: work for work in works}
            least = {kind: cheapest(work, self.board) for kind, work in kinds.items()}
            moved, seconds = map(
                ordered_sum, zip(*(least[work.kind] for work in works), strict=True)
            )
            self._quickest[phase, seen] = self._cycles(seconds), moved
        return self._quickest[phase, seen]
