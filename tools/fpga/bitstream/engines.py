"""The engine whose resources are reported: one of each architecture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from merp.cosim.machines.loader import part_for
from merp.models.fpga.parts import PARTS, SEVEN_SERIES, listed
from merp.models.fpga.resources import KINDS
from merp.models.network.network import Network
from merp.testbenches.top.top import Top

VENDOR: Final = "other vendor"


@dataclass(frozen=True, kw_only=True)
class PublishedSize:
    """The published resources of an engine of this size.

    Attributes:
        name: name of the row.
        cells: printed values, by kind.
        answer: the same values, machine-readable.
    """

    name: str
    cells: Mapping[str, str]
    answer: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class LoadedEngine:
    """The contents of a bitstream, without its AXI shell.

    Attributes:
        design: its name.
        layer: the requested layer; None if one bitstream runs all layers.
        phase: the requested phase; None if one bitstream runs all phases.
        top: function that elaborates the engine.
        paper: the published resources of the paper's engine of this size, if any.
        dsps: number of multipliers of the design, if it is known before synthesis.
    """

    design: str
    layer: str | None
    phase: str | None
    top: Callable[[], Top] = field(compare=False)
    paper: PublishedSize | None
    dsps: int | None = None

    @property
    def title(self) -> str:
        """The engine, for titles."""
        if self.layer is None:
            return f"design {self.design}, all phases"
        return f"{self.layer}, {self.phase}: design {self.design}"

    @property
    def notes(self) -> str:
        """The parts with enough multipliers."""
        if self.dsps is None:
            return ""
        wide = [name for name in SEVEN_SERIES if PARTS[name].dsps >= self.dsps]
        fits = (
            f"It fits {listed(wide)} by multipliers" if wide else "It fits none of the listed parts"
        )
        return f"It has {self.dsps:,} DSP by count of multipliers. {fits}."


def engine_of(network: Network, layer: str | None, phase: str | None) -> LoadedEngine:
    """Return the engine that runs a layer in a phase; None: the engine that runs all.

    Raises:
        BadInput: no single engine fits.
    """
    found: Callable[..., LoadedEngine] = part_for(network, "engine")
    return found(network, layer, phase)


def printed(paper: PublishedSize) -> list[str]:
    """Return the printed values of a paper, kind by kind."""
    return [paper.cells.get(kind, "-") for kind in KINDS]
