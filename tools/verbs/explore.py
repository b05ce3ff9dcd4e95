"""``merp explore``: designs for a network on a board that no other beats."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.explore.point import names_of, numbered
from merp.models.machines.cnn_merp.plan.plan import GOALS
from merp.models.network.network_keys import FUSED, SEPARATE
from merp.tools.common.arguments import add_network, add_tables, add_written, whole
from merp.tools.common.boards import add_board, any_board, open_board
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network, open_tables
from merp.tools.common.table import say
from merp.tools.comparison.options import BATCH, add_scope
from merp.tools.comparison.scope import scope_of
from merp.tools.explore.folder import check_folder
from merp.tools.explore.limits import read_limits, within

CNN_MERP, MAZOUZ = "cnn-merp", "mazouz"
EXACT, ENUMERATE, NSGA2 = "exact", "enumerate", "nsga2"
SEARCH = {"population": 100, "generations": 100, "seed": 0}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    add_board(parser)
    parser.add_argument(
        "--architecture", choices=(CNN_MERP, MAZOUZ), default=CNN_MERP, help="whose designs"
    )
    parser.add_argument(
        "--objectives",
        default="cycles,lut",
        metavar="NAMES",
        help="what is to be small, with commas: cycles, bytes, lut, ff, bram, dsp (mazouz: cycles, "
        "lut, bram, dsp; default %(default)s)",
    )
    parser.add_argument(
        "--limit", action="append", default=[], metavar="KEY=VALUE",
        help="the most of an objective, beside what the board has; again for another (default: "
        "none)",
    )  # fmt: skip
    add_scope(parser)
    parser.add_argument(
        "--batch",
        type=whole(1, 1 << 16),
        metavar="IMAGES",
        help=f"images of a step (default {BATCH}; mazouz: a sample at a time)",
    )
    parser.add_argument(
        "--for", dest="goal", choices=GOALS, help="what tiles are chosen for (default bytes)"
    )
    parser.add_argument(
        "--method",
        choices=(EXACT, ENUMERATE, NSGA2),
        default=EXACT,
        help="exact: no point is missing; enumerate: the same by pricing every design, of mazouz; "
        "nsga2: a genetic search, which needs pymoo (pip install 'merp[search]') (default "
        "%(default)s)",
    )
    for name, (low, high) in {
        "population": (4, 10_000), "generations": (1, 100_000), "seed": (0, 1 << 31),
    }.items():  # fmt: skip
        parser.add_argument(
            f"--{name}", type=whole(low, high), metavar="N",
            help=f"of nsga2 (default {SEARCH[name]})",
        )  # fmt: skip
    parser.add_argument(
        "--point",
        type=whole(0, 1 << 16),
        action="append",
        default=[],
        metavar="N",
        help="this point of the front is written, too, and shown; may be given several times "
        "(default: none)",
    )
    add_written(
        parser,
        "-o",
        "--output",
        metavar="DIR",
        help="network files of the knee and of the least of each objective, and the front as JSON "
        "and CSV (default: none)",
        place=Output.of_folder,
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Print the front, or write it."""
    network = open_network(args.network)
    if network.backward == FUSED:
        raise BadInput(
            f'{args.network}: backward = "{FUSED}": designs are priced with both backward phases '
            f'apart: allowed is backward = "{SEPARATE}"'
        )
    scope = scope_of(network, args.scope)
    objectives = tuple(dict.fromkeys(args.objectives.split(",")))
    with ExitStack() as held:
        output = None
        if args.output is not None:
            output = held.enter_context(Output.of_folder("-o", args.output))
            names = [*names_of(objectives), *map(numbered, args.point)]
            check_folder(args.output, network, names)
        found, networks = (_pipelines if args.architecture == MAZOUZ else _designs)(
            args, network, scope, objectives
        )
        if output is not None:
            files = found.files(networks)
            output.write(files)
    if args.json:
        print(json.dumps(found.json(), indent=2))
        return 0
    from merp.tools.explore.tables import show

    show(found)
    if args.output is not None:
        say(f"{args.output}: {', '.join(files)}")
    return 0


def _designs(
    args: argparse.Namespace, network: Any, scope: tuple[str, ...], objectives: tuple[str, ...]
) -> tuple[Any, dict[int, str]]:
    """The front of CNN-MERP's designs, and network files of its notable points."""
    from merp.models.explore.cnn_merp import Space
    from merp.models.explore.design_costs import COSTS
    from merp.tools.explore.found import Found, network_file

    _check(objectives, COSTS)
    if args.method == ENUMERATE:
        raise BadInput(f"--method {ENUMERATE}: allowed only with --architecture {MAZOUZ}")
    limits, search = read_limits(args.limit, objectives), _search(args)
    board, batch, goal = open_board(args.board), args.batch or BATCH, args.goal or GOALS[0]
    space = Space(network, board, scope, batch, goal)
    plan = (
        f"{space.size:,} choices of designs: {', '.join(space.designs)}; bitstreams of those that "
        "nothing beats at once are planned, some milliseconds each"
    )
    if args.method == NSGA2:
        plan = "{population:,} points, {generations:,} generations".format(**search)
    with ProgressBar("explore", plan) as bar, bar.spent.on("planning"):
        if args.method == NSGA2:
            points = space.evolved(objectives, **search)
        else:
            points = space.front(objectives, bar.say)
    points = within(points, limits)
    found = Found(
        network=network, board=board, architecture=CNN_MERP, scope=scope, batch=batch, goal=goal,
        method=args.method, objectives=objectives, points=points, limits=limits, written=args.point,
    )  # fmt: skip
    if args.output is None:
        return found, {}
    file, tables = open_tables(args.network)
    return found, {
        place: network_file(found, place, file, tables, space.at(points[place].choices))
        for place in found.notable.values()
    }


def _pipelines(
    args: argparse.Namespace, network: Any, scope: tuple[str, ...], objectives: tuple[str, ...]
) -> tuple[Any, dict[int, str]]:
    """The front of the pipelines of Mazouz and Bridges, and network files of their engines."""
    from merp.models.comparison.mazouz import ARCHITECTURE
    from merp.models.comparison.options import Options
    from merp.models.explore.engines import engines_of, with_engines
    from merp.models.explore.mazouz import COSTS, evolved, front
    from merp.models.papers.mazouz.enumeration import enumerated
    from merp.models.papers.mazouz.pipeline import Pipeline
    from merp.tools.explore.found import Found, network_file

    _check(objectives, COSTS)
    for option in ("batch", "goal"):
        if getattr(args, option) is not None:
            name = {"goal": "for"}.get(option, option)
            raise BadInput(f"--{name}: allowed only with --architecture {CNN_MERP}")
    limits, search = read_limits(args.limit, objectives), _search(args)
    board = any_board(args.board)
    costs = "paper" if board.name == ARCHITECTURE.board else "ours"
    options = Options(batch=1, scope=scope, costs=costs)
    if args.method == NSGA2:
        plan = "{population:,} points, {generations:,} generations".format(**search)
        with ProgressBar("explore", plan):
            points = evolved(network, board, options, objectives, **search)
    else:
        way = enumerated if args.method == ENUMERATE else Pipeline.front
        points = front(network, board, options, objectives, way)
    points = within(points, limits)
    found = Found(
        network=network, board=board, architecture=MAZOUZ, scope=scope, batch=1, goal=None,
        method=args.method, objectives=objectives, points=points, limits=limits, written=args.point,
    )  # fmt: skip
    choices = {place: points[place].choices for place in found.notable.values()}
    try:
        made = {place: with_engines(network, each) for place, each in choices.items()}
    except BadInput as error:  # the paper's equations know more networks than the hardware
        return replace(found, lacking=str(error)), {}
    engines = {place: engines_of(each, choices[place]) for place, each in made.items()}
    found = replace(found, engines=engines)
    file, tables = open_tables(args.network)
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


def _search(args: argparse.Namespace) -> dict[str, int]:
    """Options of the genetic search; without it none may be given."""
    given = {name: getattr(args, name) for name in SEARCH}
    if args.method != NSGA2:
        for name, value in given.items():
            if value is not None:
                raise BadInput(f"--{name}: allowed only with --method {NSGA2}")
    return {name: SEARCH[name] if value is None else value for name, value in given.items()}
