"""The search for the Pareto front of pipelines, by the equations of Mazouz and Bridges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from merp.models.base.errors import BadInput
from merp.models.network.network import Network
from merp.tools.common.boards import open_board
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_tables
from merp.tools.explore.explorer import (
    ENUMERATE,
    EXACT,
    NSGA2,
    Explorer,
    check_objectives,
    search_of,
)
from merp.tools.explore.limits import read_limits, within

if TYPE_CHECKING:  # it imports this module
    from merp.tools.explore.explore_verb import ExploreOptions


def explored(
    asked: ExploreOptions, network: Network, scope: tuple[str, ...], objectives: tuple[str, ...]
) -> tuple[Any, dict[int, str]]:
    """Return the front of Mazouz and Bridges' pipelines, and network files of their engines."""
    from merp.models.comparison.mazouz import ARCHITECTURE
    from merp.models.comparison.options import Options
    from merp.models.explore.mazouz import COSTS, evolved, front
    from merp.models.machines.cnn_merp.pipeline.elements import engines_of, with_engines
    from merp.models.papers.mazouz.enumeration import enumerated
    from merp.models.papers.mazouz.pipeline import Pipeline
    from merp.tools.explore.found import FoundFront, network_file

    check_objectives(objectives, COSTS)
    limits, search = read_limits(asked.limit, objectives), search_of(asked)
    board = open_board(asked.board)
    costs = "paper" if board.name == ARCHITECTURE.board else "ours"
    options = Options(batch=1, scope=scope, costs=costs)
    if asked.method == NSGA2:
        plan = "{population:,} points, {generations:,} generations".format(**search)
        with ProgressBar("explore", plan):
            points = evolved(network, board, options, objectives, **search)
    else:
        way = enumerated if asked.method == ENUMERATE else Pipeline.front
        points = front(network, board, options, objectives, way)
    points = within(points, limits)
    found = FoundFront(
        network=network, board=board, architecture=ARCHITECTURE.name, scope=scope, batch=1,
        goal=None, method=asked.method, objectives=objectives, points=points, limits=limits,
        written=asked.point,
    )  # fmt: skip
    choices = {place: points[place].choices for place in found.notable.values()}
    try:
        made = {place: with_engines(network, each) for place, each in choices.items()}
    except BadInput as error:  # the paper's equations support networks that the hardware does not
        return replace(found, lacking=str(error)), {}
    engines = {place: engines_of(each, choices[place]) for place, each in made.items()}
    found = replace(found, engines=engines)
    file, tables = open_tables(asked.network)
    return found, {
        place: network_file(found, place, file, tables, each) for place, each in made.items()
    }


EXPLORER = Explorer(methods=(EXACT, ENUMERATE, NSGA2), front=explored)
