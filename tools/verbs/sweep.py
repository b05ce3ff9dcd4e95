"""``merp sweep``: a network at many points, and those that no other beats."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from merp.models.errors import BadInput
from merp.models.fpga.parts import DEFAULT, PARTS
from merp.models.network.network_file import network_of
from merp.tools.common.arguments import add_network, add_tables, positive, whole
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_tables
from merp.tools.sweep.axes import MOST_BATCH, Value, points_of, read_axes
from merp.tools.sweep.goals import GOALS, LOGIC

MOST_JOBS = 512


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument(
        "--over",
        action="append",
        required=True,
        metavar="AXIS=VALUES",
        help="what varies: LOW:HIGH[:STEP], both ends included, or values with commas; again for "
        "another axis. Axes: the keys of designs (n_cu, r, cu_kind, ...), in all of them at once; "
        "batch; clock, in MHz (no default)",
    )
    parser.add_argument(
        "--for",
        dest="goals",
        default="time,bytes",
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
        default=PARTS[DEFAULT].clock_mhz,
        help="of the engines",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs", type=whole(1, MOST_JOBS), metavar="N", help="processes (default: one a core)"
    )
    where.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="a Dask scheduler whose workers have merp, as tcp://HOST:8786 (default: none)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="JSON, CSV and picture (default: none)"
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Compute every point, print those that no other beats."""
    axes = read_axes(args.over)
    goals = _goals(args.goals)
    file, tables = open_tables(args.network)
    network = network_of(file, tables)  # says what is wrong with the file itself
    if not network.designs and any(name not in ("batch", "clock") for name in axes):
        raise BadInput(f"{file}: no layer has a design: allowed are the axes batch, clock")
    if set(goals) & set(LOGIC):
        from merp.cosim.synthesis.synthesis import yosys_version

        yosys_version()
    with ExitStack() as held:
        output = None
        if args.output is not None:
            output = held.enter_context(Output.of_folder("-o", args.output))
        found = _swept(args, network.name, file, tables, axes, goals)
        from merp.tools.sweep import report

        if output is not None:
            output.write(report.files(found))
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        report.show(found)
    return 0


def _swept(
    args: argparse.Namespace,
    network: str,
    file: str,
    tables: Mapping[str, Any],
    axes: Mapping[str, Sequence[Value]],
    goals: tuple[str, ...],
) -> dict[str, Any]:
    """The answer, computed where it was asked for."""
    # The models' imports wait until the input is good.
    from merp.tools.sweep.evaluate import Job
    from merp.tools.sweep.report import answer
    from merp.tools.sweep.run import run_here, run_on_dask

    batch, clock = args.batch, args.clock
    jobs = [
        Job(file=file, tables=tables, point=point, goals=goals, batch=batch, clock_mhz=clock)
        for point in points_of(axes)
    ]
    processes = min(args.jobs or os.cpu_count() or 1, len(jobs))
    place = f"at {args.dask}" if args.dask else f"processes: {processes}"
    slow = ", Yosys: minutes a point, hours with large memories" if set(goals) & set(LOGIC) else ""
    plan = f"{len(jobs):,} points, {place}{slow}"
    with ProgressBar("sweep", plan) as bar, bar.spent.on("computing"):
        if args.dask:
            results = run_on_dask(jobs, args.dask, bar)
        else:
            results = run_here(jobs, processes, bar)
    return answer(network, axes, goals, batch, clock, results)


def _goals(text: str) -> tuple[str, ...]:
    goals = tuple(dict.fromkeys(text.split(",")))
    if not set(goals) <= set(GOALS):
        raise BadInput(f"--for {text}: allowed are {', '.join(GOALS)}, with commas")
    return goals
