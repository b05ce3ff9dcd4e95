"""The engine of CNN-MERP that runs a layer in a phase."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.fpga.published import published
from merp.models.network.network import Network
from merp.models.network.phases import fusing, going_back_for
from merp.tools.fpga.bitstream.bitstream import bitstream_of
from merp.tools.fpga.bitstream.engines import LoadedEngine, PublishedSize


def engine(network: Network, layer: str | None, phase: str | None) -> LoadedEngine:
    """Return the engine that runs a layer in a phase. Each phase of a design has its own engine."""
    if layer is None:
        raise BadInput(f"--layer: {network.name} has a design for each kind of layer: give one")
    asked, name, of = fusing(network, layer, phase or "fp")
    asked = going_back_for(asked, of)
    bitstream = bitstream_of(asked, asked.layer(name), of)
    figures = published(of, design_of(asked, asked.layer(name)))
    paper = (
        None
        if figures is None
        else PublishedSize(
            name="CNN-MERP table 2",
            cells={
                kind: f"{value:,.{1 if kind == 'bram' else 0}f}"
                for kind, value in figures.figures().items()
            },
            answer=figures.figures(),
        )
    )
    return LoadedEngine(
        design=bitstream.design, layer=layer, phase=phase or "fp", top=bitstream.phase.top,
        paper=paper,
    )  # fmt: skip
