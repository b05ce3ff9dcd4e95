"""The answer of ``merp cluster``: for programs, for people, and as files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from io import StringIO
from typing import Any

from merp.models.comparison.record_json import as_json
from merp.tools.common.table import say
from merp.tools.comparison.cluster.tables import SimulatedPlan, slices, tables
from merp.tools.comparison.cluster.timeline import picture
from merp.tools.comparison.screen import show
from merp.tools.report.table import as_csv


def answer(run: SimulatedPlan, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer for programs; ``given``: options that a record does not have."""
    board = run.plan.board
    return {
        "network": run.plan.network.name,
        "board": board.name,
        "devices": board.devices,
        "images": run.chain.images,
        "depth": run.chain.depth,
        **given,
        "cycles": run.cycles(),
        "images_per_s": images_per_s(run),
        "tables": {table.id: list(table.rows) for table in tables(run)},
        "record": as_json(run.record),
    }


def images_per_s(run: SimulatedPlan) -> dict[str, float]:
    """Return the images per second of the batch, and of a chain that never runs empty."""
    hertz = run.clock_mhz * 1e6
    found = run.outcome
    return {"batch": run.chain.images * hertz / found.total, "steady": hertz / found.interval}


def show_answer(run: SimulatedPlan) -> None:
    """Print the answer."""
    show(slices(run), keys=2)
    found, images = run.outcome, images_per_s(run)
    board = run.plan.board
    used = 1 + max(piece.node for piece in run.chain.slices)
    say(
        f"{run.plan.network.name} on {board.devices} x {board.name}, {used} of them at work, "
        f"{run.chain.images} images, {run.chain.depth} in flight at most; simulated row by row."
    )
    say(
        f"One image every {found.interval:,.0f} cycles ({found.interval / run.stage:.3f} of the "
        f"slowest slice). Gradients: of the first image after {found.fill:,}, of the last one "
        f"{found.drain:,} after its loss. Update: {found.update:,}. Total: {found.total:,} cycles."
    )
    say(
        f"{images['batch']:,.1f} images/s if the chain is empty before and after each batch, "
        f"{images['steady']:,.1f} if it never runs empty, at {run.clock_mhz:g} MHz."
    )
    if not run.record.fits:
        boards = sorted({each.device for each in run.record.violated})
        say(f"Boards that do not fit: {', '.join(map(str, boards))}. merp map lists the excess.")


def files(run: SimulatedPlan, found: Mapping[str, Any]) -> dict[str, str | bytes]:
    """Return ``cluster.json``, tables as CSV, and the time line as CSV and SVG."""
    made: dict[str, str | bytes] = {"cluster.json": json.dumps(found, indent=2) + "\n"}
    made |= {f"{table.id}.csv": as_csv(table.json()) for table in tables(run)}
    return made | {"timeline.csv": _timeline(run), "timeline.svg": picture(run)}


def _timeline(run: SimulatedPlan) -> str:
    """Return a CSV with a line for each task."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("server", "task", "image", "row", "begin", "end"))
    graph = run.outcome.graph
    for stream, ends in zip(graph.streams, run.outcome.ends, strict=True):
        rows = len(stream.cycles)
        for place, end in enumerate(ends):
            image, row = divmod(place, rows)
            begin = end - stream.cycles[row]
            writer.writerow((graph.servers[stream.server], stream.what, image, row, begin, end))
    return text.getvalue()
