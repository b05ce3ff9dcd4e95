"""``merp plan``: a network on a board, as passes that fit its FPGA."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.plan.fit import BEST, SHIPPED
from merp.models.machines.cnn_merp.plan.planned import Plan
from merp.models.network.network import Network
from merp.tools.common.arguments import add_backward, add_network, add_tables, add_written, whole
from merp.tools.common.boards import add_board, open_board
from merp.tools.common.fit import add_fit
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network, open_tables
from merp.tools.common.table import say
from merp.tools.library.checks import with_backward
from merp.tools.plan.answer import network_file
from merp.tools.plan.fit import faster_line, fitted_json, fitted_plan
from merp.tools.plan.fuse import add_fuse, fused_plan
from merp.tools.plan.options import GOAL, STATE, add_planning
from merp.tools.plan.tables import print_plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    add_board(parser)
    parser.add_argument(
        "--batch", type=whole(1, 1 << 16), default=128, metavar="IMAGES", help="images of a step"
    )
    add_fit(parser, SHIPPED)
    add_planning(parser)
    add_backward(parser)
    add_fuse(parser)
    add_written(
        parser,
        "-o",
        "--output",
        metavar="NET.toml",
        help="the network file of what is planned, its designs and fused layers (default: none)",
        place=Output.of_file,
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Print the plan of a network on a board."""
    if args.output is not None and args.output.suffix != ".toml":  # no other file is taken for it
        raise BadInput(f"-o {args.output}: must end in .toml")
    network = with_backward(open_network(args.network, fuses=True), args.backward)
    board = open_board(args.board)
    state, many = args.state_bits or STATE, len(network.layers)

    def planned(each: Network, goal: str) -> Plan:
        return fused_plan(each, board, args.batch, goal, state, apart=args.apart, fuse=args.fuse)

    with ProgressBar("plan", f"{many:,} layers: their designs, then tiles of each in each phase"):
        fitted = fitted_plan(network, args.fit, args.goal or GOAL, planned)
    found = fitted.plan
    if args.output is not None:
        text = network_file(found, args.fit, *open_tables(args.network))
        with Output.of_file("-o", args.output) as output:
            output.write({output.name: text})
    if args.json:
        print(json.dumps(fitted_json(fitted), indent=2))
    else:
        print_plan(found)
        if line := faster_line(fitted, list(_for_best(args))):
            say(line)
    return 0


def _for_best(args: argparse.Namespace) -> Iterator[str]:
    """The words of the same command for the best designs."""
    yield from ("merp", "plan", shlex.quote(str(args.network)))
    yield from ("--board", shlex.quote(str(args.board)), "--batch", str(args.batch))
    asked = {"--for": args.goal, "--state-bits": args.state_bits, "--backward": args.backward}
    for option, value in (asked | {"--fuse": args.fuse}).items():
        if value is not None:
            yield from (option, str(value))
    if args.apart:
        yield "--apart"
    yield from ("--fit", BEST)
