"""Exact Pareto fronts of CNN-MERP's own designs for a network on a board.

Layers of one kernel size share a design, as in a plan without designs. Cycles and bytes are summed
over the designs. For resources, the largest bitstream counts. The total grows with the costs of
each design. Therefore only choices matter that no other choice of the same design beats. A choice
is planned only if no other choice beats its bound.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any

import numpy as np

from merp.models.base.errors import BadInput
from merp.models.explore.nsga2 import Genes, nsga2
from merp.models.explore.pareto import Table, merged
from merp.models.explore.point import Point, front_of
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.explore.choices import Axes, FreeKeys, axes_of
from merp.models.machines.cnn_merp.explore.design_costs import (
    ADDED,
    COSTS,
    Costs,
    DesignCosts,
    joined,
)
from merp.models.machines.cnn_merp.plan.automatic import most_luts, with_designs
from merp.models.network.network import Network

STATE = "pooled"

MOST_PAIRS = 50_000_000
"""Limit of pairs of points of two designs; more pairs take too long."""

Tell = Callable[[str], object]
"""Callback for progress messages."""


class Space:
    """All designs of a network on a board.

    Args:
        scope: names of the layers that have a design; all others have none.
        goal: of ``GOALS``.

    Raises:
        BadInput: a layer is larger than any design can be.
    """

    def __init__(
        self, network: Network, board: Board, scope: Collection[str], batch: int, goal: str
    ) -> None:
        bare = tuple(replace(layer, design=None) for layer in network.layers)
        complete, missing = with_designs(replace(network, layers=bare, designs={}))
        layers = tuple(
            layer if layer.name in scope else replace(layer, design=None)
            for layer in complete.layers
        )
        self.network = replace(complete, layers=layers)
        self.board = board
        self.designs: dict[str, tuple[Axes, DesignCosts]] = {}
        for name, all_of in missing.items():
            mine = [layer for layer in all_of if layer.name in scope]
            if mine:
                axes = axes_of(mine, board.room, network.fmt)
                costs = DesignCosts(self.network, name, board, batch, goal, STATE, axes.n_cu)
                self.designs[name] = axes, costs

    @property
    def size(self) -> int:
        """Number of choices of all designs, added up."""
        return sum(axes.size for axes, _ in self.designs.values())

    @property
    def tried(self) -> int:
        """Number of bitstreams that were planned."""
        return sum(costs.tried for _, costs in self.designs.values())

    def at(self, choices: Mapping[str, FreeKeys]) -> Network:
        """Return the network with these designs."""
        designs = {name: self.designs[name][1].design(choice) for name, choice in choices.items()}
        return replace(self.network, designs=designs)

    def front(self, objectives: Sequence[str], tell: Tell = lambda *_: None) -> list[Point]:
        """Return the points that are Pareto-optimal in the objectives, by the first objective.

        One of several points that are equal in all objectives is returned.

        Raises:
            BadInput: no design fits the board, or there are too many points.
        """
        columns = [COSTS.index(each) for each in objectives]
        added = [each in ADDED for each in objectives]
        bounds: dict[str, list[tuple[Costs, FreeKeys]]] = {}
        for name, (axes, costs) in self.designs.items():
            tell(f"{name}: bounds of {axes.size:,} choices")
            bounds[name] = [
                (bound, each) for each in axes.choices() if (bound := costs.bound(each)) is not None
            ]
            if not bounds[name]:
                raise self._none_fits(name)
        # Every network uses at least the resources of the smallest design that one of its layers
        # can have.
        least = [
            max(min(found[column] for found, _ in each) for each in bounds.values())
            for column in columns
        ]
        floor = np.where(added, 0.0, least)
        together: Table = np.zeros((1, len(columns)))
        chosen: list[tuple[FreeKeys, ...]] = [()]
        whole: list[Costs] = [(0.0,) * len(COSTS)]
        for name, found in bounds.items():
            kept = self._of_design(name, found, columns, floor, tell)
            if not kept:
                raise self._none_fits(name)
            if len(kept) * len(chosen) > MOST_PAIRS:
                raise BadInput(
                    f"{self.network.name}: {len(kept) * len(chosen):,} pairs of points of "
                    f"{len(objectives)} objectives: allowed are {MOST_PAIRS:,}: fewer objectives"
                )
            mine = np.maximum(_table([costs for costs, _ in kept], columns), floor)
            together, pairs = merged(together, mine, added)
            whole = [joined(whole[row], kept[column][0]) for row, column in pairs]
            chosen = [(*chosen[row], kept[column][1]) for row, column in pairs]
        return [
            Point(dict(zip(COSTS, costs, strict=True)), dict(zip(bounds, choices, strict=True)))
            for costs, choices in zip(whole, chosen, strict=True)
        ]

    def evolved(
        self, objectives: Sequence[str], population: int, generations: int, seed: int
    ) -> list[Point]:
        """Return the front that NSGA-II finds, by the first objective.

        Raises:
            BadInput: as in ``nsga2``.
        """
        columns = [COSTS.index(each) for each in objectives]
        axes = [axis for axes, _ in self.designs.values() for axis in axes]

        def choices(genes: Genes) -> list[FreeKeys]:
            values: list[Any] = [axis[place] for axis, place in zip(axes, genes, strict=True)]
            many = len(FreeKeys._fields)
            return [FreeKeys(*values[at : at + many]) for at in range(0, len(values), many)]

        def costs(genes: Genes) -> Costs | None:
            together: Costs = (0.0,) * len(COSTS)
            for choice, (_, each) in zip(choices(genes), self.designs.values(), strict=True):
                found = each.of(choice)
                if found is None:
                    return None
                together = joined(together, found)
            return together

        def aims(genes: Genes) -> list[float] | None:
            found = costs(genes)
            return None if found is None else [found[column] for column in columns]

        found = nsga2(
            [len(axis) for axis in axes], aims, len(columns), population, generations, seed
        )
        points = [
            Point(
                dict(zip(COSTS, costs(genes) or (), strict=True)),
                dict(zip(self.designs, choices(genes), strict=True)),
            )
            for genes in found
        ]
        return front_of(points, objectives)

    def _of_design(
        self,
        name: str,
        bounds: Sequence[tuple[Costs, FreeKeys]],
        columns: Sequence[int],
        floor: Table,
        tell: Tell,
    ) -> list[tuple[Costs, FreeKeys]]:
        """Return the choices of a design that no other choice of it beats, with their costs.

        The choice with the lowest bound is processed first. Its bitstreams are planned one after
        the other, and each replaces its bound by a closer one. When the bound equals its cost, no
        remaining choice costs less. Of equal choices, the first by their bounds is kept.
        """
        _, costs = self.designs[name]
        least = np.maximum(_table([found for found, _ in bounds], columns), floor)
        order = np.lexsort(least.T[::-1])
        heap = [(tuple(least[place].tolist()), rank) for rank, place in enumerate(order)]
        table: Table = np.empty((len(bounds), len(columns)))
        kept: list[tuple[Costs, FreeKeys]] = []
        while heap:
            promised, rank = heappop(heap)
            if (table[: len(kept)] <= promised).all(axis=1).any():
                continue
            choice = bounds[order[rank]][1]
            found, phase = costs.so_far(choice)
            if found is None:
                continue
            closer = tuple(map(max, (found[column] for column in columns), floor.tolist()))
            if closer == promised and phase is None:
                table[len(kept)] = closer
                kept.append((found, choice))
                continue
            if closer == promised and phase is not None:
                tell(f"{name}: {len(heap):,} of {len(bounds):,} choices left, {len(kept):,} kept")
                costs.exact(phase, choice)
            heappush(heap, (closer, rank))
        return kept

    def _none_fits(self, name: str) -> BadInput:
        layers = ", ".join(layer.name for layer in self.designs[name][1].layers)
        room = self.board.room
        return BadInput(
            f"board {self.board.name}: {self.network.name}: no design for {layers} fits "
            f"{self.board.part.name} ({most_luts(self.board):,.0f} LUT, {room.block_rams:,} "
            f"RAMB36, {room.dsps:,} DSP): allowed is a larger part"
        )


def _table(costs: Sequence[Costs], columns: Sequence[int]) -> Table:
    return np.array(costs, np.float64)[:, columns]
