"""What is to be trained, and how; it imports nothing slow, so that options are checked at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from merp.cosim.machines.cnn_merp.chain.beats import PATIENCE
from merp.models.base.errors import BadInput
from merp.models.base.fixed import FixedFormat
from merp.models.base.given import given, mention, name_of
from merp.models.base.rates import UpdateRule
from merp.models.fpga.board import Board
from merp.models.machines.cnn_merp.at_once.places import DEPTH
from merp.models.machines.cnn_merp.one_pass import check_backward
from merp.models.network.network import Network
from merp.models.network.network_keys import FUSED
from merp.tools.common.boards import open_board
from merp.tools.common.fields import CLUSTER, PIPELINE
from merp.tools.train.names import APART, ENGINES, HARDWARE_STATE, MPI, ON_CHIP, PROCESSES
from merp.tools.train.request import Train

if TYPE_CHECKING:
    from merp.models.machines.cnn_merp.plan.planned import Plan


class Schedule(NamedTuple):
    """The learning rate's ``factor``, above 0, up to 1, after ``every`` so many epochs."""

    factor: float
    every: int


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


def target_of(asked: Train) -> Target | None:
    """Where to train, if on a board."""
    if asked.board is None:
        return None
    return Target(board=open_board(fspath(asked.board)), goal=asked.goal, apart=asked.apart)


@dataclass(frozen=True, kw_only=True)
class Course:
    """What is to be trained, and how.

    Attributes:
        network: every layer of it has a design, unless the golden model trains it or there is a
            board, whose plan has one.
        engine: of ``names.ENGINES``. state: that is kept (``state_kept``).
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


def course_of(network: Network, asked: Train) -> Course:
    """What a request asks to train.

    Raises:
        BadInput: what is asked for does not go together, or with the network.
    """
    target = target_of(asked)
    network = going_back(network, asked.backward, target)
    engine = engine_of(asked)
    return Course(
        network=network,
        engine=engine,
        state=state_kept(network, engine, target, asked.state_bits),
        target=target,
        at_once=at_once_of(asked, engine),
        batch=asked.batch,
        steps=asked.steps,
        epochs=asked.epochs,
        learning_rate=asked.learning_rate,
        momentum=asked.momentum,
        weight_decay=asked.weight_decay,
        schedule=Schedule(asked.lr_decay or 1.0, asked.lr_every or 1),
        loss=asked.loss,
        seed=asked.seed,
        resume=None if asked.resume is None else Path(asked.resume),
        weights=None if asked.weights is None else Path(asked.weights),
    )


def engine_of(asked: Train) -> str:
    """The engine that was asked for; or the models, where these run the architecture, or MyHDL."""
    if asked.engine is not None:
        return asked.engine
    return "myhdl" if asked.architecture in (PIPELINE, CLUSTER) else ENGINES[0]


def at_once_of(asked: Train, engine: str) -> AtOnce | None:
    """How layers and phases run at once, if they do; None of a figure is its default.

    Raises:
        BadInput: the architecture does not run so.
    """
    if asked.architecture not in (PIPELINE, CLUSTER):
        return None
    said = given("architecture", asked.architecture)
    if asked.board is not None:
        raise BadInput(f"{said}: runs no passes of a plan: allowed without {name_of('board')}")
    if engine == "golden":
        able = ", ".join(each for each in ENGINES if each != engine)
        raise BadInput(f"{said}: {mention('engine', engine)} runs no hardware: allowed are {able}")
    depth = asked.depth or DEPTH
    if asked.architecture == PIPELINE:
        return AtOnce(depth)
    ways = [way for way in (PROCESSES, MPI) if getattr(asked, way, False)]
    if ways and engine not in APART:
        able = " or ".join(mention("engine", each) for each in APART)
        raise BadInput(f"{name_of(ways[0])}: allowed with {able}")
    return AtOnce(
        depth, asked.devices or 1, asked.link_cycles or 1, ways[0] if ways else None,
        asked.patience or PATIENCE,
    )  # fmt: skip


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
