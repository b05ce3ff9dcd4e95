"""``merp report``: a page on the memory traffic of a network's training, its JSON and CSV."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.fpga.order_codes import part_named
from merp.models.fpga.parts import PARTS
from merp.tools.common.arguments import (
    add_backward,
    add_json,
    add_network,
    add_written,
    positive,
    whole,
)
from merp.tools.common.boards import add_board
from merp.tools.common.output import Output
from merp.tools.common.shipped import open_network
from merp.tools.library.checks import with_backward
from merp.tools.report.reports import Report, report_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument(
        "--batch", type=whole(1, 1 << 16), default=128, metavar="IMAGES", help="images of a step"
    )
    add_board(parser, default="that of the architecture's paper")
    add_backward(parser)
    parser.add_argument("--part", metavar="PART", help=f"{', '.join(PARTS)} (default: the board's)")
    parser.add_argument(
        "--clock",
        type=positive,
        metavar="MHZ",
        help="clock of the engine (default: the board's; with --part the paper's, by part)",
    )
    parser.add_argument(
        "--bandwidth",
        type=positive,
        metavar="GB/S",
        help="peak of the external memory (default: the board's)",
    )
    parser.add_argument(
        "--measured",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="a folder written by merp simulate -o DIR, with --board or without; may be repeated "
        "(default: none)",
    )
    add_written(
        parser,
        "-o",
        "--output",
        default=Path("report.html"),
        metavar="FILE",
        help="the page",
        place=Output.of_file,
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the page, and return 1 if a record that was given confirms nothing."""
    network = with_backward(open_network(args.network), args.backward)
    report = report_of(network)
    board = _board(args, report)
    if args.output.suffix not in (".html", ".htm"):
        raise BadInput(f"-o {args.output}: must end in .html")
    choice = report.choice(network, args.batch, board, args.measured)

    # matplotlib and jinja2 wait until the input is good.
    from merp.tools.report.page import page
    from merp.tools.report.table import as_csv

    tables = args.output.with_name(f"{args.output.stem}-tables")
    answer = args.output.with_suffix(".json")
    with Output.of_file("-o", args.output) as output:
        for beside in (answer.name, f"{tables.name}/traffic.csv"):
            output.check(beside)
        found = report.document(choice, args.output.parent)
        text = json.dumps(found, indent=2) + "\n"
        named = found["tables"].items()
        files = {f"{tables.name}/{name}.csv": as_csv(table) for name, table in named}
        output.write(files | {answer.name: text, output.name: page(found)})
    if args.json:
        print(text, end="")
    else:
        print(f"{args.output}, {answer}, {len(files)} CSV in {tables}")
    return 0 if choice.confirms else 1


def _board(args: argparse.Namespace, report: Report) -> Board:
    """The board that was chosen, with what else was."""
    board = report.opened(args.board or report.board)
    changes: dict[str, Any] = {}
    if args.part:
        part = part_named(args.part)
        changes |= {"part": part, "clock_mhz": part.clock_mhz}
    if args.clock:
        changes["clock_mhz"] = args.clock
    if args.bandwidth:
        changes["gbytes_s"] = args.bandwidth
    return replace(board, name=f"{board.name}, changed", **changes) if changes else board
