"""``merp map``: the plan of one architecture for a network on a board, and what it costs."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

from merp.models.comparison.compare import OWN, Answer, Comparison
from merp.models.comparison.fairness import unfair
from merp.models.comparison.options import Options
from merp.models.comparison.record import Record
from merp.models.comparison.record_json import as_json
from merp.models.comparison.registry import ARCHITECTURES, named
from merp.models.errors import BadInput
from merp.tools.common.arguments import add_tables, whole
from merp.tools.common.boards import any_board
from merp.tools.common.shipped import open_network
from merp.tools.comparison import tables
from merp.tools.comparison.options import add_step, add_word, word_bits
from merp.tools.comparison.own_options import add_own_options, own_options
from merp.tools.comparison.scope import scope_of
from merp.tools.comparison.screen import show, show_all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_step(parser)
    parser.add_argument(
        "--architecture", required=True, metavar="A", help=f"{', '.join(ARCHITECTURES)}"
    )
    parser.add_argument(
        "--board", metavar="BOARD", help="a board's name or a TOML file (default: the paper's)"
    )
    parser.add_argument(
        "--devices", type=whole(1, 1024), metavar="N", help="boards (default: as the board's file)"
    )
    add_word(parser, "bits of a word in memory; own: the paper's (default %(default)s)")
    parser.add_argument(
        "--costs",
        choices=("paper", "ours"),
        help="unit costs (default: paper on the paper's own board, else ours)",
    )
    parser.add_argument(
        "--strict", action="store_true", help="refuse a plan that does not fit, with status 2"
    )
    add_own_options(parser)
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Print the record of a plan."""
    network, architecture = open_network(args.network), named(args.architecture)
    board = any_board(args.board or architecture.board)
    if args.devices is not None:
        board = replace(board, devices=args.devices)
    scope = scope_of(network, args.scope)
    own = board.name == architecture.board
    options = Options(
        batch=args.batch,
        scope=scope,
        word_bits=word_bits(args.word),
        fit=args.fit,
        costs=args.costs or ("paper" if own else "ours"),
        extra=own_options(args, architecture),
    )
    record = architecture.answer(network, board, options)
    if args.strict and not record.fits:
        raise BadInput(f"--strict: {architecture.name} on {board.name}: {_excess(record)}")
    if args.json:
        print(json.dumps(as_json(record), indent=2))
        return 0
    why = unfair(record, network, scope, args.batch)
    asked = Comparison(
        network=network,
        batch=args.batch,
        scope=scope,
        board=OWN if own else board.name,
        word_bits=options.word_bits,
        fit=args.fit,
        answers=(Answer(architecture=architecture, record=record, why=why),),
    )
    show(tables.rows_table(record), keys=2)
    show_all(asked)
    return 0


def _excess(record: Record) -> str:
    return "; ".join(
        f"device {each.device} needs {each.need:,.0f} {tables.TITLES[each.resource]}: allowed are "
        f"{each.limit:,.0f}"
        for each in record.violated
    )
