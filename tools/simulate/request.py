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
"""With these no layer runs in one piece and by itself."""


@dataclass(frozen=True, kw_only=True)
class Simulate:
    """Fields that the verb and the Python method share."""

    layer: str | None = option(
        Text(),
        "a layer, or all (default: the first)",
        metavar="L",
        says="one, or ``all`` up to the first that has no design.",
    )
    phase: str | None = fields.phase(
        ALL,
        help=f"default {PHASE}",
        says="``fp``, ``dp``, ``ku`` (CNN-MERP section III), ``bp`` (the latter two in one pass), "
        "or ``all``, a training step.",
    )
    delta_at: str | None = fields.delta_at(without=(BOARD,))
    state: bool = fields.state(without=PIECES)
    group: int | str | None = option(
        Text(),
        "a group, or all (default 0; all with L all)",
        metavar="G",
        without=PIECES,
        says="of one layer, the one to run, or ``all``.",
    )
    cus: int | None = option(
        WholeOption(1, MOST_CUS),
        "CUs (default: as many as the network file says)",
        metavar="N",
        without=PIECES,
        says="CUs of each design, 1 to 512; as in the network file if not given.",
    )
    images: int | None = option(
        WholeOption(1, MOST_IMAGES),
        "in a run, the batch of a plan; default 1, with --input all of the file",
        "--images",
        "--batch",
        metavar="N",
        says="of the photograph, 1 to 256 (default 1).",
    )
    rows: int | None = option(
        WholeOption(1, MAX_SIZE),
        "fp of one layer on the first N rows of its input maps, as if they had no more "
        "(default: all)",
        metavar="N",
        without=PIECES,
        says="of one layer's input maps in ``fp``, the first ones alone; else all.",
    )
    image: Place | None = option(
        File(),
        "a photograph (default: one that is shipped)",
        metavar="FILE",
        group="maps",
        says="another photograph, a file.",
    )
    engine: str = option(
        OneOf(ENGINES),
        "default myhdl",
        default="myhdl",
        says="``myhdl``, ``verilator`` or ``ghdl``.",
    )
    cu_array: str | None = option(
        OneOf(ARRAYS),
        "default behavioural with myhdl, else rtl; ghdl: rtl alone",
        says="``behavioural`` (quicker, the same bits in the same cycles; with ``myhdl``, its "
        "default, and ``verilator``) or ``rtl``.",
    )
    seed: int = fields.seed(
        "of the kernels, where no file gives them, and of a sample of passes",
        says="of initial kernels and biases.",
    )
    wave: Place | None = fields.output(
        "file",
        "waveform, .vcd or .fst, with views for GTKWave and Surfer beside it (default: none)",
        "--wave",
        metavar="FILE",
        without=PIECES,
        says="a file, ``.vcd`` or ``.fst``, for a waveform of one phase, and layers of one design.",
    )
    wave_of: str | None = option(
        Text(),
        "what it shows beside the ports: an instance with everything below, as layer.windows, or "
        "all (default: the ports alone)",
        metavar="PATH",
        without=PIECES,
        says="what it shows beside the ports, as ``Layer.run`` takes it.",
    )
    output: Place | None = fields.output(
        "folder",
        "report and pictures (default: none)",
        without=(SCHEDULE,),
        says="a folder for report and pictures; finished layers are kept in it while it runs.",
    )
    resume: bool = option(
        Flag(),
        "reuse finished work of an identical run in DIR",
        without=(SCHEDULE,),
        says="take those of an identical run that was interrupted.",
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
        ".npz of kernels and biases (default: a model's own, else random ones)",
        "--kernels",
        "--weights",
        metavar="FILE",
        after="input",
        without=(SCHEDULE,),
    )
    schedule: bool = option(
        Flag(), "on the MAC array: every pass of all images from one start, with the loss on chip"
    )
    loss: str | None = option(
        OneOf("merp.models.golden.loss:LOSSES"),  # NumPy and numba wait
        "with --schedule (default hinge; cross-entropy: host only)",
        needs=(SCHEDULE,),
    )
    board: str | None = fields.board("none: layers in one piece", without=(SCHEDULE,))
    tiles: str | None = option(
        Text(),
        "with --board: every pass of its plan, or N of each layer and phase, drawn by the seed, "
        "the last one among them (default all)",
        metavar="all|sample:N",
        needs=(BOARD,),
    )
    goal: str | None = fields.goal(needs=(BOARD,))
    apart: bool = fields.apart(needs=(BOARD,))
    state_bits: str | None = fields.plan_state(needs=(BOARD,))


class GroupKind(Kind):
    """The number of a group, or ``all``."""

    def checked(self, name: str, value: object) -> int | str:
        """Which groups a layer has is seen later."""
        if isinstance(value, str) and value == ALL:
            return ALL
        return WholeOption(0, MAX_MAPS).checked(name, value)


@dataclass(frozen=True)
class SimulateKeywords(Simulate):
    """The keywords of the Python method."""

    x: ArrayLike | None = keyword(
        Kind(),
        "what goes into the network, (images, rows, columns, channels). Without it, the photograph "
        "that is shipped; random numbers where no photograph has so many channels.",
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
        "``Training.words``; initial ones of those that are left out. Of floats alone.",
    )
    progress: Listener | None = keyword(Told(), "is told how far it is, in lines.")
