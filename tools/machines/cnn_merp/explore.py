"""The search for the Pareto front of CNN-MERP's designs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merp.models.machines.cnn_merp.machine import MACHINE
from merp.models.network.network import Network
from merp.tools.common.boards import open_board
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_tables
from merp.tools.explore.explorer import (
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
    """Return the front of CNN-MERP's designs, and network files of its notable points."""
    from merp.models.machines.cnn_merp.explore.design_costs import COSTS
    from merp.models.machines.cnn_merp.explore.space import Space
    from merp.models.network.planning import GOALS
    from merp.tools.explore.found import FoundFront, network_file

    check_objectives(objectives, COSTS)
    limits, search = read_limits(asked.limit, objectives), search_of(asked)
    board, batch, goal = open_board(asked.board), asked.images, asked.goal or GOALS[0]
    space = Space(network, board, scope, batch, goal)
    plan = (
        f"{space.size:,} choices of designs: {', '.join(space.designs)}; bitstreams of the "
        "points on the front are planned, some milliseconds each"
    )
    if asked.method == NSGA2:
        plan = "{population:,} points, {generations:,} generations".format(**search)
    with ProgressBar("explore", plan) as bar, bar.spent.on("planning"):
        if asked.method == NSGA2:
            points = space.evolved(objectives, **search)
        else:
            points = space.front(objectives, bar.say)
    points = within(points, limits)
    found = FoundFront(
        network=network, board=board, architecture=MACHINE.name, scope=scope, batch=batch,
        goal=goal, method=asked.method, objectives=objectives, points=points, limits=limits,
        written=asked.point,
    )  # fmt: skip
    if asked.output is None:
        return found, {}
    file, tables = open_tables(asked.network)
    return found, {
        place: network_file(found, place, file, tables, space.at(points[place].choices))
        for place in found.notable.values()
    }


EXPLORER = Explorer(methods=(EXACT, NSGA2), front=explored)
