"""The request of a training, on the command line and in Python."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from merp.models.base.state_field import STATES
from merp.models.network.registry import architectures, runners
from merp.tools.common import fields
from merp.tools.common.fields import MOST_BATCH
from merp.tools.common.kinds import (
    File,
    Kind,
    Listener,
    Named,
    Number,
    OneOf,
    Opens,
    Place,
    Text,
    Told,
    WholeOption,
)
from merp.tools.common.request import Being, Typed, again, keyword, option
from merp.tools.train.datasets.names import DIGITS
from merp.tools.train.names import (
    BATCH,
    ENGINES,
    EPOCHS,
    HARDWARE_STATE,
    IN_HARDWARE,
    LOSSES,
    MOMENTUM,
    MOST_ACCUMULATE,
    MOST_EPOCHS,
    MOST_STEPS,
    RATE,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from merp.cosim.board.driver import Device

    Labelled = Place | tuple[ArrayLike, ArrayLike]

ARCHITECTURES = architectures()
SOURCES = f"{DIGITS}|FILE|DIR"


def data_field(**more: Any) -> Any:
    """Declare ``--data``."""
    return option(
        Text(),
        "an .npz, .csv or IDX file; a folder of IDX files, or of pictures by class; or digits: "
        "scikit-learn's digits, one class per output of the network",
        default=DIGITS,
        metavar=SOURCES,
        says="(images, labels): (count, rows, columns[, channels]) numbers, or channels first, and "
        "(count,) classes from 0. Or an ``.npz``, ``.csv`` or IDX file of these. Or a folder of "
        "IDX files, or of pictures by class. Or ``digits``: scikit-learn's digits, one class per "
        "output of the network.",
        **more,
    )


def rate_field() -> Any:
    """Declare ``--learning-rate``."""
    return option(
        Number("a number above 0", lambda value: 0 < value < math.inf),
        f"learning rate (default {RATE})",
        "--learning-rate",
        "--lr",
        default=RATE,
        metavar="X",
        says="learning rate of the mean loss.",
    )


def momentum_field() -> Any:
    """Declare ``--momentum``."""
    return option(
        Number("a number from 0 to below 1", lambda value: 0 <= value < 1),
        f"momentum (default {MOMENTUM})",
        default=MOMENTUM,
        metavar="X",
        says="momentum, from 0 to below 1.",
    )


def loss_field() -> Any:
    """Declare ``--loss``."""
    return option(
        OneOf(LOSSES),
        f"loss (default {LOSSES[0]})",
        default=LOSSES[0],
        says=f"{', '.join(f'``{each}``' for each in LOSSES)}.",
    )


@dataclass(frozen=True, kw_only=True)
class Train:
    """Fields that the verb and the Python method share."""

    data: Labelled = data_field()
    validation: Labelled | None = option(
        Text(),
        "images for the accuracy (default: the test images of the data, else a fifth of the data, "
        "which is not used for training)",
        metavar=SOURCES,
        says="images for the accuracy, as for ``data``; by default its test images, else a fifth "
        "of ``data``.",
    )
    engine: str | None = option(
        OneOf(ENGINES),
        f"engine (default {ENGINES[0]}; {IN_HARDWARE} with --architecture "
        f"{' or '.join(each.name for each in runners())})",
        says="``golden``: the golden model; ``myhdl``, ``verilator`` or ``ghdl``: simulated "
        "hardware, with every word compared to the golden model and the same weights. Default: "
        "``golden``; ``myhdl`` for an architecture that runs in hardware only.",
    )
    architecture: str = fields.architecture(
        f"default {ARCHITECTURES[0]}: layer by layer", default=ARCHITECTURES[0]
    )
    depth: int | None = fields.depth()
    devices: int | None = fields.devices()
    link_cycles: int | None = fields.of_machine(
        "link_cycles",
        "cycles of a word on a link between boards (default {default})",
        "cycles of a word on a link between boards, {low} to {high} (default {default}).",
    )
    processes: bool = fields.of_machine(
        "processes",
        "simulate each board of the chain in its own process, with engine myhdl or verilator",
        "simulate each board in its own process, with engine ``myhdl`` or ``verilator``.",
        group="apart",
    )
    patience: int | None = fields.of_machine(
        "patience",
        "with --processes or --mpi: end the run if a board sends no sign of life for this time. "
        "It sends them while it computes, too (default {default})",
        "end the run if a process sends no sign of life for this time in seconds; it sends them "
        "while it computes, too (default {default}).",
        metavar="SECONDS",
        needs=(Being("processes"), Being("mpi")),
    )
    batch: int | None = option(
        WholeOption(1, MOST_BATCH),
        f"images of a step (default {BATCH})",
        metavar="N",
        says=f"images of a step, 1 to {MOST_BATCH} (default {BATCH}, or that of ``resume``).",
    )
    accumulate: int | None = option(
        WholeOption(1, MOST_ACCUMULATE),
        "minibatches of --batch images in a step, which updates the kernels once by the sum of "
        "their gradients (default 1)",
        metavar="N",
        says=f"minibatches of ``batch`` images in a step, 1 to {MOST_ACCUMULATE}. The step updates "
        "the kernels once, by the sum of their gradients (default 1, or that of ``resume``).",
    )
    steps: int | None = option(
        WholeOption(1, MOST_STEPS),
        "total steps, with the resumed ones (default: from --epochs)",
        metavar="N",
        group="length",
        says="total steps, with the resumed ones.",
    )
    epochs: int | None = option(
        WholeOption(1, MOST_EPOCHS),
        f"total epochs (default {EPOCHS})",
        metavar="N",
        group="length",
        without=(Being("steps"),),
        says=f"total epochs, if ``steps`` is not given (default {EPOCHS}).",
    )
    learning_rate: float = rate_field()
    learning_rate_decay: float | None = option(
        Number("a number above 0 and below 1", lambda value: 0 < value < 1),
        "factor of the learning rate after every --learning-rate-every epochs (default: constant "
        "rate)",
        metavar="X",
        says="factor of the learning rate, below 1, after every ``learning_rate_every`` epochs; by "
        "default the rate is constant.",
        former=("lr_decay",),
    )
    learning_rate_every: int | None = option(
        WholeOption(1, MOST_EPOCHS),
        "epochs between changes by --learning-rate-decay (default 1)",
        metavar="N",
        needs=(Being("learning_rate_decay"),),
        former=("lr_every",),
        says="epochs between changes of the rate (default 1).",
    )
    momentum: float = momentum_field()
    weight_decay: float = option(
        Number("a number of 0 or more", lambda value: 0 <= value < math.inf),
        "decay of kernels and biases, coupled with the gradient as in PyTorch's SGD (default 0)",
        default=0.0,
        metavar="X",
        says="decay of kernels and biases, coupled with the gradient as in PyTorch's SGD.",
    )
    loss: str = loss_field()
    state_bits: str | None = option(
        OneOf(STATES),
        f"stored ReLU/pooling mask of forward propagation (default 32; hardware: {HARDWARE_STATE})",
        says="stored ReLU/pooling mask of forward propagation: ``32``, ``1`` or ``pooled``; the "
        "hardware stores ``pooled``.",
    )
    seed: int | None = fields.seed(
        "seed (default 0)",
        default=None,
        says="seed of the initial parameters and the order of images (default 0, or that of "
        "``resume``).",
    )
    save: Place | None = fields.output(
        "file",
        "save the state after each epoch and at the end to this file (default: not saved)",
        "--save",
        metavar="FILE.npz",
        says="``.npz`` file for the state, saved after each epoch, at the end, and if interrupted.",
    )
    weights: Place | None = option(
        File(),
        "initial kernels and biases (default: those of the model, else random ones)",
        metavar="FILE.npz",
        says="``.npz`` file of initial kernels and biases.",
    )
    resume: Place | None = option(
        File(),
        "resume from a saved file (default: start a new training)",
        metavar="FILE.npz",
        says="saved file to resume from, to the same bits.",
    )
    output: Place | None = fields.output(
        "folder",
        "answer and loss curve (default: none)",
        says="folder for the answer and the loss curve.",
    )
    backward: str | None = fields.backward(
        says="``separate`` passes for delta propagation and kernel update of convolutions, or one "
        "``combined`` pass with the same bits. By default as the network file says."
    )
    board: Place | None = fields.board(
        "none, layers run in one piece",
        says="a shipped board or a TOML file. Each step then runs in the passes of the plan on "
        "this board, with its designs, and not in layers in one piece.",
    )
    goal: str | None = fields.goal(needs=(Being("board"),), says="as for ``plan``.")
    apart: bool = fields.apart(needs=(Being("board"),), says="as for ``plan``.")


@dataclass(frozen=True, kw_only=True)
class TrainOptions(Typed, Train, fields.Tables):
    """The options of the verb."""

    network: str = fields.network(after="words")
    data: str = again(Train, "data")
    validation: str | None = again(Train, "validation")
    mpi: bool = fields.of_machine(
        "mpi",
        "as --processes, by ranks of MPI: run under mpirun with one rank more than boards (needs "
        "mpi4py: pip install 'merp[cluster]')",
        group="apart",
        after="processes",
    )
    details: bool = fields.shows_more("also print the traffic of maps and deltas only")


@dataclass(frozen=True)
class TrainKeywords(Train):
    """The keywords of the Python method."""

    data: Labelled = again(Train, "data", kind=Kind())
    _: KW_ONLY
    validation: Labelled | None = again(Train, "validation", kind=Kind())
    board: Place | None = again(Train, "board", kind=Named())
    patience: int | None = again(Train, "patience", needs=(Being("processes"),))
    on: Device | None = keyword(
        Opens(),
        "a board that runs each step from its memory, such as ``merp.UioDevice()``; the engine is "
        "then ``system``.",
    )
    progress: Listener | None = keyword(Told(), "receives lines about the progress.")
