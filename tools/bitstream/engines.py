"""The engine that a network's resources are asked of: a row for each architecture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from merp.cosim.machines.loader import part_for
from merp.models.fpga.parts import PARTS, SEVEN_SERIES
from merp.models.fpga.resources import KINDS
from merp.models.network.network import Network
from merp.testbenches.top.top import Top

VENDOR: Final = "other vendor"


@dataclass(frozen=True, kw_only=True)
class PublishedSize:
    """What an engine of this size took in its paper.

    Attributes:
        name: of the row. cells: what is printed, by kind. answer: the same for machines.
    """

    name: str
    cells: Mapping[str, str]
    answer: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class LoadedEngine:
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
    paper: PublishedSize | None
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


def engine_of(network: Network, layer: str | None, phase: str | None) -> LoadedEngine:
    """The engine that a layer of a network runs on in a phase; None: what runs all of them.

    Raises:
        BadInput: there is no such engine, or not one alone.
    """
    found: Callable[..., LoadedEngine] = part_for(network, "engine")
    return found(network, layer, phase)


def printed(paper: PublishedSize) -> list[str]:
    """What a paper prints, kind by kind."""
    return [paper.cells.get(kind, "-") for kind in KINDS]
