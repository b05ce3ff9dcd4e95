"""``merp train``: train a network in the hardware's own arithmetic."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from merp.models.errors import BadInput, shown
from merp.models.memory import check_memory
from merp.models.network.network import Network
from merp.models.params.state_field import STATES
from merp.tools.common.arguments import add_network, add_tables, whole
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network

if TYPE_CHECKING:
    from merp.cosim.audit.training_step import PhaseCounts
    from merp.models.golden.loss import Labels
    from merp.models.golden.training import Model, Rates
    from merp.models.params.bits import Bits
    from merp.tools.train.checkpoint import Checkpoint
    from merp.tools.train.data import Split

    Counts = Mapping[str, PhaseCounts]  # by phase, of one step; none from the golden engine
    Step = Callable[[Model, Bits, Labels, Rates], tuple[Model, float, Counts]]

ENGINES = ("golden", "myhdl", "verilator")
HARDWARE_STATE = "pooled"  # the only kind that the hardware writes
LOSSES = ("cross-entropy", "squared")
BATCH, EPOCHS, RATE, MOMENTUM = 32, 10, 0.05, 0.9  # 98 % of the held-out digits


def _number(low: float, high: float, allowed: str) -> Callable[[str], float]:
    """Return an argument type: a number from ``low`` to below ``high``."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value < high:
            raise argparse.ArgumentTypeError(f"must be {allowed}, not {shown(text)}")
        return value

    return parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument(
        "--data", required=True, metavar="digits|FILE.npz", help="scikit-learn's digits, or a file"
    )
    parser.add_argument("--engine", choices=ENGINES, default="golden", help="default golden")
    parser.add_argument(
        "--batch", type=whole(1, 1 << 16), metavar="N", help=f"images a step (default {BATCH})"
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--steps",
        type=whole(1, 1 << 31),
        metavar="N",
        help="in all, those resumed included (default: those of the epochs)",
    )
    length.add_argument(
        "--epochs", type=whole(1, 1 << 20), metavar="N", help=f"in all (default {EPOCHS})"
    )
    parser.add_argument(
        "--lr",
        type=_number(sys.float_info.min, math.inf, "a number above 0"),
        default=RATE,
        metavar="X",
        help=f"learning rate (default {RATE})",
    )
    parser.add_argument(
        "--momentum",
        type=_number(0, 1, "a number from 0 to below 1"),
        default=MOMENTUM,
        metavar="X",
        help=f"default {MOMENTUM}",
    )
    parser.add_argument("--loss", choices=LOSSES, default=LOSSES[0], help=f"default {LOSSES[0]}")
    parser.add_argument(
        "--state-bits",
        choices=STATES,
        help=f"state kept by forward propagation (default 32; hardware keeps {HARDWARE_STATE})",
    )
    parser.add_argument("--seed", type=whole(0, (1 << 32) - 1), metavar="S", help="default 0")
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE.npz",
        help="save each epoch and at the end (default: not)",
    )
    parser.add_argument(
        "--resume", type=Path, metavar="FILE.npz", help="go on from a saved file (default: begin)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="answer and loss curve (default: none)"
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Train, save, print what came out; 1 if a check of the hardware did not hold."""
    state = _state(args.engine, args.state_bits)
    network = open_network(args.network)
    with ExitStack() as held:
        output = saved = None
        if args.output is not None:
            output = held.enter_context(Output.of_folder("-o", args.output))
        if args.save is not None:
            saved = held.enter_context(Output.of_file("--save", args.save))
        return _run(args, network, state, output, saved)


def _run(
    args: argparse.Namespace,
    network: Network,
    state: str,
    output: Output | None,
    saved: Output | None,
) -> int:
    """Run with the places of the output held."""

    # numba's import waits until the arguments are good
    from merp.models.golden.memory import training_bytes
    from merp.tools.train import report as train_report
    from merp.tools.train.data import read_data, split
    from merp.tools.train.digits import digits

    data = split(digits() if args.data == "digits" else read_data(Path(args.data)), network)
    batch = 1 if args.resume else args.batch or BATCH  # a saved file says its own
    needed = training_bytes(network, batch, len(data.held_images))
    check_memory(f"train {network.name}, batch {batch}", needed)
    start = _start(args, network, data)
    steps = _steps(args, start, len(data.images))
    plan = f"{steps - start.step:,} steps of {start.batch} images, engine {args.engine}"
    with ProgressBar("train", plan) as bar:
        step = _step(args, network, start.batch, state, bar)
        done, counts = _train(args, network, data, start, steps, step, saved, bar)
    answer = train_report.answer(
        network, args.engine, done, data, state, counts, momentum=args.momentum > 0
    )
    if output is not None:
        output.write(train_report.files(answer))
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        train_report.show(answer)
    return 0


def _state(engine: str, asked: str | None) -> str:
    """Kind of state that is kept."""
    if engine == "golden":
        return asked or "32"
    if asked not in (None, HARDWARE_STATE):
        raise BadInput(
            f"--state-bits {asked}: --engine {engine} runs the hardware: allowed: {HARDWARE_STATE}"
        )
    return HARDWARE_STATE


def _step(
    args: argparse.Namespace, network: Network, images: int, state: str, bar: ProgressBar
) -> Step:
    """What runs a step of so many images: the golden model, or the hardware on an engine."""
    if args.engine == "golden":
        from merp.models.golden.training import train_step

        def golden(
            model: Model, images: Bits, labels: Labels, rates: Rates
        ) -> tuple[Model, float, Counts]:
            with bar.spent.on("golden"):
                step = train_step(network, model, images, labels, rates, args.loss, state)
            return step.model, step.loss, {}

        return golden
    from merp.cosim.audit.training_step import HardwareStep

    hardware = HardwareStep(network, args.engine, images)

    def simulated(
        model: Model, images: Bits, labels: Labels, rates: Rates
    ) -> tuple[Model, float, Counts]:
        before = dict(hardware.seconds)
        with bar.spent.on("golden and audit"):
            found = hardware.step(model, images, labels, rates, args.loss)
        for what, seconds in hardware.seconds.items():
            bar.spent.recount("golden and audit", what, seconds - before[what])
        return found

    return simulated


def _start(args: argparse.Namespace, network: Network, data: Split) -> Checkpoint:
    """Take up a saved file, whose seed and batch say which images come next, or begin."""
    from merp.models.golden.training import initial_model
    from merp.tools.train.checkpoint import Checkpoint, inputs_of, resume

    inputs = inputs_of(network, data)
    if args.resume is None:
        seed = args.seed or 0
        model = initial_model(network, seed)
        batch = args.batch or BATCH
        return Checkpoint(model=model, seed=seed, batch=batch, loss=(), inputs=inputs)
    found = resume(args.resume, network)
    if found.inputs != inputs:
        raise BadInput(
            f"{args.resume}: of another {network.name} or other data: allowed are those it was "
            "made with"
        )
    for key in ("seed", "batch"):
        given, kept = getattr(args, key), getattr(found, key)
        if given is not None and given != kept:
            raise BadInput(f"--{key} {given}: {args.resume} was made with {kept}: allowed: {kept}")
    return found


def _steps(args: argparse.Namespace, start: Checkpoint, images: int) -> int:
    """Steps in all."""
    if start.batch > images:
        raise BadInput(
            f"--batch {start.batch}: allowed are 1 to {images}, the images to train with"
        )
    steps: int = args.steps or (args.epochs or EPOCHS) * (images // start.batch)
    if steps < start.step:
        raise BadInput(f"--resume {args.resume}: at step {start.step}: allowed are up to {steps}")
    return steps


def _train(
    args: argparse.Namespace,
    network: Network,
    data: Split,
    start: Checkpoint,
    steps: int,
    run_step: Step,
    saved: Output | None,
    bar: ProgressBar,
) -> tuple[Checkpoint, Counts]:
    """Run the steps that are left; saves each epoch, at the end, and when interrupted.

    Counts are those of the last step; every step has the same.
    """
    from merp.models.golden.training import Rates
    from merp.tools.train.checkpoint import save
    from merp.tools.train.data import batch_of

    try:
        rates = Rates.of(args.lr, args.momentum, start.batch, network.fmt)
    except ValueError as error:
        raise BadInput(f"--lr {args.lr}: {error}") from error
    per_epoch = len(data.images) // start.batch
    done = start
    counts: Counts = {}
    try:
        for step in range(start.step, steps):
            chosen = batch_of(len(data.images), start.batch, start.seed, step)
            images, labels = data.images[chosen], data.labels[chosen]
            model, loss, counts = run_step(done.model, images, labels, rates)
            if not math.isfinite(loss):
                raise BadInput(
                    f"--lr {args.lr}: the loss is {loss} at step {step}: allowed is less"
                )
            # Only now is it known that the step before left a model that works.
            if saved is not None and step > start.step and step % per_epoch == 0:
                save(saved, done, network)
            done = replace(done, model=model, loss=(*done.loss, loss))
            said = f"step {done.step:,} of {steps:,}, loss {loss:.4f}"
            bar.count(done.step, steps, said, start.step)
    except KeyboardInterrupt:
        if saved is not None:
            save(saved, done, network)
        raise
    if saved is not None:
        save(saved, done, network)
    return done, counts
