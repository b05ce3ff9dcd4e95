"""``merp report``: a page on the memory traffic of a network's training, its JSON and CSV."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from merp.models.cnn_merp.one_pass import check_backward
from merp.models.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.fpga.order_codes import part_named
from merp.models.fpga.parts import PARTS
from merp.tools.common.arguments import add_backward, add_json, add_network, positive, whole
from merp.tools.common.boards import PAPER, add_board, open_board
from merp.tools.common.output import Output
from merp.tools.common.shipped import open_network
from merp.tools.library.checks import with_backward
from merp.tools.report.choice import Choice
from merp.tools.report.measured import read_records
from merp.tools.report.tiles import FILE, read_tiles


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument(
        "--batch", type=whole(1, 1 << 16), default=128, metavar="IMAGES", help="images of a step"
    )
    add_board(parser, default="the paper's")
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
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), metavar="FILE", help="the page"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the page, and return 1 if a record that was given confirms nothing."""
    network = with_backward(open_network(args.network), args.backward)
    check_backward(network)
    board = _board(args)
    if args.output.suffix not in (".html", ".htm"):
        raise BadInput(f"-o {args.output}: must end in .html")
    boards = [each for each in args.measured if (each / FILE).is_file()]
    choice = Choice(
        network=network,
        batch=args.batch,
        board=board,
        measured=read_records([each for each in args.measured if each not in boards], network),
        tiles=read_tiles(boards, network),
    )

    # matplotlib and jinja2 wait until the input is good.
    from merp.tools.report.document import document
    from merp.tools.report.page import page
    from merp.tools.report.table import as_csv

    tables = args.output.with_name(f"{args.output.stem}-tables")
    answer = args.output.with_suffix(".json")
    with Output.of_file("-o", args.output) as output:
        found = document(choice, args.output.parent)
        text = json.dumps(found, indent=2) + "\n"
        named = found["tables"].items()
        files = {f"{tables.name}/{name}.csv": as_csv(table) for name, table in named}
        output.write(files | {answer.name: text, output.name: page(found)})
    if args.json:
        print(text, end="")
    else:
        print(f"{args.output}, {answer}, {len(files)} CSV in {tables}")
    right = all(each.confirms for each in choice.measured)
    return 0 if right and all(each.confirms for each in choice.tiles) else 1


def _board(args: argparse.Namespace) -> Board:
    """The board that was chosen, with what else was."""
    board = open_board(args.board or PAPER)
    changes: dict[str, Any] = {}
    if args.part:
        part = part_named(args.part)
        changes |= {"part": part, "clock_mhz": part.clock_mhz}
    if args.clock:
        changes["clock_mhz"] = args.clock
    if args.bandwidth:
        changes["gbytes_s"] = args.bandwidth
    return replace(board, name=f"{board.name}, changed", **changes) if changes else board
