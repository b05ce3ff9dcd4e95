"""The Pareto front of the pipelines of Mazouz and Bridges that fit a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from merp.models.base.errors import BadInput
from merp.models.base.ordered_sum import ordered_sum
from merp.models.comparison import mazouz
from merp.models.comparison.options import Options
from merp.models.explore.nsga2 import Genes, nsga2
from merp.models.explore.point import Point, front_of
from merp.models.fpga.board import Board
from merp.models.network.network import Network
from merp.models.papers.mazouz.pipeline import Pipeline

COSTS: Final = ("cycles", "lut", "bram", "dsp")
"""Costs of a pipeline; cycles are those of a sample, forward and backward."""


def front(
    network: Network,
    board: Board,
    options: Options,
    objectives: Sequence[str],
    search: mazouz.Search = Pipeline.front,
) -> list[Point]:
    """Return the pipelines that are Pareto-optimal in the objectives; choices are elements.

    Raises:
        BadInput: there is no pipeline of these layers, none fits, or as in ``search``.
    """
    plans = mazouz.front(network, board, options, search)
    points = [_point(plan) for plan in plans if mazouz.fits(plan)]
    if not points:
        need, room = _point(plans[-1]).costs, board.room
        raise BadInput(
            f"board {board.name}: {network.name}: no pipeline fits: the smallest takes "
            f"{need['lut']:,} LUT, {need['bram']:,} block RAM, {need['dsp']:,} DSP: allowed are "
            f"{room.luts:,}, {room.block_rams:,}, {room.dsps:,} of {board.part.name}"
        )
    return front_of(points, objectives)


def evolved(
    network: Network,
    board: Board,
    options: Options,
    objectives: Sequence[str],
    population: int,
    generations: int,
    seed: int,
) -> list[Point]:
    """Return the front that NSGA-II finds, as the paper does.

    Raises:
        BadInput: there is no pipeline of these layers, or as in ``nsga2``.
    """
    plan = mazouz.front(network, board, options)[0]
    choices = plan.pipeline.choices()

    def at(genes: Genes) -> mazouz.ScopedDesign:
        design = (own[place] for own, place in zip(choices, genes, strict=True))
        return replace(plan, design=tuple(design))

    def aims(genes: Genes) -> list[float] | None:
        made = at(genes)
        return [_point(made).costs[each] for each in objectives] if mazouz.fits(made) else None

    sizes = [len(own) for own in choices]
    found = nsga2(sizes, aims, len(objectives), population, generations, seed)
    return front_of([_point(at(genes)) for genes in found], objectives)


def _point(plan: mazouz.ScopedDesign) -> Point:
    cost = plan.pipeline.cost(plan.design)
    names = [layer.name for layer in plan.pipeline.convolutions]
    cycles = ordered_sum(plan.pipeline.step_cycles(plan.design))
    values = (cycles, cost.lut, mazouz.blocks(plan), cost.dsp)
    return Point(dict(zip(COSTS, values, strict=True)), dict(zip(names, plan.design, strict=True)))
