"""The cost of a choice of a design: the planned passes of its layers in all phases.

Two choices may differ only in keys that do not affect a phase. The bitstream of that phase is then
planned once. The DSP blocks of a product change neither passes nor memories. Therefore tiles are
searched with block RAM as the only limit. The search is repeated only if these tiles do not fit the
board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from operator import le
from typing import Any, Final, NamedTuple

import numpy as np

from merp.models.base.errors import BadInput
from merp.models.base.formats import BINARY32
from merp.models.fpga.board import Board
from merp.models.fpga.resources import KINDS, Resources, capacity
from merp.models.machines.cnn_merp.explore.choices import FreeKeys, Kinds, design_of
from merp.models.machines.cnn_merp.fpga.estimate import estimate
from merp.models.machines.cnn_merp.fpga.memories import Memory
from merp.models.machines.cnn_merp.params.design import PORTS, EngineDesign
from merp.models.machines.cnn_merp.plan.automatic import (
    design_for,
    made,
    most_luts,
    rings_of_rows,
    shapes_of,
)
from merp.models.machines.cnn_merp.plan.cheapest import cheapest
from merp.models.machines.cnn_merp.plan.distinct import Distinct, distinct
from merp.models.machines.cnn_merp.plan.engines import (
    PlannedEngine,
    bare,
    least_engine,
    least_memories,
    rings,
)
from merp.models.machines.cnn_merp.plan.plan import works_of
from merp.models.machines.cnn_merp.plan.search import best_priced
from merp.models.machines.cnn_merp.plan.sized import Sized
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES

ADDED: Final = ("cycles", "bytes")
"""Costs that are summed over the designs of a network; of the others, the largest bitstream
counts.
"""

COSTS: Final = (*ADDED, *KINDS)

Costs = tuple[float, ...]
"""An element for each of ``COSTS``."""

_BOUNDLESS: Final = 1 << 40

_Key = tuple[str, FreeKeys, int, int]
_Known = dict[_Key, Costs | None]
_Find = Callable[[str, FreeKeys], Costs | None]

_SHARED: Final = ("dp", "fp", "ku")
"""Phases, ordered by how many choices share a bitstream: a costly one excludes many choices."""


def joined(one: Costs, other: Costs) -> Costs:
    """Return the joint costs of two designs or bitstreams."""
    many = len(ADDED)
    added = (a + b for a, b in zip(one[:many], other[:many], strict=True))
    return (*added, *map(max, one[many:], other[many:]))


class _Planned(NamedTuple):
    """A bitstream in the cheapest tiles that block RAM allows, with one DSP block per product."""

    cycles: int
    bytes: int
    engine: PlannedEngine
    memories: list[Memory]


class DesignCosts:
    """Costs of the choices of one design of a network.

    Args:
        network: complete except for this design.
        name: of the design.
        goal: of the search for tiles.
        units: numbers of units that most choices have; any other number is priced individually.
    """

    def __init__(
        self, network: Network, name: str, board: Board, batch: int, goal: str, state: str,
        units: Sequence[int],
    ) -> None:  # fmt: skip
        self.name, self.board, self.goal = name, board, goal
        self.layers: Sequence[Layer] = [each for each in network.layers if each.design == name]
        self._fmt, self._storage = network.fmt, network.at(self.layers[0]).storage
        self._units = units
        shapes = shapes_of(self.layers)
        taps = shapes[0].k ** 2
        # A port as wide as a kernel transfers it in one beat. A wider port is not faster.
        self._ports = {port: next(p for p in PORTS if p >= min(port, taps)) for port in PORTS}
        self._rings = {positions: rings_of_rows(shapes, positions) for positions in (1, 2)}
        # In backward phases the number of interleaved positions changes only the rings of rows.
        self._alike_in_turn = [
            phase for phase in PHASES if PHASES[phase].backward and self._rings[1] == self._rings[2]
        ]
        self._kinds: dict[tuple[str, Kinds], Kinds] = {}
        self._bases: dict[int, EngineDesign] = {}
        cu_kind = "fused" if self._fmt == BINARY32 else "tree"
        self._any = FreeKeys(1, 1, Kinds(cu_kind, 1, "position", 1), 1, 1)
        some = made(network, {name: self.design(self._any)})
        works = {phase: list(works_of(some, name, phase, batch, state)) for phase in PHASES}
        self._drafts = {phase: distinct(each) for phase, each in works.items() if each}
        self.phases = list(self._drafts)
        part = replace(board.part, luts=_BOUNDLESS, flip_flops=_BOUNDLESS, dsps=_BOUNDLESS)
        self._roomy = replace(board, part=part)
        self._limits = tuple(
            replace(capacity(board.room), logic=int(most_luts(board))).figures().values()
        )
        self._of_kinds: dict[tuple[str, Kinds], Distinct] = {}
        self._engines: dict[tuple[str, FreeKeys], EngineDesign] = {}
        self._planned: dict[tuple[str, FreeKeys], _Planned | None] = {}
        self._costs: _Known = {}
        self._bounds: _Known = {}
        self._closer: _Known = {}
        self._fixed: dict[tuple[str, FreeKeys], tuple[int, int]] = {}
        self._least: dict[tuple[str, int, tuple[object, ...]], PlannedEngine] = {}
        self._quickest: dict[tuple[str, FreeKeys], tuple[int, float]] = {}
        self.tried = 0  # bitstreams planned

    def design(self, choice: FreeKeys) -> EngineDesign:
        """Return the design of a choice, sized for its layers."""
        if choice.n_cu not in self._bases:
            base = design_for(self.layers, choice.n_cu, self._fmt, self._storage)
            self._bases[choice.n_cu] = base
        return design_of(choice, self._bases[choice.n_cu], self._rings[choice.p])

    def of(self, choice: FreeKeys) -> Costs | None:
        """Return the cost of a choice; None if one of its bitstreams does not fit the board."""
        return None if self.bound(choice) is None else self._together(choice, self.exact)

    def bound(self, choice: FreeKeys) -> Costs | None:
        """Return lower bounds of the costs of a choice; None if it obviously does not fit.

        Cycles and bytes are those of the best tiles with unlimited block RAM, at the widest ports.
        Logic is that of the smallest engine without its memories.
        """
        return self._together(choice, partial(self._once, self._bounds, self._bound))

    def so_far(self, choice: FreeKeys) -> tuple[Costs | None, str | None]:
        """Return lower bounds of the costs of a choice from all known plans, and an unplanned
        phase.

        Bitstreams without a plan count as in ``bound``, but with their own ports and minimum
        memories. The costs are None if the choice does not fit. The phase is None if all are
        planned.
        """
        ahead = None

        def find(phase: str, choice: FreeKeys) -> Costs | None:
            nonlocal ahead
            if self._key(phase, choice) in self._costs:
                return self.exact(phase, choice)
            if ahead is None or _SHARED.index(phase) < _SHARED.index(ahead):
                ahead = phase
            return self._once(self._closer, self._closer_bound, phase, choice)

        return self._together(choice, find), ahead

    def exact(self, phase: str, choice: FreeKeys) -> Costs | None:
        """Return the cost of the bitstream of a phase; None if it does not fit the board."""
        return self._once(self._costs, self._bitstream, phase, choice)

    def _together(self, choice: FreeKeys, find: _Find) -> Costs | None:
        """Return the joint costs of the bitstreams of all phases."""
        together: Costs = (0.0,) * len(COSTS)
        for phase in self.phases:
            found = find(phase, choice)
            if found is None:
                return None
            together = joined(together, found)
        return together

    def _once(self, known: _Known, find: _Find, phase: str, choice: FreeKeys) -> Costs | None:
        """Compute a result once for all choices that do not differ for a phase."""
        key = self._key(phase, choice)
        if key not in known:
            known[key] = find(phase, choice)
        return known[key]

    def _key(self, phase: str, choice: FreeKeys) -> _Key:
        return phase, self._seen(phase, choice), choice.kernel_port, choice.kinds.fused_dsp

    def _works(self, phase: str, choice: FreeKeys) -> Distinct:
        return self._alike(phase, choice.kinds).on(self._engine(phase, choice))

    def _alike(self, phase: str, kinds: Kinds) -> Distinct:
        """Return the works of a phase on one of the engines of a kind."""
        if (phase, kinds) not in self._of_kinds:
            # The kind of an update's sums determines how many images form a row of a folded layer.
            engine = self._engine(phase, self._any._replace(kinds=kinds))
            drafts = self._drafts[phase]
            works = [replace(draft, engine=engine) for draft in drafts.works]
            self._of_kinds[phase, kinds] = drafts._replace(works=works)
        return self._of_kinds[phase, kinds]

    def _engine(self, phase: str, choice: FreeKeys) -> EngineDesign:
        if (phase, choice) not in self._engines:
            engine = rings(self.design(choice), phase, self._drafts[phase].works)
            self._engines[phase, choice] = engine
        return self._engines[phase, choice]

    def _bitstream(self, phase: str, choice: FreeKeys) -> Costs | None:
        seen = self._seen(phase, choice)
        if (phase, seen) not in self._planned:
            self.tried += 1
            self._planned[phase, seen] = self._plan(phase, seen, self._roomy)
        planned = self._planned[phase, seen]
        if planned is None:
            return None
        taken = self._resources(planned, phase, choice)
        logic = replace(taken, memory=0)
        if not self._fits(taken.figures().values()) and not self._fits(logic.figures().values()):
            return None
        if any(taken.figures()[kind] > capacity(self.board.room).figures()[kind] for kind in KINDS):
            planned = self._plan(phase, choice, self.board)
            if planned is None:
                return None
            taken = self._resources(planned, phase, choice)
        if not self._fits(taken.figures().values()):
            return None
        return (planned.cycles, planned.bytes, *taken.figures().values())

    def _seen(self, phase: str, choice: FreeKeys) -> FreeKeys:
        """Return the choice with default values for the keys that do not affect a phase."""
        n_cu, p, kinds, kernel_port, map_port = choice
        if phase in self._alike_in_turn:
            p = 1
        if (phase, kinds) not in self._kinds:
            update = kinds[2:] if PHASES[phase].updates else ("position", 1)
            self._kinds[phase, kinds] = Kinds(kinds.cu_kind, 1, *update)
        return FreeKeys(n_cu, p, self._kinds[phase, kinds], self._ports[kernel_port], map_port)

    def _plan(self, phase: str, choice: FreeKeys, board: Board) -> _Planned | None:
        try:
            works = self._works(phase, choice)
            found = best_priced(self.name, works, board, self.goal)
        except (BadInput, ValueError):
            return None
        engine = found.engine
        return _Planned(self._cycles(found.seconds), round(found.bytes), engine, engine.memories)

    def _cycles(self, seconds: float) -> int:
        return round(seconds * self.board.clock_mhz * 1e6)

    def _resources(self, planned: _Planned, phase: str, choice: FreeKeys) -> Resources:
        engine = planned.engine
        design = replace(
            engine.design, fused_dsp=choice.kinds.fused_dsp, kernel_port=choice.kernel_port
        )
        return estimate(design, phase, planned.memories, engine.unpool, engine.add_unpool)

    def _fits(self, taken: Iterable[float]) -> bool:
        """Return whether the board has enough of each of ``KINDS``."""
        return all(map(le, taken, self._limits))

    def _bound(self, phase: str, choice: FreeKeys) -> Costs | None:
        """Find the bounds of all choices that differ from this one only in their units."""
        choices = self._of_all_units(choice)
        found = zip(choices, self._logic(phase, choices), strict=True)
        for each, logic in found:
            bound = None
            if logic is not None and self._fits(logic):
                widest = each._replace(kernel_port=PORTS[-1], map_port=PORTS[-1])
                bound = *self._quick(phase, widest), *logic
            self._bounds[self._key(phase, each)] = bound
        return self._bounds[self._key(phase, choice)]

    def _closer_bound(self, phase: str, choice: FreeKeys) -> Costs | None:
        """Return the bound with the engine's minimum memories, for a choice that has a bound."""
        bound = self._once(self._bounds, self._bound, phase, choice)
        assert bound is not None
        *_, lut, ff, bram, dsp = bound
        luts, halves = self._memories(phase, self._seen(phase, choice))
        taken = lut + luts, ff, bram + halves / 2, dsp
        return (*self._quick(phase, choice), *taken) if self._fits(taken) else None

    def _memories(self, phase: str, seen: FreeKeys) -> tuple[int, int]:
        """Return LUT and RAMB18 of the minimum memories of an engine."""
        if (phase, seen) not in self._fixed:
            engine = self._smallest(phase, seen)
            design = self._with_choice(engine.design, seen, p=self._engine(phase, seen).p)
            memories = least_memories(replace(engine, design=design))
            found = sum(each.luts for each in memories), sum(each.halves for each in memories)
            self._fixed[phase, seen] = found
        return self._fixed[phase, seen]

    def _logic(self, phase: str, choices: Sequence[FreeKeys]) -> list[tuple[float, ...] | None]:
        """Return the logic of the smallest engines of choices that differ only in their units.

        An element is None if the format or folded layers do not allow the ports.
        """
        try:
            engines = [self._smallest(phase, choice) for choice in choices]
            design = self._with_choice(engines[0].design, choices[0])
        except ValueError:
            return [None] * len(choices)
        units = np.array([choice.n_cu for choice in choices])
        lanes = np.array([engine.design.r for engine in engines], np.float64)
        beat = np.gcd(units, design.map_port)
        several: Any = Sized(design, n_cu=units.astype(np.float64), r=lanes, delta_beat=beat)
        taken = replace(engines[0], design=several).logic.figures()
        columns = (np.broadcast_to(taken[kind], units.shape).tolist() for kind in KINDS)
        return list(zip(*columns, strict=True))

    @staticmethod
    def _with_choice(design: EngineDesign, choice: FreeKeys, **others: Any) -> EngineDesign:
        """Return the design with the ports and kinds of a choice.

        Raises:
            ValueError: the format or the folded layers do not allow the ports.
        """
        others |= choice.kinds._asdict()
        return replace(design, kernel_port=choice.kernel_port, map_port=choice.map_port, **others)

    def _of_all_units(self, choice: FreeKeys) -> list[FreeKeys]:
        """Return the choice with each usual number of units, or only the choice if its own is
        unusual.
        """
        units = self._units if choice.n_cu in self._units else [choice.n_cu]
        return [choice._replace(n_cu=count) for count in units]

    def _smallest(self, phase: str, choice: FreeKeys) -> PlannedEngine:
        """Return the engine of one map in and one map out, with the least logic for tiles of any
        size.

        It has the units of the choice and the kind of an update's sums, but not the ports.
        """
        kinds = self._seen(phase, choice).kinds
        key = phase, choice.n_cu, kinds[2:]
        if key not in self._least:
            kinds = kinds._replace(cu_kind=self._any.kinds.cu_kind)
            like = self._any._replace(n_cu=choice.n_cu, kinds=kinds)
            self._least[key] = bare(least_engine(self.name, self._works(phase, like).works))
        return self._least[key]

    def _quick(self, phase: str, choice: FreeKeys) -> tuple[int, float]:
        """Return the least cycles and bytes with unlimited block RAM."""
        seen = self._seen(phase, choice)
        if (phase, seen) not in self._quickest:
            self._price(phase, self._of_all_units(seen))
        return self._quickest[phase, seen]

    def _price(self, phase: str, choices: Sequence[FreeKeys]) -> None:
        """Compute the results of ``_quick`` for choices that differ only in their units."""
        engines = [self._engine(phase, choice) for choice in choices]
        works = self._alike(phase, choices[0].kinds)
        bytes_of, seconds_of = zip(
            *(cheapest(work, engines, self.board) for work in works.works), strict=True
        )
        moved = works.total(bytes_of)
        together = sum(works.each(seconds_of), np.zeros(len(choices)))
        for choice, seconds in zip(choices, together, strict=True):
            self._quickest[phase, choice] = self._cycles(float(seconds)), moved
