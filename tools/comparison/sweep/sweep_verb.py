"""``merp sweep``: evaluate a network at many points, of designs or of an architecture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.comparison.architecture import Architecture
from merp.models.comparison.registry import ARCHITECTURES, named
from merp.models.fpga.parts import DEFAULT, PARTS
from merp.models.network.network_file import network_of
from merp.models.network.registry import machine_that_runs
from merp.tools.common import fields
from merp.tools.common.boards import board_tables
from merp.tools.common.fields import MOST_BATCH
from merp.tools.common.kinds import POSITIVE, Flag, Read, Repeated, Text, WholeOption
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.request import Being, Typed, option
from merp.tools.common.resumable import resumable
from merp.tools.common.scope import scope_field, scope_of
from merp.tools.common.shipped import open_tables
from merp.tools.comparison.campaign.address import scheduler_address
from merp.tools.comparison.campaign.campaign import Where, campaign
from merp.tools.comparison.campaign.task import Task
from merp.tools.comparison.options import word, word_bits
from merp.tools.comparison.own_options import chosen, own_options
from merp.tools.comparison.place import board_of, costs_of, place_board, place_costs, place_devices
from merp.tools.comparison.sweep.axes import OF_STEPS, axes_of, design_axes, points_of, read_axes
from merp.tools.comparison.sweep.goals import GOALS, LOGIC

MOST_JOBS = 512
SIMULATED = tuple(name for name, each in ARCHITECTURES.items() if each.simulate)
"""Architectures with a simulator."""

ARCHITECTURE = (Being("architecture"),)
OTHER = "plans of another architecture"


@dataclass(frozen=True, kw_only=True)
class SweepOptions(Typed, fields.Tables):
    """The options of the verb."""

    network: str = fields.network()
    over: tuple[str, ...] = option(
        Repeated(Text()),
        "axis and values: LOW:HIGH[:STEP] or LOW..HIGH, both ends included, or values separated by "
        "commas; may be repeated. Axes: the keys of designs (n_cu, r, cu_kind, ...), set in all "
        "designs; batch; clock, in MHz. With --architecture: devices (or boards), link_gbs, "
        "latency, batch, and its own options (no default)",
        "--over",
        "--vary",
        default=None,
        metavar="AXIS=VALUES",
        required=True,
    )
    goals: str | None = option(
        Text(),
        f"goals to minimise, separated by commas: {', '.join(GOALS)} (default time,bytes; all "
        "others need synthesis by Yosys)",
        "--for",
        metavar="GOALS",
        without=ARCHITECTURE,
    )
    batch: int = option(WholeOption(1, MOST_BATCH), "images a step", default=128, metavar="IMAGES")
    clock_mhz: float | None = option(
        POSITIVE,
        f"clock of the engines (default {PARTS[DEFAULT].clock_mhz:g})",
        "--clock",
        metavar="MHZ",
        without=ARCHITECTURE,
    )
    architecture: str | None = option(
        Text(), f"{', '.join(ARCHITECTURES)} (default: designs)", metavar="A", section=OTHER
    )
    simulate: bool = option(
        Flag(),
        f"simulate row by row, as merp cluster does ({', '.join(SIMULATED)})",
        section=OTHER,
        needs=(Being("architecture", SIMULATED),),
    )
    board: str | None = place_board(needs=ARCHITECTURE)
    devices: int | None = place_devices(needs=ARCHITECTURE)
    costs: str | None = place_costs(needs=ARCHITECTURE)
    scope: str = scope_field(needs=ARCHITECTURE)
    word: str = word("bits of a word; own: the paper's (default %(default)s)", needs=ARCHITECTURE)
    own: Mapping[str, Any] = own_options(*ARCHITECTURES.values())
    jobs: int | None = option(
        WholeOption(1, MOST_JOBS), "processes (default: one per core)", metavar="N", group="where"
    )
    dask: str | None = option(
        Read(scheduler_address),
        "a Dask scheduler whose workers have merp, as tcp://HOST:8786 (default: none)",
        metavar="ADDRESS",
        group="where",
    )
    output: Path | None = fields.output(
        "folder",
        "JSON, CSV and picture; finished points in the folder are not computed again (default: "
        "none)",
    )


REQUEST = SweepOptions


def run(asked: SweepOptions) -> int:
    """Compute every point, and print all points or the Pareto front."""
    if asked.architecture is None:
        return _designs(asked)
    return _architecture(asked, named(asked.architecture))


def _designs(asked: SweepOptions) -> int:
    """Evaluate designs, and print the Pareto front."""
    chosen(asked.own, None)
    goals = _goals(asked.goals or "time,bytes")
    file, tables = open_tables(asked.network)
    network = network_of(file, tables)  # raises an error about the file itself
    axes = read_axes(asked.over, design_axes(network))
    if not network.designs and not axes.keys() <= OF_STEPS.keys():
        raise BadInput(f"{file}: no layer has a design: allowed are the axes batch, clock")
    machine = machine_that_runs(network)
    if "time" in goals and network.designs and not machine.cycles:
        allowed = ", ".join(goal for goal in GOALS if goal != "time")
        raise BadInput(
            f"{file}: {machine.name} has no model of cycles: allowed are the goals {allowed}"
        )
    batch, clock = asked.batch, asked.clock_mhz or PARTS[DEFAULT].clock_mhz
    logic, tools = set(goals) & set(LOGIC), {}
    if logic:
        from merp.cosim.synthesis.synthesis import yosys_version

        tools["yosys"] = yosys_version()
    # Import the models only after the input was checked.
    from merp.tools.comparison.sweep import report
    from merp.tools.comparison.sweep.evaluate import PointJob, evaluate

    with ExitStack() as held:
        output = _output(asked, held)
        jobs = [
            PointJob(
                file=file, tables=tables, point=point, goals=goals, batch=batch, clock_mhz=clock
            )
            for point in points_of(axes)
        ]
        tasks = [Task(work=evaluate, given=asdict(job), tools=tools) for job in jobs]
        slow = ", Yosys: minutes a point, hours with large memories" if logic else ""
        results = _computed(asked, tasks, output, slow)
        found = report.answer(network.name, axes, goals, batch, clock, results)
        if output is not None:
            output.write(report.files(found))
    return fields.answered(asked, found, lambda: report.show(found))


def _architecture(asked: SweepOptions, architecture: Architecture) -> int:
    """Evaluate and print plans of an architecture."""
    axes = read_axes(asked.over, axes_of(architecture), architecture.former)
    file, tables = open_tables(asked.network)
    network = network_of(file, tables)
    scope = scope_of(network, asked.scope)
    board = board_of(asked, architecture)
    costs = costs_of(asked, architecture, board)
    board_file, board_values = board_tables(asked.board or architecture.board)
    board_values["board"]["devices"] = board.devices
    options = chosen(asked.own, architecture)
    from merp.tools.comparison.sweep import architecture_report as report
    from merp.tools.comparison.sweep.architecture_point import (
        ArchitecturePoint,
        evaluate_architecture,
    )

    with ExitStack() as held:
        output = _output(asked, held)
        tasks = [
            Task(
                work=evaluate_architecture,
                given=asdict(
                    ArchitecturePoint(
                        network=(file, tables),
                        board=(board_file, board_values),
                        architecture=architecture.name,
                        point=point,
                        batch=asked.batch,
                        scope=scope,
                        word_bits=word_bits(asked.word),
                        fit="best",
                        costs=costs,
                        extra=options,
                        simulate=asked.simulate,
                    )
                ),
            )
            for point in points_of(axes)
        ]
        results = _computed(asked, tasks, output, ", row by row" if asked.simulate else "")
        about = {
            "network": network.name,
            "architecture": architecture.name,
            "board": board.name,
            "scope": asked.scope,
            "batch": asked.batch,
            "word": asked.word,
            "costs": costs,
            "options": {"devices": board.devices, **architecture.json_options(options)},
            "simulated": asked.simulate,
        }
        found = report.answer(about, axes, results)
        if output is not None:
            output.write(report.files(found))
    return fields.answered(asked, found, lambda: report.show_points(found))


def _output(asked: SweepOptions, held: ExitStack) -> Output | None:
    if asked.output is None:
        return None
    return held.enter_context(Output.of_folder("-o", asked.output))


def _computed(
    asked: SweepOptions, tasks: Sequence[Task], output: Output | None, slow: str
) -> list[dict[str, Any]]:
    """Return the answers of all points, computed at the requested place."""
    processes = min(asked.jobs or os.cpu_count() or 1, len(tasks))
    place = f"at {asked.dask}" if asked.dask else f"processes: {processes}"
    plan = f"{len(tasks):,} points, {place}{slow}"
    with resumable(asked.words), ProgressBar("sweep", plan) as bar, bar.spent.on("computing"):
        return campaign(tasks, Where(processes=processes, dask=asked.dask), output, bar)


def _goals(text: str) -> tuple[str, ...]:
    goals = tuple(dict.fromkeys(text.split(",")))
    if not set(goals) <= set(GOALS):
        raise BadInput(f"--for {text}: allowed are {', '.join(GOALS)}, with commas")
    return goals
