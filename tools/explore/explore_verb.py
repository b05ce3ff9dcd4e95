"""``merp explore``: designs for a network on a board that no other beats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.explore.point import names_of, numbered
from merp.models.machines.cnn_merp.plan.plan import GOALS
from merp.models.network.network_keys import FUSED, SEPARATE
from merp.tools.common import fields
from merp.tools.common.boards import any_board, open_board
from merp.tools.common.fields import MOST_BATCH
from merp.tools.common.kinds import OneOf, Repeated, Text, Whole
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.request import Being, option
from merp.tools.common.shipped import open_network, open_tables
from merp.tools.common.table import say
from merp.tools.comparison.options import BATCH, scope_field
from merp.tools.comparison.scope import scope_of
from merp.tools.explore.folder import check_folder
from merp.tools.explore.limits import read_limits, within

CNN_MERP, MAZOUZ = "cnn-merp", "mazouz"
EXACT, ENUMERATE, NSGA2 = "exact", "enumerate", "nsga2"
SEARCH = {"population": 100, "generations": 100, "seed": 0}
DESIGNS = (Being("architecture", (CNN_MERP,)),)


def searched(name: str, low: int, high: int) -> Any:
    """A field of the genetic search."""
    return option(
        Whole(low, high), f"of nsga2 (default {SEARCH[name]})", metavar="N",
        needs=(Being("method", (NSGA2,)),),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ExploreOptions(fields.Tables):
    """The options of the verb."""

    network: str = fields.network()
    board: str = fields.board()
    architecture: str = option(OneOf((CNN_MERP, MAZOUZ)), "whose designs", default=CNN_MERP)
    objectives: str = option(
        Text(),
        "what is to be small, with commas: cycles, bytes, lut, ff, bram, dsp (mazouz: cycles, lut, "
        "bram, dsp; default %(default)s)",
        default="cycles,lut",
        metavar="NAMES",
    )
    limit: tuple[str, ...] = option(
        Repeated(Text()),
        "the most of an objective, beside what the board has; again for another (default: none)",
        default=(),
        metavar="KEY=VALUE",
    )
    scope: str = scope_field()
    batch: int | None = option(
        Whole(1, MOST_BATCH),
        f"images of a step (default {BATCH}; mazouz: a sample at a time)",
        metavar="IMAGES",
        needs=DESIGNS,
    )
    goal: str | None = fields.goal("", needs=DESIGNS)
    method: str = option(
        OneOf((EXACT, ENUMERATE, NSGA2)),
        "exact: no point is missing; enumerate: the same by pricing every design, of mazouz; "
        "nsga2: a genetic search, which needs pymoo (pip install 'merp[search]') (default "
        "%(default)s)",
        default=EXACT,
    )
    population: int | None = searched("population", 4, 10_000)
    generations: int | None = searched("generations", 1, 100_000)
    seed: int | None = searched("seed", 0, 1 << 31)
    point: tuple[int, ...] = option(
        Repeated(Whole(0, 1 << 16)),
        "this point of the front is written, too, and shown; may be given several times (default: "
        "none)",
        default=(),
        metavar="N",
    )
    output: Path | None = fields.output(
        "folder",
        "network files of the knee and of the least of each objective, and the front as JSON and "
        "CSV (default: none)",
    )


REQUEST = ExploreOptions


def run(asked: ExploreOptions) -> int:
    """Print the front, or write it."""
    network = open_network(asked.network)
    if network.backward == FUSED:
        raise BadInput(
            f'{asked.network}: backward = "{FUSED}": designs are priced with both backward phases '
            f'apart: allowed is backward = "{SEPARATE}"'
        )
    scope = scope_of(network, asked.scope)
    objectives = tuple(dict.fromkeys(asked.objectives.split(",")))
    with ExitStack() as held:
        output = None
        if asked.output is not None:
            output = held.enter_context(Output.of_folder("-o", asked.output))
            names = [*names_of(objectives), *map(numbered, asked.point)]
            check_folder(asked.output, network, names)
        found, networks = (_pipelines if asked.architecture == MAZOUZ else _designs)(
            asked, network, scope, objectives
        )
        if output is not None:
            files = found.files(networks)
            output.write(files)
    if asked.json:
        print(json.dumps(found.json(), indent=2))
        return 0
    from merp.tools.explore.tables import show

    show(found)
    if asked.output is not None:
        say(f"{asked.output}: {', '.join(files)}")
    return 0


def _designs(
    asked: ExploreOptions, network: Any, scope: tuple[str, ...], objectives: tuple[str, ...]
) -> tuple[Any, dict[int, str]]:
    """The front of CNN-MERP's designs, and network files of its notable points."""
    from merp.models.explore.cnn_merp import Space
    from merp.models.explore.design_costs import COSTS
    from merp.tools.explore.found import Found, network_file

    _check(objectives, COSTS)
    if asked.method == ENUMERATE:
        raise BadInput(f"--method {ENUMERATE}: allowed only with --architecture {MAZOUZ}")
    limits, search = read_limits(asked.limit, objectives), _search(asked)
    board, batch, goal = open_board(asked.board), asked.batch or BATCH, asked.goal or GOALS[0]
    space = Space(network, board, scope, batch, goal)
    plan = (
        f"{space.size:,} choices of designs: {', '.join(space.designs)}; bitstreams of those that "
        "nothing beats at once are planned, some milliseconds each"
    )
    if asked.method == NSGA2:
        plan = "{population:,} points, {generations:,} generations".format(**search)
    with ProgressBar("explore", plan) as bar, bar.spent.on("planning"):
        if asked.method == NSGA2:
            points = space.evolved(objectives, **search)
        else:
            points = space.front(objectives, bar.say)
    points = within(points, limits)
    found = Found(
        network=network, board=board, architecture=CNN_MERP, scope=scope, batch=batch, goal=goal,
        method=asked.method, objectives=objectives, points=points, limits=limits,
        written=asked.point,
    )  # fmt: skip
    if asked.output is None:
        return found, {}
    file, tables = open_tables(asked.network)
    return found, {
        place: network_file(found, place, file, tables, space.at(points[place].choices))
        for place in found.notable.values()
    }


def _pipelines(
    asked: ExploreOptions, network: Any, scope: tuple[str, ...], objectives: tuple[str, ...]
) -> tuple[Any, dict[int, str]]:
    """The front of the pipelines of Mazouz and Bridges, and network files of their engines."""
    from merp.models.comparison.mazouz import ARCHITECTURE
    from merp.models.comparison.options import Options
    from merp.models.explore.mazouz import COSTS, evolved, front
    from merp.models.machines.cnn_merp.pipeline.elements import engines_of, with_engines
    from merp.models.papers.mazouz.enumeration import enumerated
    from merp.models.papers.mazouz.pipeline import Pipeline
    from merp.tools.explore.found import Found, network_file

    _check(objectives, COSTS)
    limits, search = read_limits(asked.limit, objectives), _search(asked)
    board = any_board(asked.board)
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
    found = Found(
        network=network, board=board, architecture=MAZOUZ, scope=scope, batch=1, goal=None,
        method=asked.method, objectives=objectives, points=points, limits=limits,
        written=asked.point,
    )  # fmt: skip
    choices = {place: points[place].choices for place in found.notable.values()}
    try:
        made = {place: with_engines(network, each) for place, each in choices.items()}
    except BadInput as error:  # the paper's equations know more networks than the hardware
        return replace(found, lacking=str(error)), {}
    engines = {place: engines_of(each, choices[place]) for place, each in made.items()}
    found = replace(found, engines=engines)
    file, tables = open_tables(asked.network)
    return found, {
        place: network_file(found, place, file, tables, each) for place, each in made.items()
    }


def _check(objectives: Sequence[str], allowed: Sequence[str]) -> None:
    for each in objectives:
        if each not in allowed:
            hint = "".join(f"; did you mean {n}?" for n in get_close_matches(each, allowed, 1))
            raise BadInput(
                f"--objectives {shown(each)}: allowed are {', '.join(allowed)}, with commas{hint}"
            )


def _search(asked: ExploreOptions) -> dict[str, int]:
    """Options of the genetic search, as given or by default."""
    given = {name: getattr(asked, name) for name in SEARCH}
    return {name: SEARCH[name] if value is None else value for name, value in given.items()}
