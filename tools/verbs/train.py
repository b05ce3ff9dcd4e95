"""``merp train``: train a network in the hardware's own arithmetic."""

from __future__ import annotations

import argparse
import json
import math
import sys
from contextlib import ExitStack
from pathlib import Path

from merp.cosim.machines.cnn_merp.chain.beats import PATIENCE
from merp.models.base.state_field import STATES
from merp.models.machines.cnn_merp.chain.shares import MAX_PACE
from merp.models.machines.cnn_merp.pipeline.slices import DEPTH
from merp.models.network.network import Network
from merp.tools.common.arguments import (
    ARCHITECTURES,
    CLUSTER,
    MOST_DEPTH,
    MOST_DEVICES,
    PIPELINE,
    add_backward,
    add_network,
    add_tables,
    add_written,
    number,
    whole,
)
from merp.tools.common.boards import add_board, open_board
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.resumable import resumable
from merp.tools.common.shipped import open_network
from merp.tools.plan.options import add_tiling
from merp.tools.train.course import (
    BATCH,
    ENGINES,
    EPOCHS,
    HARDWARE_STATE,
    MOST_BATCH,
    MOST_EPOCHS,
    MOST_PATIENCE,
    MOST_STEPS,
    MPI,
    PROCESSES,
    AtOnce,
    Course,
    Target,
    at_once_of,
    engine_of,
    going_back,
    schedule,
    state_kept,
    target_of,
)
from merp.tools.train.options import add_data, add_loss, add_momentum, add_rate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    add_data(parser)
    parser.add_argument(
        "--validation",
        metavar="digits|FILE.npz",
        help="images to measure accuracy on (default: a fifth of the data, never trained with)",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help=f"default {ENGINES[0]}; myhdl with --architecture {PIPELINE} or {CLUSTER}",
    )
    parser.add_argument(
        "--architecture",
        choices=ARCHITECTURES,
        default=ARCHITECTURES[0],
        help="mazouz: all layers and phases at once, as a pipeline; fpdeep: the same on a chain of "
        "boards (default cnn-merp: one after the other)",
    )
    parser.add_argument(
        "--depth",
        type=whole(1, MOST_DEPTH),
        metavar="N",
        help=f"images on their way at most in a pipeline (default {DEPTH})",
    )
    parser.add_argument(
        "--devices",
        type=whole(1, MOST_DEVICES),
        metavar="N",
        help="boards of the chain, with fpdeep (default 1)",
    )
    parser.add_argument(
        "--link-cycles",
        type=whole(1, MAX_PACE),
        metavar="N",
        help="cycles that a word takes on a link between boards (default 1)",
    )
    apart = parser.add_mutually_exclusive_group()
    apart.add_argument(
        "--processes",
        dest="processes",
        action="store_const",
        const=PROCESSES,
        help="simulate each board of the chain in a process of its own, with engine myhdl or "
        "verilator",
    )
    apart.add_argument(
        "--mpi",
        dest="processes",
        action="store_const",
        const=MPI,
        help="the same by ranks of MPI: run under mpirun with a rank more than boards (needs "
        "mpi4py: pip install 'merp[cluster]')",
    )
    parser.add_argument(
        "--patience",
        type=whole(1, MOST_PATIENCE),
        metavar="SECONDS",
        help="with these: time without a sign of life of a board, which it gives while it computes "
        f"too, until the run ends (default {PATIENCE})",
    )
    parser.add_argument(
        "--batch", type=whole(1, MOST_BATCH), metavar="N", help=f"images a step (default {BATCH})"
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--steps",
        type=whole(1, MOST_STEPS),
        metavar="N",
        help="in all, those resumed included (default: those of the epochs)",
    )
    length.add_argument(
        "--epochs", type=whole(1, MOST_EPOCHS), metavar="N", help=f"in all (default {EPOCHS})"
    )
    add_rate(parser)
    parser.add_argument(
        "--lr-decay",
        type=number(sys.float_info.min, 1, "a number above 0 and below 1"),
        metavar="X",
        help="factor of the learning rate after every --lr-every epochs (default: it stays)",
    )
    parser.add_argument(
        "--lr-every", type=whole(1, MOST_EPOCHS), metavar="N", help="with --lr-decay (default 1)"
    )
    add_momentum(parser)
    parser.add_argument(
        "--weight-decay",
        type=number(0, math.inf, "a number of 0 or more"),
        default=0.0,
        metavar="X",
        help="of kernels and biases, coupled with the gradient as in PyTorch's SGD (default 0)",
    )
    add_loss(parser)
    parser.add_argument(
        "--state-bits",
        choices=STATES,
        help=f"state kept by forward propagation (default 32; hardware keeps {HARDWARE_STATE})",
    )
    parser.add_argument("--seed", type=whole(0, (1 << 32) - 1), metavar="S", help="default 0")
    add_written(
        parser,
        "--save",
        metavar="FILE.npz",
        help="save each epoch and at the end (default: not)",
        place=Output.of_file,
    )
    parser.add_argument(
        "--weights",
        type=Path,
        metavar="FILE.npz",
        help="kernels and biases to begin with (default: a model's own, else random ones)",
    )
    parser.add_argument(
        "--resume", type=Path, metavar="FILE.npz", help="go on from a saved file (default: begin)"
    )
    add_written(
        parser,
        "-o",
        "--output",
        metavar="DIR",
        help="answer and loss curve (default: none)",
        place=Output.of_folder,
    )
    add_backward(parser)
    add_board(parser, "none: layers in one piece")
    add_tiling(parser)
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Train, save, print what came out; 1 if a check of the hardware did not hold."""
    if args.processes != MPI:
        return _train(args)
    from merp.cosim.machines.cnn_merp.chain.ranks import other_ranks  # slow imports wait

    with other_ranks() as calls:
        return _train(args) if calls else 0


def _train(args: argparse.Namespace) -> int:
    board = None if args.board is None else open_board(args.board)
    target = target_of(board, goal=args.goal, apart=args.apart)
    network = going_back(open_network(args.network, fuses=True), args.backward, target)
    engine = engine_of(args.architecture, args.engine)
    state = state_kept(network, engine, target, args.state_bits)
    at_once = at_once_of(
        args.architecture,
        args.depth,
        args.devices,
        args.link_cycles,
        args.processes,
        args.patience,
        engine,
        target,
    )
    with ExitStack() as held:
        output = saved = None
        if args.output is not None:
            output = held.enter_context(Output.of_folder("-o", args.output))
        if args.save is not None:
            saved = held.enter_context(Output.of_file("--save", args.save))
            held.enter_context(resumable(args, f"--resume={args.save}"))
        _run(args, _course(args, network, engine, state, target, at_once), output, saved)
    return 0


def _course(
    args: argparse.Namespace,
    network: Network,
    engine: str,
    state: str,
    target: Target | None,
    at_once: AtOnce | None,
) -> Course:
    return Course(
        network=network,
        engine=engine,
        state=state,
        target=target,
        at_once=at_once,
        batch=args.batch,
        steps=args.steps,
        epochs=args.epochs,
        learning_rate=args.lr,
        momentum=args.momentum,
        weight_decay=args.weight_decay,
        schedule=schedule(args.lr_decay, args.lr_every),
        loss=args.loss,
        seed=args.seed,
        resume=args.resume,
        weights=args.weights,
    )


def _run(
    args: argparse.Namespace, course: Course, output: Output | None, saved: Output | None
) -> None:
    """Run with the places of the output held."""
    # numba's import waits until the arguments are good
    from merp.tools.train import report
    from merp.tools.train.run import labelled, prepare

    validation = (
        None if args.validation is None else labelled(args.validation, course.network, "validation")
    )
    ready = prepare(course, labelled(args.data, course.network), validation)
    with ProgressBar("train", ready.work) as bar:
        trained = ready.run(saved, bar)
    answer = trained.answer
    if output is not None:
        output.write(report.files(answer))
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        report.show(answer)
