"""The request of an export, on the command line and in Python."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any

from merp.models.fpga.order_codes import target_named
from merp.models.fpga.parts import DEFAULT, PARTS, listed
from merp.models.network.network import Network
from merp.models.network.phases import known_phases
from merp.tools.common import fields
from merp.tools.common.fields import ALL
from merp.tools.common.kinds import (
    POSITIVE,
    File,
    Flag,
    Listener,
    OneOf,
    Place,
    Text,
    Told,
    WholeOption,
)
from merp.tools.common.request import again, keyword, needed, option
from merp.tools.fpga.export.languages import DIALECTS, VHDL
from merp.tools.fpga.export.selection import MOST_IMAGES, Selection, select


def part_field() -> Any:
    """``--part``."""
    return option(
        Text(),
        "order code of a 7 series, Zynq-7000 or UltraScale(+) part, or one of "
        f"{listed(PARTS)} (default {PARTS[DEFAULT].order_code})",
        default=DEFAULT,
        metavar="PART",
        says="an order code of the 7 series, Zynq-7000 or UltraScale(+), or a device whose "
        "capacity is known.",
    )


@dataclass(frozen=True, kw_only=True)
class ExportFields:
    """Fields that the command and the Python method share."""

    layer: str | None = option(
        Text(),
        "export the design that this layer runs on (no default)",
        metavar="L",
        group="what",
        says="the layer whose design is exported, with its vectors; or ``all`` designs in all "
        "phases, and the schedule of a training step.",
    )
    phase: str | None = option(
        OneOf(known_phases),
        "phase of the exported design, with --layer; bp: dp and ku in one; default fp",
        says="phase of one layer: ``fp`` (default), ``dp``, ``ku``, or ``bp``, both in one pass.",
    )
    state: bool = fields.state(
        " (always with --all)",
        says="``fp`` also writes ReLU/pooling masks for the backward phases; ``all`` always does.",
    )
    delta_at: str | None = fields.delta_at()
    images: int = option(
        WholeOption(1, MOST_IMAGES),
        "images in a run, for registers and vectors; of a MAC array in a batch (default 1)",
        default=1,
        metavar="N",
        says=f"images in a run, 1 to {MOST_IMAGES}, for registers and vectors.",
    )
    weights: Place | None = option(
        File(),
        "kernels and biases of the vectors (default: those of a model, else random ones)",
        metavar="FILE.npz",
        says="an ``.npz`` file with kernels and biases of the vectors.",
    )
    part: str = part_field()
    clock_mhz: float | None = option(
        POSITIVE,
        "clock of the constraint (default: the clock known or assumed for that part, or else "
        f"{PARTS[DEFAULT].clock_mhz:g})",
        "--clock",
        metavar="MHZ",
        says="clock of the constraint, below 10^6; default: the known or assumed one of the part.",
    )
    language: str = option(
        OneOf(DIALECTS),
        "language of the hardware and its bench (default %(default)s)",
        default=VHDL.name,
        says="language of the hardware and its bench: ``vhdl`` or ``verilog``.",
    )


@dataclass(frozen=True, kw_only=True)
class ExportOptions(ExportFields, fields.Tables):
    """The options of the command."""

    network: str = fields.network(after="words")
    all: bool = option(
        Flag(),
        "export every design in every phase, and their schedule",
        group="what",
        after="layer",
    )
    architecture: str | None = fields.architecture(
        "all engines in one package, without --layer and --all; default: the machine of the "
        "designs",
        after="all",
    )
    depth: int | None = fields.depth(after="architecture")
    devices: int | None = fields.devices(after="depth")
    output: Path = fields.output(
        "folder",
        "directory; each design has its own folder in it (default: %(default)s)",
        default=Path("build/export"),
    )


@dataclass(frozen=True)
class ExportKeywords(ExportFields):
    """The keywords of the Python method."""

    output: Place = field(
        metadata=needed(
            File(),
            "a folder; each package has its own folder in it, and replaces an earlier one.",
        )
    )
    _: KW_ONLY
    layer: str = again(ExportFields, "layer", default=ALL)
    progress: Listener | None = keyword(Told(), "called with lines about the progress.")


def selected(network: Network, asked: ExportFields) -> Selection:
    """Return the requested designs, with the parameters of their vectors.

    Raises:
        BadInput: as in ``select``, or the file of parameters is invalid.
    """
    selection = select(
        network,
        None if asked.layer == ALL else asked.layer,
        phase=asked.phase,
        state=asked.state,
        delta_at=asked.delta_at,
        images=asked.images,
        target=target_named(asked.part),
        clock_mhz=asked.clock_mhz,
        dialect=DIALECTS[asked.language],
    )
    if asked.weights is None:
        return selection
    from merp.tools.common.kernel_file import with_weights  # slow imports, therefore late

    return replace(selection, network=with_weights(selection.network, Path(asked.weights)))
