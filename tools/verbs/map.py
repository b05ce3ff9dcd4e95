"""``merp map``: the plan of one architecture for a network on a board, and what it costs."""

from __future__ import annotations

import argparse
import json

from merp.models.base.errors import BadInput
from merp.models.comparison.compare import OWN, Answer, Comparison
from merp.models.comparison.fairness import unfair
from merp.models.comparison.options import Options
from merp.models.comparison.record import Record
from merp.models.comparison.record_json import as_json
from merp.models.comparison.registry import ARCHITECTURES, named
from merp.tools.common.arguments import add_tables
from merp.tools.common.shipped import open_network
from merp.tools.comparison import tables
from merp.tools.comparison.options import add_step, add_word, word_bits
from merp.tools.comparison.own_options import add_own_options, own_options
from merp.tools.comparison.place import add_place, board_of, costs_of
from merp.tools.comparison.scope import scope_of
from merp.tools.comparison.screen import show, show_all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_step(parser)
    parser.add_argument(
        "--architecture", required=True, metavar="A", help=f"{', '.join(ARCHITECTURES)}"
    )
    add_place(parser)
    add_word(parser, "bits of a word in memory; own: the paper's (default %(default)s)")
    parser.add_argument(
        "--strict", action="store_true", help="refuse a plan that does not fit, with status 2"
    )
    add_own_options(parser)
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Print the record of a plan."""
    network, architecture = open_network(args.network), named(args.architecture)
    board = board_of(args, architecture)
    scope = scope_of(network, args.scope)
    options = Options(
        batch=args.batch,
        scope=scope,
        word_bits=word_bits(args.word),
        fit=args.fit,
        costs=costs_of(args, architecture, board),
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
        board=OWN if board.name == architecture.board else board.name,
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
