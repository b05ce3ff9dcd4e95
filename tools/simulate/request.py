"""The request of a simulation, on the command line and in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from merp.cosim.engines.names import ENGINES
from merp.models.network.network_keys import MAX_MAPS, MAX_SIZE
from merp.tools.common import fields
from merp.tools.common.fields import ALL, PHASE
from merp.tools.common.kinds import (
    File,
    Flag,
    Kind,
    Listener,
    OneOf,
    Place,
    Text,
    Told,
    WholeOption,
)
from merp.tools.common.request import Being, Typed, again, keyword, option
from merp.tools.simulate.picked import ARRAYS, MOST_CUS, MOST_IMAGES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

BOARD, SCHEDULE = Being("board"), Being("schedule")
PIECES = (BOARD, SCHEDULE)
"""With these options, layers do not run one by one in one piece."""


@dataclass(frozen=True, kw_only=True)
class Simulate:
    """Fields that the verb and the Python method share."""

    layer: str | None = option(
        Text(),
        "a layer, or all (default: the first)",
        metavar="L",
        says="a layer, or ``all`` up to the first without a design.",
    )
    phase: str | None = fields.phase(
        ALL,
        help=f"default {PHASE}",
        says="``fp``, ``dp``, ``ku`` (CNN-MERP section III), ``bp`` (dp and ku in one pass), or "
        "``all``, a training step.",
    )
    architecture: str | None = fields.own_designs(
        "default: the machine of the designs", without=PIECES
    )
    delta_at: str | None = fields.delta_at(without=(BOARD,))
    state: bool = fields.state(without=PIECES)
    group: int | str | None = option(
        Text(),
        "a group, or all (default 0; all with L all)",
        metavar="G",
        without=PIECES,
        says="for one layer, the group to run, or ``all``.",
    )
    cus: int | None = option(
        WholeOption(1, MOST_CUS),
        "number of CUs (default: as in the network file)",
        metavar="N",
        without=PIECES,
        says="CUs of each design, 1 to 512; by default as in the network file.",
    )
    images: int | None = option(
        WholeOption(1, MOST_IMAGES),
        "images of a run, or batch of a plan (default: 1; with --input all of the file)",
        "--images",
        "--batch",
        metavar="N",
        says="images made from the photograph, 1 to 256 (default 1).",
    )
    rows: int | None = option(
        WholeOption(1, MAX_SIZE),
        "run fp of one layer on the first N rows of its input maps only (default: all)",
        metavar="N",
        without=PIECES,
        says="run ``fp`` of one layer on its first rows only; by default on all.",
    )
    image: Place | None = option(
        File(),
        "a photograph (default: the shipped one)",
        metavar="FILE",
        group="maps",
        says="file of another photograph.",
    )
    engine: str = option(
        OneOf(ENGINES),
        "simulator (default myhdl)",
        default="myhdl",
        says="``myhdl``, ``verilator`` or ``ghdl``.",
    )
    cu_array: str | None = option(
        OneOf(ARRAYS),
        "CU array (default: behavioural with myhdl, else rtl; ghdl allows rtl only)",
        says="``behavioural`` or ``rtl``. Behavioural arrays are faster, with the same bits in the "
        "same cycles. They are the default of ``myhdl`` and allowed with ``verilator``.",
    )
    seed: int = fields.seed(
        "seed of the kernels without a file, and of a sample of passes",
        says="seed of the initial kernels and biases.",
    )
    wave: Place | None = fields.output(
        "file",
        "waveform, .vcd or .fst, with views for GTKWave and Surfer next to it (default: none)",
        "--wave",
        metavar="FILE",
        without=PIECES,
        says="file for a waveform, ``.vcd`` or ``.fst``, of one phase and layers of one design.",
    )
    wave_of: str | None = option(
        Text(),
        "add signals to the waveform: an instance with everything below, as layer.windows, or "
        "all (default: ports only)",
        metavar="PATH",
        without=PIECES,
        says="signals of the waveform in addition to the ports, as for ``Layer.run``.",
    )
    output: Place | None = fields.output(
        "folder",
        "report and pictures (default: none)",
        without=(SCHEDULE,),
        says="folder for the report and pictures; it stores finished layers during the run.",
    )
    resume: bool = option(
        Flag(),
        "reuse finished work of an identical run in DIR",
        without=(SCHEDULE,),
        says="reuse finished layers of an identical run that was interrupted.",
    )


@dataclass(frozen=True, kw_only=True)
class SimulateOptions(Typed, Simulate, fields.Tables):
    """The options of the verb."""

    network: str = fields.network(after="words")
    input: Place | None = option(
        File(),
        ".npz whose array 'input' is (images, rows, columns, channels): floats, rounded into the "
        "network's format, or uint32 words of it (default: the photograph)",
        metavar="FILE",
        group="maps",
        after="image",
        without=(SCHEDULE,),
    )
    kernels: Place | None = option(
        File(),
        ".npz of kernels and biases (default: those of the model, else random ones)",
        "--kernels",
        "--weights",
        metavar="FILE",
        after="input",
        without=(SCHEDULE,),
    )
    schedule: bool = option(
        Flag(), "on the MAC array: run all passes of all images from one start, with on-chip loss"
    )
    loss: str | None = option(
        OneOf("merp.models.golden.loss:LOSSES"),  # imports NumPy and numba only if needed
        "loss for --schedule (default hinge; cross-entropy: host only)",
        needs=(SCHEDULE,),
    )
    board: str | None = fields.board("none, layers run in one piece", without=(SCHEDULE,))
    tiles: str | None = option(
        Text(),
        "with --board: run every pass of its plan, or a sample of N for each layer and phase, "
        "which includes the last pass (default all)",
        metavar="all|sample:N",
        needs=(BOARD,),
    )
    goal: str | None = fields.goal(needs=(BOARD,))
    apart: bool = fields.apart(needs=(BOARD,))
    state_bits: str | None = fields.plan_state(needs=(BOARD,))
    details: bool = fields.shows_more(
        "print words by port and cycles by cause of every pass, not a row for each"
    )


class GroupKind(Kind):
    """The number of a group, or ``all``."""

    def checked(self, name: str, value: object) -> int | str:
        """Accept a group; a later check refuses groups that a layer does not have."""
        if isinstance(value, str) and value == ALL:
            return ALL
        return WholeOption(0, MAX_MAPS).checked(name, value)


@dataclass(frozen=True)
class SimulateKeywords(Simulate):
    """The keywords of the Python method."""

    x: ArrayLike | None = keyword(
        Kind(),
        "the input of the network, (images, rows, columns, channels). By default the shipped "
        "photograph, or random numbers if no photograph has the channels of the network.",
    )
    _: KW_ONLY
    layer: str = again(Simulate, "layer", default=ALL)
    phase: str = again(Simulate, "phase", default=PHASE)
    group: int | str = again(Simulate, "group", kind=GroupKind(), default=ALL)
    images: int | None = again(Simulate, "images", without=(Being("x"),))
    image: Place | None = again(Simulate, "image", without=(Being("x"),))
    parameters: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = keyword(
        Kind(),
        "kernels ``(groups*m, n, k, k)`` and biases ``(groups*m,)`` by layer, such as "
        "``Training.words``. Missing layers get initial ones. Only for floating point.",
    )
    progress: Listener | None = keyword(Told(), "receives lines about the progress.")
