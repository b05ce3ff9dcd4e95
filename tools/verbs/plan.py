"""``merp plan``: a network on a board, as passes that fit its FPGA."""

from __future__ import annotations

import argparse
import json

from merp.models.plan.plan import plan
from merp.tools.common.arguments import add_backward, add_network, add_tables, whole
from merp.tools.common.boards import add_board, open_board
from merp.tools.common.shipped import open_network
from merp.tools.library.checks import with_backward
from merp.tools.plan.answer import plan_json
from merp.tools.plan.options import GOAL, STATE, add_planning
from merp.tools.plan.tables import print_plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    add_board(parser)
    parser.add_argument(
        "--batch", type=whole(1, 1 << 16), default=128, metavar="IMAGES", help="images of a step"
    )
    add_planning(parser)
    add_backward(parser)
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Print the plan of a network on a board."""
    network = with_backward(open_network(args.network), args.backward)
    board = open_board(args.board)
    goal, state = args.goal or GOAL, args.state_bits or STATE
    found = plan(network, board, args.batch, goal, state, args.apart)
    if args.json:
        print(json.dumps(plan_json(found), indent=2))
    else:
        print_plan(found)
    return 0
