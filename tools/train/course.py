"""The request of a training. Options are checked without slow imports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from merp.models.base.errors import BadInput
from merp.models.base.fixed import FixedFormat
from merp.models.base.given import given, mention, name_of
from merp.models.base.rates import UpdateRule
from merp.models.fpga.board import Board
from merp.models.network.branches import all_expand
from merp.models.network.machine import Machine
from merp.models.network.machine_checks import check_network
from merp.models.network.network import Network
from merp.models.network.network_keys import COMBINED
from merp.models.network.registry import (
    machine_asked,
    machine_named,
    machine_that_runs,
    network_asked,
    of_other,
    part_of,
)
from merp.tools.common.boards import open_board
from merp.tools.train.names import BATCH, ENGINES, HARDWARE_STATE, IN_HARDWARE, ON_CHIP, SYSTEM
from merp.tools.train.request import Train

if TYPE_CHECKING:
    from merp.cosim.board.driver import Device
    from merp.tools.train.in_passes import InPasses, Planner


class Schedule(NamedTuple):
    """The learning rate's ``factor``, above 0 and up to 1, after every ``every`` epochs."""

    factor: float
    every: int


@dataclass(frozen=True, kw_only=True)
class Target:
    """A board, and options of the plan on it.

    Attributes:
        board: the board.
        goal: optimisation of the tiles; None is the machine's default.
        apart: separate bitstreams for each layer.
    """

    board: Board
    goal: str | None
    apart: bool

    def plan(self, network: Network, batch: int) -> InPasses:
        """Return the passes of a step of ``batch`` images.

        Raises:
            BadInput: the machine of its designs runs no such passes, or the part is too small.
        """
        from merp.cosim.machines.loader import having  # imports NumPy only if needed

        planners: Mapping[str, Planner] = having("passes")
        machine = machine_that_runs(network)
        if machine.name not in planners:
            for name, design in network.designs.items():
                where = f"{network.name}: design {name}"
                raise of_other(design, where, map(machine_named, planners))
            raise BadInput(f"{name_of('board')}: {network.name} runs on {machine.name}: omit it")
        return planners[machine.name](
            network, self.board, batch, self.goal, HARDWARE_STATE, self.apart
        )


def target_of(asked: Train) -> Target | None:
    """Return the board to train on, if any."""
    if asked.board is None:
        return None
    return Target(board=open_board(fspath(asked.board)), goal=asked.goal, apart=asked.apart)


@dataclass(frozen=True, kw_only=True)
class Course:
    """A checked request of a training.

    Attributes:
        network: the network. Each layer has a design, unless the golden model trains it or the
            plan on a board has one.
        engine: one of ``names.ENGINES``.
        state: stored ReLU/pooling mask (``state_kept``).
        target: board whose passes are used; None for layers in one piece.
        machine: machine that runs it.
        own: options of this machine only, if an option selected the machine.
        batch: images of a minibatch, 1 to ``MOST_BATCH``; None is ``BATCH``, or that of ``resume``.
        accumulate: minibatches of a step, 1 to ``MOST_ACCUMULATE``; None is 1, or that of
            ``resume``.
        steps: total steps with the resumed ones, 1 to ``MOST_STEPS``; None follows from ``epochs``.
        epochs: total epochs, 1 to ``MOST_EPOCHS``; None is ``EPOCHS``.
        learning_rate: rate for the mean loss, above 0.
        momentum: from 0 to below 1.
        weight_decay: decay of kernels and biases, 0 or more.
        schedule: schedule of the learning rate.
        loss: one of ``LOSSES``.
        on: the board that runs the steps; None: a simulated one, if the engine is a system.
        seed: seed of 32 bits; None is 0, or that of ``resume``.
        resume: saved file to resume from.
        weights: file of initial kernels and biases, if nothing is resumed.
    """

    network: Network
    engine: str
    state: str
    target: Target | None
    machine: Machine
    own: OwnCourse | None
    batch: int | None
    accumulate: int | None
    steps: int | None
    epochs: int | None
    learning_rate: float
    momentum: float
    weight_decay: float
    schedule: Schedule
    loss: str
    on: Device | None
    seed: int | None
    resume: Path | None
    weights: Path | None

    @property
    def pooled(self) -> bool:
        """Whether deltas are stored pooled.

        They are in plans, in the combined backward pass, and for concatenations of layers with
        different ReLU or pooling.
        """
        own = self.own is not None and self.own.pooled
        passes = self.network.backward == COMBINED or not all_expand(self.network)
        return self.target is not None or passes or own

    @property
    def rule(self) -> UpdateRule:
        """The update rule that the hardware implements."""
        return UpdateRule(self.momentum > 0, self.weight_decay > 0)

    def rate(self, epoch: int) -> float:
        """Return the learning rate of the mean loss in an epoch, counted from 0.

        The rate is in binary64. A step's register holds it divided by the batch size, rounded once
        to the format.
        """
        return self.learning_rate * self.schedule.factor ** (epoch // self.schedule.every)

    def rate_as_given(self, epoch: int) -> str:
        """Return the given learning rate, and its value in an epoch, for messages."""
        rate = self.rate(epoch)
        become = f": {rate:g} in epoch {epoch + 1}" if rate != self.learning_rate else ""
        return f"{given('learning_rate', self.learning_rate)}{become}"


class OwnCourse(Protocol):
    """Options of a machine that an option selected; only the machine knows their details."""

    @property
    def pooled(self) -> bool:
        """Whether it stores deltas at pooled resolution."""


def course_of(network: Network, asked: Train, on: Device | None = None) -> Course:
    """Return the checked request, with the board that Python gave.

    Raises:
        BadInput: options contradict each other, or the network.
    """
    target = target_of(asked)
    network = network_asked(network, asked.architecture, asked.batch or BATCH)
    machine = machine_asked(network, asked.architecture)
    network = going_back(network, asked.backward, target)
    check_accumulate(given("accumulate", asked.accumulate), asked.accumulate, network, machine)
    engine = engine_of(asked, machine)
    if on is not None:
        check_steps_from_memory(asked, machine)
        engine = SYSTEM
    return Course(
        network=network,
        engine=engine,
        state=state_kept(network, engine, target, asked.state_bits),
        target=target,
        machine=machine,
        own=own_of(asked, machine, engine),
        batch=asked.batch,
        accumulate=asked.accumulate,
        steps=asked.steps,
        epochs=asked.epochs,
        learning_rate=asked.learning_rate,
        momentum=asked.momentum,
        weight_decay=asked.weight_decay,
        schedule=Schedule(asked.learning_rate_decay or 1.0, asked.learning_rate_every or 1),
        loss=asked.loss,
        on=on,
        seed=asked.seed,
        resume=None if asked.resume is None else Path(asked.resume),
        weights=None if asked.weights is None else Path(asked.weights),
    )


def check_accumulate(
    where: str, minibatches: int | None, network: Network, machine: Machine
) -> None:
    """Refuse several minibatches in a step of a machine that updates kernels with each of them.

    Its golden model is refused, too.

    Raises:
        BadInput: ``where`` starts the message.
    """
    if (minibatches or 1) > 1 and not machine.accumulates:
        raise BadInput(
            f"{where}: {network.name} runs on {machine.name}, which updates kernels with every "
            "batch: allowed: 1"
        )


def engine_of(asked: Train, machine: Machine) -> str:
    """Return the requested engine; by default the golden model, or MyHDL if the machine has
    none."""
    if asked.engine is not None:
        return asked.engine
    return ENGINES[0] if machine.runs is None else IN_HARDWARE


def check_steps_from_memory(asked: Train, machine: Machine) -> None:
    """Refuse options that contradict a board given by Python, which runs whole steps from memory.

    Raises:
        BadInput: names the option.
    """
    if asked.engine not in (None, SYSTEM):
        raise BadInput(f"{given('engine', asked.engine)}: with on: allowed is {SYSTEM!r}")
    if asked.board is not None:
        raise BadInput(f"{given('board', asked.board)}: with on: omit one of them")
    if machine.runs is not None:
        raise BadInput(f"{given('architecture', asked.architecture)}: with on: omit one of them")


def own_of(asked: Train, machine: Machine, engine: str) -> OwnCourse | None:
    """Return the options of a machine that an option selected, if any.

    Raises:
        BadInput: the machine does not support them, or does not train.
    """
    if machine.runs is None:
        return None
    found: Callable[[Train, str], OwnCourse] = part_of(machine, machine.hardware, "course")
    return found(asked, engine)


def going_back(network: Network, asked: str | None, target: Target | None) -> Network:
    """Return the network with the requested backward pass, or its own.

    In a plan, convolutions that cannot have a combined backward pass run separate passes.

    Raises:
        BadInput: a convolution in one piece cannot have a combined backward pass.
    """
    found = network if asked is None else replace(network, backward=asked)
    if target is None:
        check_network(found)
    return found


def state_kept(network: Network, engine: str, target: Target | None, asked: str | None) -> str:
    """Return the kind of ReLU/pooling mask that forward propagation stores.

    Raises:
        BadInput: the hardware stores another kind than requested.
    """
    if isinstance(network.numbers, FixedFormat):
        if asked is not None:
            raise BadInput(
                f"{given('state_bits', asked)}: {network.name} is in fixed point, its mask stays "
                "on chip: omit it"
            )
        return ON_CHIP
    one_pass = network.backward == COMBINED
    if engine == "golden" and target is None and not one_pass:
        return asked or "32"
    if asked not in (None, HARDWARE_STATE):
        what = mention("engine", engine) if target is None else name_of("board")
        what = mention("backward", COMBINED) if one_pass else what
        raise BadInput(
            f"{given('state_bits', asked)}: {what} runs the hardware: allowed: {HARDWARE_STATE}"
        )
    return HARDWARE_STATE
