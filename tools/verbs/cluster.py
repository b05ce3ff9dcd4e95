"""``merp cluster``: FPDeep's plan on a chain of boards, simulated row by row."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from merp.models.comparison.fpdeep import ARCHITECTURE
from merp.models.comparison.options import Options
from merp.models.errors import BadInput, CheckFailed
from merp.models.fpga.board import Board, Source
from merp.tools.cluster.fifos import read_fifos, sizes_of
from merp.tools.common.arguments import add_network, add_tables, positive, whole
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from merp.tools.comparison.options import add_scope, add_word, word_bits
from merp.tools.comparison.own_options import add_options_of, own_options
from merp.tools.comparison.place import add_place, board_of, costs_of
from merp.tools.comparison.scope import scope_of

MOST_IMAGES = 1 << 16
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
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="JSON, tables as CSV, time line as CSV and SVG (default: none)",
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate a batch, and say how long it takes and what waits for what."""
    network = open_network(args.network)
    fifos = read_fifos(args.fifo)
    board = _linked(board_of(args, ARCHITECTURE), args)
    options = Options(
        batch=args.images,
        scope=scope_of(network, args.scope),
        word_bits=word_bits(args.word),
        costs=costs_of(args, ARCHITECTURE, board),
        extra=own_options(args, ARCHITECTURE),
    )
    plan = ARCHITECTURE.plan(network, board, options)
    most = sum(piece.stage.maps for piece in plan.cut.pieces if piece.begin == 0)
    if board.devices > most:
        raise BadInput(
            f"--devices {board.devices}: {network.name} has {most} maps to deal out: at most "
            f"{most} boards can work"
        )
    with ExitStack() as held:
        output = None
        if args.output is not None:
            output = held.enter_context(Output.of_folder("-o", args.output))
        run = _simulated(args, plan, fifos)
        from merp.tools.cluster.answer import answer, files, show_answer  # tables wait

        found = answer(run, {"loss": args.loss, "fifos": fifos, "shared_fifo": args.shared_fifo})
        if output is not None:
            output.write(files(run, found))
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        show_answer(run)
    return 0


def _linked(board: Board, args: argparse.Namespace) -> Board:
    """The board with links as they were asked for.

    Raises:
        BadInput: it has none, and there are more boards than one.
    """
    given = args.link_gbs is not None or args.latency is not None
    if board.link is None:
        if board.devices > 1 or given:
            raise BadInput(f"board {board.name}: link is missing: allowed is --devices 1")
        return board
    link, sources = board.link, dict(board.sources)
    if args.link_gbs is not None:
        link = replace(link, lanes=1, gbytes_s=args.link_gbs / 8)
        for key in ("lanes", "gbytes_s"):
            sources[f"link: {key}"] = Source("assumed", "--link-gbs")
    if args.latency is not None:
        link = replace(link, latency_cycles=args.latency)
    return replace(board, link=link, sources=sources)


def _simulated(args: argparse.Namespace, plan: Any, fifos: dict[str, int]) -> Any:
    """The plan that has run.

    Raises:
        CheckFailed: it comes to a deadlock.
    """
    from merp.models.cluster.simulator import Deadlock, simulate
    from merp.models.comparison.fpdeep_simulated import chain_of, simulated
    from merp.tools.cluster.tables import Simulated

    chain = chain_of(
        plan,
        loss=args.loss,
        sizes=sizes_of(fifos, len(plan.cut.pieces)),
        shared=args.shared_fifo,
    )
    work = f"{len(chain.slices)} slices on {plan.board.devices} boards, {chain.images} images"
    with ProgressBar("cluster", work) as bar, bar.spent.on("simulating"):
        try:
            outcome = simulate(chain)
        except Deadlock as stuck:
            raise CheckFailed(f"deadlock: {stuck}") from None
    return Simulated(plan=plan, chain=chain, outcome=outcome, record=simulated(plan, outcome))
