"""``merp sweep``: a network at many points: designs that no other beats, or an architecture's."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.comparison.registry import ARCHITECTURES, named
from merp.models.fpga.parts import DEFAULT, PARTS
from merp.models.network.network_file import network_of
from merp.tools.campaign.address import scheduler_address
from merp.tools.campaign.campaign import Where, campaign
from merp.tools.campaign.task import Task
from merp.tools.common.arguments import add_network, add_tables, add_written, positive, whole
from merp.tools.common.boards import board_tables
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.resumable import resumable
from merp.tools.common.shipped import open_tables
from merp.tools.comparison.options import add_scope, add_word, word_bits
from merp.tools.comparison.own_options import add_own_options, own_options
from merp.tools.comparison.place import add_place, board_of, costs_of
from merp.tools.comparison.scope import CONV, scope_of
from merp.tools.sweep.axes import AXES, MOST_BATCH, axes_of, points_of, read_axes
from merp.tools.sweep.goals import GOALS, LOGIC

MOST_JOBS = 512
SIMULATED = "fpdeep"
"""The architecture that has a simulator."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument(
        "--over",
        "--vary",
        dest="over",
        action="append",
        required=True,
        metavar="AXIS=VALUES",
        help="what varies: LOW:HIGH[:STEP] or LOW..HIGH, both ends included, or values with "
        "commas; again for another axis. Axes: the keys of designs (n_cu, r, cu_kind, ...), in all "
        "of them at once; batch; clock, in MHz. With --architecture: devices (or boards), link_gbs,"
        " latency, batch, and its own options (no default)",
    )
    parser.add_argument(
        "--for",
        dest="goals",
        metavar="GOALS",
        help=f"what is to be small, with commas: {', '.join(GOALS)} (default time,bytes; all "
        "but these two take synthesis by Yosys)",
    )
    parser.add_argument(
        "--batch", type=whole(1, MOST_BATCH), default=128, metavar="IMAGES", help="of a step"
    )
    parser.add_argument(
        "--clock",
        type=positive,
        metavar="MHZ",
        help=f"of the engines (default {PARTS[DEFAULT].clock_mhz:g})",
    )
    other = parser.add_argument_group("of another architecture's plans")
    other.add_argument(
        "--architecture", metavar="A", help=f"{', '.join(ARCHITECTURES)} (default: designs)"
    )
    other.add_argument(
        "--simulate", action="store_true", help=f"row by row, as merp cluster does ({SIMULATED})"
    )
    add_place(parser)
    add_scope(parser)
    add_word(parser, "bits of a word; own: the paper's (default %(default)s)")
    add_own_options(parser)
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs", type=whole(1, MOST_JOBS), metavar="N", help="processes (default: one a core)"
    )
    where.add_argument(
        "--dask",
        type=scheduler_address,
        metavar="ADDRESS",
        help="a Dask scheduler whose workers have merp, as tcp://HOST:8786 (default: none)",
    )
    add_written(
        parser,
        "-o",
        "--output",
        metavar="DIR",
        help="JSON, CSV and picture; points that are finished there are not computed again "
        "(default: none)",
        place=Output.of_folder,
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Compute every point, and print the points or those that no other beats."""
    return (_designs if args.architecture is None else _architecture)(args)


def _designs(args: argparse.Namespace) -> int:
    """Designs, and those that no other beats."""
    _refuse(args, ("simulate", "board", "devices", "costs"), "--architecture")
    if args.scope != CONV or args.word != "own":
        raise BadInput("--scope, --word: allowed only with --architecture")
    own_options(args, None)
    axes = read_axes(args.over, AXES)
    goals = _goals(args.goals or "time,bytes")
    file, tables = open_tables(args.network)
    network = network_of(file, tables)  # says what is wrong with the file itself
    if not network.designs and any(name not in ("batch", "clock") for name in axes):
        raise BadInput(f"{file}: no layer has a design: allowed are the axes batch, clock")
    batch, clock = args.batch, args.clock or PARTS[DEFAULT].clock_mhz
    logic, tools = set(goals) & set(LOGIC), {}
    if logic:
        from merp.cosim.synthesis.synthesis import yosys_version

        tools["yosys"] = yosys_version()
    # The models' imports wait until the input is good.
    from merp.tools.sweep import report
    from merp.tools.sweep.evaluate import Job, evaluate

    with ExitStack() as held:
        output = _output(args, held)
        jobs = [
            Job(file=file, tables=tables, point=point, goals=goals, batch=batch, clock_mhz=clock)
            for point in points_of(axes)
        ]
        tasks = [Task(work=evaluate, given=asdict(job), tools=tools) for job in jobs]
        slow = ", Yosys: minutes a point, hours with large memories" if logic else ""
        results = _computed(args, tasks, output, slow)
        found = report.answer(network.name, axes, goals, batch, clock, results)
        if output is not None:
            output.write(report.files(found))
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        report.show(found)
    return 0


def _architecture(args: argparse.Namespace) -> int:
    """Plans of an architecture, all of them."""
    architecture = named(args.architecture)
    _refuse(args, ("goals", "clock"), None)
    if args.simulate and architecture.name != SIMULATED:
        raise BadInput(f"--simulate: allowed only with --architecture {SIMULATED}")
    axes = read_axes(args.over, axes_of(architecture))
    file, tables = open_tables(args.network)
    network = network_of(file, tables)
    scope = scope_of(network, args.scope)
    board = board_of(args, architecture)
    costs = costs_of(args, architecture, board)
    board_file, board_values = board_tables(args.board or architecture.board)
    board_values["board"]["devices"] = board.devices
    options = own_options(args, architecture)
    from merp.tools.sweep import architecture_report as report
    from merp.tools.sweep.architecture_point import Asked, evaluate_architecture

    with ExitStack() as held:
        output = _output(args, held)
        tasks = [
            Task(
                work=evaluate_architecture,
                given=asdict(
                    Asked(
                        network=(file, tables),
                        board=(board_file, board_values),
                        architecture=architecture.name,
                        point=point,
                        batch=args.batch,
                        scope=scope,
                        word_bits=word_bits(args.word),
                        fit="best",
                        costs=costs,
                        extra=options,
                        simulate=args.simulate,
                    )
                ),
            )
            for point in points_of(axes)
        ]
        results = _computed(args, tasks, output, ", row by row" if args.simulate else "")
        asked = {
            "network": network.name,
            "architecture": architecture.name,
            "board": board.name,
            "scope": args.scope,
            "batch": args.batch,
            "word": args.word,
            "costs": costs,
            "options": {"devices": board.devices, **options},
            "simulated": args.simulate,
        }
        found = report.answer(asked, axes, results)
        if output is not None:
            output.write(report.files(found))
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        report.show_points(found)
    return 0


def _refuse(args: argparse.Namespace, names: Sequence[str], only_with: str | None) -> None:
    """Refuse options of the other kind of sweep.

    Raises:
        BadInput: one was given.
    """
    for name in names:
        if getattr(args, name):
            flag = {"goals": "--for"}.get(name, f"--{name}")
            where = f"only with {only_with}" if only_with else "only without --architecture"
            raise BadInput(f"{flag}: allowed {where}")


def _output(args: argparse.Namespace, held: ExitStack) -> Output | None:
    if args.output is None:
        return None
    return held.enter_context(Output.of_folder("-o", args.output))


def _computed(
    args: argparse.Namespace, tasks: Sequence[Task], output: Output | None, slow: str
) -> list[dict[str, Any]]:
    """The answers of all points, computed where it was asked for."""
    processes = min(args.jobs or os.cpu_count() or 1, len(tasks))
    place = f"at {args.dask}" if args.dask else f"processes: {processes}"
    plan = f"{len(tasks):,} points, {place}{slow}"
    with resumable(args), ProgressBar("sweep", plan) as bar, bar.spent.on("computing"):
        return campaign(tasks, Where(processes=processes, dask=args.dask), output, bar)


def _goals(text: str) -> tuple[str, ...]:
    goals = tuple(dict.fromkeys(text.split(",")))
    if not set(goals) <= set(GOALS):
        raise BadInput(f"--for {text}: allowed are {', '.join(GOALS)}, with commas")
    return goals
