"""The engine that a network's resources are asked of: a row for each architecture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from merp.models.architectures import computing_in
from merp.models.comparison.rtl_compiler_paper import of_paper
from merp.models.errors import BadInput
from merp.models.fpga.parts import PARTS, SEVEN_SERIES
from merp.models.fpga.resources import KINDS, published
from merp.models.mac_array.passes import design_of
from merp.models.network.network import Network
from merp.models.network.phases import fusing, going_back_for
from merp.testbenches.mac_array.trainer_bench import trainer_top
from merp.testbenches.top.top import Top
from merp.tools.bitstream.bitstream import bitstream_of

VENDOR: Final = "other vendor"


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What an engine of this size took in its paper.

    Attributes:
        name: of the row. cells: what is printed, by kind. answer: the same for machines.
    """

    name: str
    cells: Mapping[str, str]
    answer: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What is loaded at once, without its AXI shell.

    Attributes:
        design: its name. layer, phase: as asked for; None where one bitstream runs all.
        top: elaborates it. paper: what the paper's took, if it has one of this size.
        dsps: multipliers that its design has by count, where that is known beforehand.
    """

    design: str
    layer: str | None
    phase: str | None
    top: Callable[[], Top] = field(compare=False)
    paper: Paper | None
    dsps: int | None = None

    @property
    def title(self) -> str:
        """Which it is."""
        if self.layer is None:
            return f"design {self.design}, all phases"
        return f"{self.layer}, {self.phase}: design {self.design}"

    @property
    def notes(self) -> str:
        """Which parts have multipliers enough."""
        if self.dsps is None:
            return ""
        wide = [name for name in SEVEN_SERIES if PARTS[name].dsps >= self.dsps]
        fits = f"it fits {', '.join(wide)} by them" if wide else "it fits none of the listed parts"
        return f"By count of multipliers it has {self.dsps:,} DSP: {fits}."


def _cnn_merp(network: Network, layer: str | None, phase: str | None) -> Engine:
    if layer is None:
        raise BadInput(f"--layer: {network.name} has a design for each kind of layer: give one")
    asked, name, of = fusing(network, layer, phase or "fp")
    asked = going_back_for(asked, of)
    bitstream = bitstream_of(asked, asked.layer(name), of)
    figures = published(of, asked.design(asked.layer(name)))
    paper = (
        None
        if figures is None
        else Paper(
            name="CNN-MERP table 2",
            cells={
                kind: f"{value:,.{1 if kind == 'bram' else 0}f}"
                for kind, value in figures.figures().items()
            },
            answer=figures.figures(),
        )
    )
    return Engine(
        design=bitstream.design, layer=layer, phase=phase or "fp", top=bitstream.phase.top,
        paper=paper,
    )  # fmt: skip


def _mac_array(network: Network, layer: str | None, phase: str | None) -> Engine:
    if phase is not None:
        raise BadInput(f"--phase {phase}: one bitstream of {network.name} runs all phases: omit it")
    layers = network.layers if layer is None else (network.layer(layer),)
    names = list(dict.fromkeys(each.design for each in layers))
    if len(names) > 1:
        raise BadInput(
            f"--layer: {network.name} has designs {', '.join(map(str, names))}: give one"
        )
    design = design_of(network, layers[0])
    found = of_paper(network)
    paper = None
    if found is not None and found.maps == design.pof and design.pixels == 64:
        alms, bits = found.alms, 1e6 * found.mbits
        paper = Paper(
            name=f"RTL compiler table II ({VENDOR})",
            cells={
                "lut": f"{alms:,} ALM", "bram": f"{found.mbits} Mbit",
                "dsp": f"{found.dsps:,}",
            },
            answer={"vendor": VENDOR, "alm": alms, "bram_bits": bits, "dsp": found.dsps},
        )  # fmt: skip
    return Engine(
        design=str(names[0]), layer=None, phase=None, top=lambda: trainer_top(design, "rtl"),
        paper=paper, dsps=design.macs + 2 * design.pof,
    )  # fmt: skip


ENGINES: Final[Mapping[str, Callable[[Network, str | None, str | None], Engine]]] = {
    "cnn_merp": _cnn_merp,
    "mac_array": _mac_array,
}
"""By architecture."""


def engine_of(network: Network, layer: str | None, phase: str | None) -> Engine:
    """The engine that a layer of a network runs on in a phase; None: what runs all of them.

    Raises:
        BadInput: there is no such engine, or not one alone.
    """
    return ENGINES[computing_in(network.numbers)](network, layer, phase)


def printed(paper: Paper) -> list[str]:
    """What a paper prints, kind by kind."""
    return [paper.cells.get(kind, "-") for kind in KINDS]
