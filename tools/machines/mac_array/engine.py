"""The MAC array that runs all layers and phases."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.machines.mac_array.comparison.paper import of_paper
from merp.models.machines.mac_array.passes import design_of
from merp.models.network.network import Network
from merp.testbenches.mac_array.trainer_bench import trainer_top
from merp.tools.fpga.bitstream.engines import VENDOR, LoadedEngine, PublishedSize


def engine(network: Network, layer: str | None, phase: str | None) -> LoadedEngine:
    """Return the engine of a design, whose one bitstream runs all phases."""
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
        paper = PublishedSize(
            name=f"RTL compiler table II ({VENDOR})",
            cells={
                "lut": f"{alms:,} ALM", "bram": f"{found.mbits} Mbit",
                "dsp": f"{found.dsps:,}",
            },
            answer={"vendor": VENDOR, "alm": alms, "bram_bits": bits, "dsp": found.dsps},
        )  # fmt: skip
    return LoadedEngine(
        design=str(names[0]), layer=None, phase=None, top=lambda: trainer_top(design, "rtl"),
        paper=paper, dsps=design.macs + 2 * design.pof,
    )  # fmt: skip
