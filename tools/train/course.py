"""What is to be trained, and how; it imports nothing slow, so that options are checked at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from merp.cosim.machines.cnn_merp.chain.beats import PATIENCE
from merp.models.base.errors import BadInput
from merp.models.base.fixed import FixedFormat
from merp.models.base.given import given, mention, name_of
from merp.models.base.rates import UpdateRule
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.one_pass import check_backward
from merp.models.machines.cnn_merp.pipeline.slices import DEPTH
from merp.models.network.network import Network
from merp.models.network.network_keys import FUSED
from merp.tools.common.arguments import CLUSTER, PIPELINE

if TYPE_CHECKING:
    from merp.models.machines.cnn_merp.plan.planned import Plan

ENGINES = ("golden", "myhdl", "verilator", "ghdl")
APART = ("myhdl", "verilator")
"""Engines whose simulations of several boards can run together."""

PROCESSES, MPI = "processes", "mpi"
MOST_PATIENCE = 7 * 24 * 3600
"""Seconds."""
"""What simulates each board of a chain by itself, as it is asked for."""
DIGITS = "digits"
"""The data set that needs no file."""

LOSSES = ("cross-entropy", "squared", "hinge")
HARDWARE_STATE = "pooled"  # the only kind that the hardware writes
ON_CHIP = "chip"
"""The state that never leaves the MAC array."""
BATCH, EPOCHS, RATE, MOMENTUM = 32, 10, 0.05, 0.9  # 98 % of the held-out digits
MOST_BATCH, MOST_STEPS, MOST_EPOCHS = 1 << 16, 1 << 31, 1 << 20


class Schedule(NamedTuple):
    """The learning rate's ``factor``, above 0, up to 1, after ``every`` so many epochs."""

    factor: float
    every: int


def schedule(decay: float | None, every: int | None) -> Schedule:
    """The schedule of a decay, above 0 and below 1, if there is any.

    Raises:
        BadInput: a number of epochs is given for a decay that is not.
    """
    if decay is None and every is not None:
        raise BadInput(f"{given('lr_every', every)}: allowed with {name_of('lr_decay')}")
    return Schedule(1.0 if decay is None else decay, every or 1)


@dataclass(frozen=True, kw_only=True)
class Target:
    """A board, and how a network is planned on it.

    Attributes:
        board: where. goal: of ``GOALS``, what tiles are chosen for; None is the first of them.
        apart: bitstreams for each layer alone.
    """

    board: Board
    goal: str | None
    apart: bool

    def plan(self, network: Network, batch: int) -> Plan:
        """The passes of a step of ``batch`` images.

        Raises:
            BadInput: the part is too small.
        """
        from merp.models.machines.cnn_merp.plan.plan import GOALS, plan

        goal = self.goal or GOALS[0]
        return plan(network, self.board, batch, goal, HARDWARE_STATE, self.apart)


def target_of(board: Board | None, *, goal: str | None, apart: bool) -> Target | None:
    """Where to train, if on a board.

    Raises:
        BadInput: what only a plan has is asked for without a board.
    """
    if board is not None:
        return Target(board=board, goal=goal, apart=apart)
    for name, asked in (("goal", goal is not None), ("apart", apart)):
        if asked:
            raise BadInput(f"{name_of(name)}: allowed with {name_of('board')}")
    return None


@dataclass(frozen=True, kw_only=True)
class Course:
    """What is to be trained, and how.

    Attributes:
        network: every layer of it has a design, unless the golden model trains it or there is a
            board, whose plan has one.
        engine: of ``ENGINES``. state: that is kept (``state_kept``).
        target: the board in whose passes it is trained; None for layers in one piece.
        at_once: how all layers and phases run at once; None where they run one after the other.
        batch: images of a step, 1 to ``MOST_BATCH``; None is ``BATCH``, or that of ``resume``.
        steps: in all, those resumed included, 1 to ``MOST_STEPS``; None is those of ``epochs``.
        epochs: in all, 1 to ``MOST_EPOCHS``; None is ``EPOCHS``.
        learning_rate: of the mean loss, above 0. momentum: from 0 to below 1.
        weight_decay: of kernels and biases, 0 or more.
        schedule: how the learning rate changes.
        loss: of ``LOSSES``.
        seed: of 32 bits; None is 0, or that of ``resume``.
        resume: a saved file to go on from.
        weights: a file of kernels and biases to begin with, where nothing is resumed.
    """

    network: Network
    engine: str
    state: str
    target: Target | None
    at_once: AtOnce | None
    batch: int | None
    steps: int | None
    epochs: int | None
    learning_rate: float
    momentum: float
    weight_decay: float
    schedule: Schedule
    loss: str
    seed: int | None
    resume: Path | None
    weights: Path | None

    @property
    def pooled(self) -> bool:
        """Whether deltas are stored at pooled resolution: as plans, one pass, and chains do."""
        chain = self.at_once is not None and self.at_once.devices is not None
        return self.target is not None or self.network.backward == FUSED or chain

    @property
    def rule(self) -> UpdateRule:
        """What hardware would be built for."""
        return UpdateRule(self.momentum > 0, self.weight_decay > 0)

    def rate(self, epoch: int) -> float:
        """Learning rate of the mean loss in an epoch, counted from 0.

        In binary64; a step's register has it over the batch size, rounded once into the format.
        """
        return self.learning_rate * self.schedule.factor ** (epoch // self.schedule.every)

    def rate_as_given(self, epoch: int) -> str:
        """The learning rate as it was given, and what it has become in an epoch."""
        rate = self.rate(epoch)
        become = f": {rate:g} in epoch {epoch + 1}" if rate != self.learning_rate else ""
        return f"{given('learning_rate', self.learning_rate)}{become}"


class AtOnce(NamedTuple):
    """All layers and phases at once: a pipeline on one chip, or on a chain of boards.

    Attributes:
        depth: images on their way at most. devices: boards; None for a pipeline on one chip.
        pace: cycles of a word on a link between boards. apart: what simulates each board by
            itself, ``PROCESSES`` or ``MPI``; None if all are in one simulation. patience: seconds
            that one of these may give no sign of life.
    """

    depth: int
    devices: int | None = None
    pace: int = 1
    apart: str | None = None
    patience: int = PATIENCE


def engine_of(architecture: str, asked: str | None) -> str:
    """The engine that was asked for; or the models, where these run the architecture, or MyHDL."""
    if asked is not None:
        return asked
    return "myhdl" if architecture in (PIPELINE, CLUSTER) else ENGINES[0]


def at_once_of(
    architecture: str,
    depth: int | None,
    devices: int | None,
    pace: int | None,
    apart: str | None,
    patience: int | None,
    engine: str,
    target: Target | None,
) -> AtOnce | None:
    """How layers and phases run at once, if they do; None of a figure is its default.

    Raises:
        BadInput: it is asked for without the architecture that has it, or that with what it has
            not.
    """
    for asked, value, having in (
        (given("depth", depth), depth, (PIPELINE, CLUSTER)),
        (given("devices", devices), devices, (CLUSTER,)),
        (given("link_cycles", pace), pace, (CLUSTER,)),
        (name_of(apart or PROCESSES), apart, (CLUSTER,)),
    ):
        if value is not None and architecture not in having:
            allowed = " or ".join(mention("architecture", each) for each in having)
            raise BadInput(f"{asked}: allowed with {allowed}")
    if patience is not None and apart is None:
        ways = " or ".join(name_of(each) for each in (PROCESSES, MPI))
        raise BadInput(f"{given('patience', patience)}: allowed with {ways}")
    if architecture not in (PIPELINE, CLUSTER):
        return None
    asked = given("architecture", architecture)
    if target is not None:
        raise BadInput(f"{asked}: runs no passes of a plan: allowed without {name_of('board')}")
    if engine == "golden":
        able = ", ".join(each for each in ENGINES if each != engine)
        raise BadInput(f"{asked}: {mention('engine', engine)} runs no hardware: allowed are {able}")
    if architecture == PIPELINE:
        return AtOnce(depth or DEPTH)
    if apart is not None and engine not in APART:
        able = " or ".join(mention("engine", each) for each in APART)
        raise BadInput(f"{name_of(apart)}: allowed with {able}")
    return AtOnce(depth or DEPTH, devices or 1, pace or 1, apart, patience or PATIENCE)


def going_back(network: Network, asked: str | None, target: Target | None) -> Network:
    """The network, going back as asked for, or as it says.

    A plan runs both phases apart of what cannot go back in one pass.

    Raises:
        BadInput: a convolution in one piece cannot.
    """
    found = network if asked is None else replace(network, backward=asked)
    if target is None:
        check_backward(found)
    return found


def state_kept(network: Network, engine: str, target: Target | None, asked: str | None) -> str:
    """Kind of state that forward propagation keeps, given what was asked for.

    Raises:
        BadInput: the hardware keeps another.
    """
    if isinstance(network.numbers, FixedFormat):
        if asked is not None:
            raise BadInput(
                f"{given('state_bits', asked)}: {network.name} is in fixed point, its state stays "
                "on the chip: allowed without"
            )
        return ON_CHIP
    one_pass = network.backward == FUSED
    if engine == "golden" and target is None and not one_pass:
        return asked or "32"
    if asked not in (None, HARDWARE_STATE):
        what = mention("engine", engine) if target is None else name_of("board")
        what = mention("backward", FUSED) if one_pass else what
        raise BadInput(
            f"{given('state_bits', asked)}: {what} runs the hardware: allowed: {HARDWARE_STATE}"
        )
    return HARDWARE_STATE
