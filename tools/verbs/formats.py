"""``merp formats``: fractions for a network in fixed point, from its float64 twin."""

from __future__ import annotations

import argparse
import json

from merp.tools.common.arguments import add_network, whole
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from merp.tools.train.course import BATCH, MOST_BATCH
from merp.tools.train.options import add_data, add_loss, add_momentum, add_rate

STEPS = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    add_data(parser)
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
    add_rate(parser)
    add_momentum(parser)
    add_loss(parser)
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
        answer = measure(network, labelled(args.data, network), asked, bar)
    print(json.dumps(answer, indent=2) if args.json else toml(answer))
    return 0
