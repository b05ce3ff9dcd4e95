"""``merp cluster``: FPDeep's plan on a chain of boards, simulated row by row."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack

from merp.models.base.errors import CheckFailed
from merp.models.chain.chain import Chain
from merp.models.chain.simulator import Deadlock, simulate
from merp.models.comparison.fpdeep import ARCHITECTURE, Plan
from merp.models.comparison.fpdeep_simulated import MOST_IMAGES, chain_of, simulated
from merp.models.comparison.options import Options
from merp.tools.cluster.fifos import read_fifos, sizes_of
from merp.tools.cluster.tables import Simulated
from merp.tools.common.arguments import add_network, add_tables, add_written, positive, whole
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from merp.tools.comparison.options import add_scope, add_word, word_bits
from merp.tools.comparison.own_options import add_options_of, own_options
from merp.tools.comparison.place import add_place, board_of, costs_of, linked
from merp.tools.comparison.scope import scope_of

MOST_CYCLES = 1 << 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    add_place(parser)
    add_scope(parser)
    add_word(parser, "bits of a word on links; own: the paper's (default %(default)s)")
    parser.add_argument(
        "--images", type=whole(1, MOST_IMAGES), default=32, metavar="N", help="of the batch"
    )
    parser.add_argument(
        "--link-gbs",
        type=positive,
        metavar="RATE",
        help="of a link, each way, in 10^9 bits a second (default: the board's)",
    )
    parser.add_argument(
        "--latency",
        type=whole(0, MOST_CYCLES),
        metavar="CYCLES",
        help="of a link (default: the board's)",
    )
    parser.add_argument(
        "--loss",
        type=whole(0, MOST_CYCLES),
        default=0,
        metavar="CYCLES",
        help="that the host takes for the loss of an image",
    )
    parser.add_argument(
        "--fifo",
        action="append",
        default=[],
        metavar="KIND=ROWS",
        help="rows of all FIFOs of a kind: maps, features, sums, errors, deltas, own, send; again "
        "for another (default: what a window needs, and a row of margin)",
    )
    parser.add_argument(
        "--shared-fifo",
        action="store_true",
        help="one FIFO behind each link for all of its streams, where each has its own",
    )
    add_options_of(parser, ARCHITECTURE)
    add_written(
        parser,
        "-o",
        "--output",
        metavar="DIR",
        help="JSON, tables as CSV, time line as CSV and SVG (default: none)",
        place=Output.of_folder,
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate a batch, and say how long it takes and what waits for what."""
    network = open_network(args.network)
    fifos = read_fifos(args.fifo)
    board = linked(board_of(args, ARCHITECTURE), args.link_gbs, args.latency)
    options = Options(
        batch=args.images,
        scope=scope_of(network, args.scope),
        word_bits=word_bits(args.word),
        costs=costs_of(args, ARCHITECTURE, board),
        extra=own_options(args, ARCHITECTURE),
    )
    plan = ARCHITECTURE.plan(network, board, options)
    chain = chain_of(
        plan,
        loss=args.loss,
        sizes=sizes_of(fifos, len(plan.cut.pieces)),
        shared=args.shared_fifo,
    )
    with ExitStack() as held:
        output = None
        if args.output is not None:
            output = held.enter_context(Output.of_folder("-o", args.output))
        run = _simulated(plan, chain)
        from merp.tools.cluster.answer import answer, files, show_answer  # tables wait

        found = answer(run, {"loss": args.loss, "fifos": fifos, "shared_fifo": args.shared_fifo})
        if output is not None:
            output.write(files(run, found))
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        show_answer(run)
    return 0


def _simulated(plan: Plan, chain: Chain) -> Simulated:
    """The plan that has run.

    Raises:
        CheckFailed: it comes to a deadlock.
    """
    work = f"{len(chain.slices)} slices on {plan.board.devices} boards, {chain.images} images"
    with ProgressBar("cluster", work) as bar, bar.spent.on("simulating"):
        try:
            outcome = simulate(chain)
        except Deadlock as stuck:
            raise CheckFailed(f"deadlock: {stuck}") from None
    return Simulated(plan=plan, chain=chain, outcome=outcome, record=simulated(plan, outcome))
