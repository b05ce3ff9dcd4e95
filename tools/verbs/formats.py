"""``merp formats``: fractions for a network in fixed point, from its float64 twin."""

from __future__ import annotations

import argparse
import json
import math
import sys

from merp.tools.common.arguments import add_network, number, whole
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from merp.tools.train.course import BATCH, LOSSES, MOMENTUM, MOST_BATCH, RATE

STEPS = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument(
        "--data", required=True, metavar="digits|FILE.npz", help="scikit-learn's digits, or a file"
    )
    parser.add_argument(
        "--steps", type=whole(1, 1 << 20), default=STEPS, metavar="N", help=f"default {STEPS}"
    )
    parser.add_argument(
        "--batch",
        type=whole(1, MOST_BATCH),
        default=BATCH,
        metavar="N",
        help=f"images a step (default {BATCH})",
    )
    parser.add_argument(
        "--lr",
        type=number(sys.float_info.min, math.inf, "a number above 0"),
        default=RATE,
        metavar="X",
        help=f"learning rate (default {RATE})",
    )
    parser.add_argument(
        "--momentum",
        type=number(0, 1, "a number from 0 to below 1"),
        default=MOMENTUM,
        metavar="X",
        help=f"default {MOMENTUM}",
    )
    parser.add_argument("--loss", choices=LOSSES, default=LOSSES[0], help=f"default {LOSSES[0]}")
    parser.add_argument(
        "--seed", type=whole(0, (1 << 32) - 1), default=0, metavar="S", help="default 0"
    )
    parser.add_argument("--json", action="store_true", help="print JSON (default: TOML)")


def run(args: argparse.Namespace) -> int:
    """Train the twin, print what its numbers ask for."""
    network = open_network(args.network)
    # slow imports wait until the arguments are good
    from merp.tools.train.formats import Asked, measure, toml
    from merp.tools.train.run import labelled

    asked = Asked(
        steps=args.steps,
        batch=args.batch,
        learning_rate=args.lr,
        momentum=args.momentum,
        loss=args.loss,
        seed=args.seed,
    )
    with ProgressBar("formats", f"{args.steps:,} steps in float64") as bar:
        answer = measure(network, labelled(args.data), asked, bar)
    print(json.dumps(answer, indent=2) if args.json else toml(answer))
    return 0
