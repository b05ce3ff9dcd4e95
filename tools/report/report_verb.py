"""``merp report``: write a page about the memory traffic of a training step, with JSON and CSV."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.fpga.order_codes import part_named
from merp.models.fpga.parts import PARTS, listed
from merp.tools.common import fields
from merp.tools.common.checks import with_backward
from merp.tools.common.kinds import POSITIVE, File, Repeated, Text
from merp.tools.common.output import Output
from merp.tools.common.request import option
from merp.tools.common.shipped import open_network
from merp.tools.report.reports import Report, report_of


@dataclass(frozen=True, kw_only=True)
class ReportOptions(fields.Answer):
    """The options of the verb."""

    network: str = fields.network()
    batch: int = fields.batch()
    board: str | None = fields.board("the board of the architecture's paper")
    backward: str | None = fields.backward()
    part: str | None = option(Text(), f"{listed(PARTS)} (default: the board's)", metavar="PART")
    clock_mhz: float | None = option(
        POSITIVE,
        "clock of the engine (default: the board's; with --part: the paper's for this part)",
        "--clock",
        metavar="MHZ",
    )
    bandwidth: float | None = option(
        POSITIVE, "peak of the external memory (default: the board's)", metavar="GB/S"
    )
    measured: tuple[Path, ...] = option(
        Repeated(File()),
        "a folder of merp simulate -o DIR, with or without --board; may be repeated "
        "(default: none)",
        default=(),
        metavar="DIR",
    )
    output: Path = fields.output("file", "the page", metavar="FILE", default=Path("report.html"))


REQUEST = ReportOptions


def run(asked: ReportOptions) -> int:
    """Write the page, and return 1 if one of the given records confirms nothing."""
    network = with_backward(open_network(asked.network), asked.backward)
    report = report_of(network)
    board = _board(asked, report)
    if asked.output.suffix not in (".html", ".htm"):
        raise BadInput(f"-o {asked.output}: must end in .html")
    choice = report.choice(network, asked.batch, board, asked.measured)

    # Import matplotlib and jinja2 only after the input was checked.
    from merp.tools.report.page import page
    from merp.tools.report.table import as_csv

    tables = asked.output.with_name(f"{asked.output.stem}-tables")
    answer = asked.output.with_suffix(".json")
    with Output.of_file("-o", asked.output) as output:
        for beside in (answer.name, f"{tables.name}/traffic.csv"):
            output.check(beside)
        found = report.document(choice, asked.output.parent)
        text = json.dumps(found, indent=2) + "\n"
        named = found["tables"].items()
        files = {f"{tables.name}/{name}.csv": as_csv(table) for name, table in named}
        output.write(files | {answer.name: text, output.name: page(found)})
    if asked.json:
        print(text, end="")
    else:
        print(f"{asked.output}, {answer}, {len(files)} CSV in {tables}")
    return 0 if choice.confirms else 1


def _board(asked: ReportOptions, report: Report) -> Board:
    """Return the chosen board with the changes of other options."""
    board = report.opened(asked.board or report.board)
    changes: dict[str, Any] = {}
    if asked.part:
        part = part_named(asked.part)
        changes |= {"part": part, "clock_mhz": part.clock_mhz, "load_s": None}
    if asked.clock_mhz:
        changes["clock_mhz"] = asked.clock_mhz
    if asked.bandwidth:
        changes["gbytes_s"] = asked.bandwidth
    return replace(board, name=f"{board.name}, changed", **changes) if changes else board
