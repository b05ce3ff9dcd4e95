"""The request of a training, on the command line and in Python."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from merp.models.base.state_field import STATES
from merp.models.network.registry import architectures
from merp.tools.common import fields
from merp.tools.common.fields import MOST_BATCH
from merp.tools.common.kinds import (
    File,
    Kind,
    Listener,
    Named,
    Number,
    OneOf,
    Place,
    Text,
    Told,
    WholeOption,
)
from merp.tools.common.request import Being, Typed, again, keyword, option
from merp.tools.train.names import (
    BATCH,
    DIGITS,
    ENGINES,
    EPOCHS,
    HARDWARE_STATE,
    IN_HARDWARE,
    LOSSES,
    MOMENTUM,
    MOST_EPOCHS,
    MOST_STEPS,
    RATE,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Labelled = Place | tuple[ArrayLike, ArrayLike]

ARCHITECTURES = architectures()


def data_field() -> Any:
    """``--data``."""
    return option(
        Text(),
        "a file, or scikit-learn's digits of as many classes as the network has outputs",
        default=DIGITS,
        metavar="digits|FILE.npz",
        says="(images, labels): (count, rows, columns[, channels]) numbers and (count,) classes "
        "from 0; or an ``.npz`` file of these; or ``digits``, scikit-learn's of as many classes as "
        "the network has outputs.",
    )


def rate_field() -> Any:
    """``--lr``."""
    return option(
        Number("a number above 0", lambda value: 0 < value < math.inf),
        f"learning rate (default {RATE})",
        "--lr",
        default=RATE,
        metavar="X",
        says="of the mean loss.",
    )


def momentum_field() -> Any:
    """``--momentum``."""
    return option(
        Number("a number from 0 to below 1", lambda value: 0 <= value < 1),
        f"default {MOMENTUM}",
        default=MOMENTUM,
        metavar="X",
        says="from 0 to below 1.",
    )


def loss_field() -> Any:
    """``--loss``."""
    return option(
        OneOf(LOSSES),
        f"default {LOSSES[0]}",
        default=LOSSES[0],
        says=f"{', '.join(f'``{each}``' for each in LOSSES)}.",
    )


@dataclass(frozen=True, kw_only=True)
class Train:
    """Fields that the verb and the Python method share."""

    data: Labelled = data_field()
    validation: Labelled | None = option(
        Text(),
        "images to measure accuracy on (default: a fifth of the data, never trained with)",
        metavar="digits|FILE.npz",
        says="as ``data``: images that accuracy is measured on, in place of a fifth.",
    )
    engine: str | None = option(
        OneOf(ENGINES),
        f"default {ENGINES[0]}; {IN_HARDWARE} with --architecture {' or '.join(ARCHITECTURES[1:])}",
        says="``golden``, the models; ``myhdl``, ``verilator`` or ``ghdl``, in the hardware, every "
        "word compared with the models: the same weights, bit for bit. If not given, ``golden``; "
        "of an architecture that runs in the hardware alone, ``myhdl``.",
    )
    architecture: str = fields.architecture(
        f"default {ARCHITECTURES[0]}: one after the other", default=ARCHITECTURES[0]
    )
    depth: int | None = fields.depth()
    devices: int | None = fields.devices()
    link_cycles: int | None = fields.of_machine(
        "link_cycles",
        "cycles that a word takes on a link between boards (default {default})",
        "cycles that a word takes on a link between boards, {low} to {high} (default {default}).",
    )
    processes: bool = fields.of_machine(
        "processes",
        "simulate each board of the chain in a process of its own, with engine myhdl or verilator",
        "each board is simulated by a process of its own, with engine ``myhdl`` or ``verilator``.",
        group="apart",
    )
    patience: int | None = fields.of_machine(
        "patience",
        "with these: time without a sign of life of a board, which it gives while it computes "
        "too, until the run ends (default {default})",
        "seconds without a sign of life of such a process, which it gives while it computes "
        "too, until the run ends (default {default}).",
        metavar="SECONDS",
        needs=(Being("processes"), Being("mpi")),
    )
    batch: int | None = option(
        WholeOption(1, MOST_BATCH),
        f"images a step (default {BATCH})",
        metavar="N",
        says=f"images of a step, 1 to {MOST_BATCH} (default {BATCH}, or that of ``resume``).",
    )
    steps: int | None = option(
        WholeOption(1, MOST_STEPS),
        "in all, those resumed included (default: those of the epochs)",
        metavar="N",
        group="length",
        says="in all, those resumed included.",
    )
    epochs: int | None = option(
        WholeOption(1, MOST_EPOCHS),
        f"in all (default {EPOCHS})",
        metavar="N",
        group="length",
        without=(Being("steps"),),
        says=f"in place of steps; {EPOCHS} if neither is given.",
    )
    learning_rate: float = rate_field()
    lr_decay: float | None = option(
        Number("a number above 0 and below 1", lambda value: 0 < value < 1),
        "factor of the learning rate after every --lr-every epochs (default: it stays)",
        metavar="X",
        says="factor of the learning rate, below 1, after every ``lr_every`` epochs; without it "
        "the rate stays.",
    )
    lr_every: int | None = option(
        WholeOption(1, MOST_EPOCHS),
        "with --lr-decay (default 1)",
        metavar="N",
        needs=(Being("lr_decay"),),
        says="epochs (default 1).",
    )
    momentum: float = momentum_field()
    weight_decay: float = option(
        Number("a number of 0 or more", lambda value: 0 <= value < math.inf),
        "of kernels and biases, coupled with the gradient as in PyTorch's SGD (default 0)",
        default=0.0,
        metavar="X",
        says="of kernels and biases, coupled with the gradient as in PyTorch's SGD.",
    )
    loss: str = loss_field()
    state_bits: str | None = option(
        OneOf(STATES),
        f"state kept by forward propagation (default 32; hardware keeps {HARDWARE_STATE})",
        says="what ReLU' and un-pooling are given: ``32``, ``1`` or ``pooled``; the hardware keeps "
        "``pooled``.",
    )
    seed: int | None = fields.seed(
        "default 0",
        default=None,
        says="of initial parameters and the order of images (default 0, or that of ``resume``).",
    )
    save: Place | None = fields.output(
        "file",
        "save each epoch and at the end (default: not)",
        "--save",
        metavar="FILE.npz",
        says="an ``.npz`` file, saved after each epoch and at the end, and when interrupted.",
    )
    weights: Place | None = option(
        File(),
        "kernels and biases to begin with (default: a model's own, else random ones)",
        metavar="FILE.npz",
        says="an ``.npz`` file of kernels and biases to begin with.",
    )
    resume: Place | None = option(
        File(),
        "go on from a saved file (default: begin)",
        metavar="FILE.npz",
        says="such a file to go on from, to the same bits.",
    )
    output: Place | None = fields.output(
        "folder",
        "answer and loss curve (default: none)",
        says="a folder for the answer and the loss curve.",
    )
    backward: str | None = fields.backward(
        says="``separate`` passes for delta propagation and kernel update, or ``combined``: one "
        "for both, of convolutions; the same bits. As the network file says if not given."
    )
    board: Place | None = fields.board(
        "none: layers in one piece",
        says="a shipped board or a TOML file; each step runs in the passes of the plan there, on "
        "its designs, in place of layers in one piece.",
    )
    goal: str | None = fields.goal(needs=(Being("board"),), says="as of ``plan``.")
    apart: bool = fields.apart(needs=(Being("board"),), says="as of ``plan``.")


@dataclass(frozen=True, kw_only=True)
class TrainOptions(Typed, Train, fields.Tables):
    """The options of the verb."""

    network: str = fields.network(after="words")
    data: str = again(Train, "data")
    validation: str | None = again(Train, "validation")
    mpi: bool = fields.of_machine(
        "mpi",
        "the same by ranks of MPI: run under mpirun with a rank more than boards (needs mpi4py: "
        "pip install 'merp[cluster]')",
        group="apart",
        after="processes",
    )


@dataclass(frozen=True)
class TrainKeywords(Train):
    """The keywords of the Python method."""

    data: Labelled = again(Train, "data", kind=Kind())
    _: KW_ONLY
    validation: Labelled | None = again(Train, "validation", kind=Kind())
    board: Place | None = again(Train, "board", kind=Named())
    patience: int | None = again(Train, "patience", needs=(Being("processes"),))
    progress: Listener | None = keyword(Told(), "is told how far it is, in lines.")
