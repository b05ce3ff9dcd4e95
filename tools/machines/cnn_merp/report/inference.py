"""The table of the report about inference: traffic with two fused layers and images in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from merp.models.base.byte_image import ByteImage
from merp.models.base.storage import Storage, stored_name
from merp.models.network.network import Layer, Network
from merp.models.traffic.closed_form import PhaseTraffic, inference_traffic
from merp.tools.machines.cnn_merp.report.choice import PlannedChoice
from merp.tools.machines.cnn_merp.report.fused_figure import fused_figure
from merp.tools.report.table import MEASURED, MODELLED, Column, Table

MB = 1e6


def inference_table(choice: PlannedChoice) -> Table | None:
    """Return the traffic of inference, each row with its own conditions; None without pairs."""
    networks = list(_networks(choice))
    if len(networks) == 1:
        return None
    found = [(network, list(_figures(network, choice.batch))) for network in networks]
    moved = [sum(figure.bytes for *_, figure in figures) for _, figures in found]
    rows = [
        {
            "fused": "+".join(network.layer_fusion) or "none",
            "image": _image(network),
            "inference_bytes": count,
            "inference_mb_per_gflop": count / sum(f.operations for *_, f in figures) * 1e3,
            "inference_basis": MEASURED
            if all(choice.saw(*figure, every_port=False) for figure in figures)
            else MODELLED,
            "saved": 100 * (1 - count / moved[0]),
        }
        for (network, figures), count in zip(found, moved, strict=True)
    ]
    return Table(
        id="inference",
        title="Layers fused",
        caption=(
            "Count all, inference: convolution layers, kernels and biases once, no masks. "
            "Fused: the map between two layers stays on chip; the pair saves most among those that "
            "fit the part by the estimate. Measured: records moved exactly these bytes on each "
            "port, of each layer or pair, with correct bits."
        ),
        columns=[
            Column(key="fused", label="fused"),
            Column(key="image", label="images"),
            Column(
                key="inference_bytes", label="inference", unit="MB", digits=1, scale=MB,
                basis="inference_basis",
            ),
            Column(key="inference_mb_per_gflop", label="inference", unit="MB/GFlop", digits=3),
            Column(key="saved", label="saved", unit="%", digits=1),
        ],
        rows=rows,
    )  # fmt: skip


def _networks(choice: PlannedChoice) -> Iterator[Network]:
    """Yield the network, with two fused layers, with images in bytes, and with both."""
    plain = replace(choice.network, layer_fusion=())
    yield plain
    if not choice.pair:
        return
    fused = replace(plain, layer_fusion=choice.pair)
    yield fused
    if not isinstance(plain.stored_input, ByteImage):
        yield _in_bytes(plain)
        yield _in_bytes(fused)


def _in_bytes(network: Network) -> Network:
    fmt = network.fmt
    own = network.storage or Storage.alike(fmt)
    return replace(network, storage=replace(own, image=ByteImage()))


def _image(network: Network) -> str:
    stored = network.stored_input
    return "uint8" if isinstance(stored, ByteImage) else stored_name(stored)


def _figures(network: Network, batch: int) -> Iterator[tuple[Layer, str, PhaseTraffic]]:
    """Yield layer, phase and bytes of each pass over convolutions.

    Two fused layers are one pass.
    """
    for layer, phase in inference_traffic(network, batch):
        if layer.kind == "conv" and layer.name not in network.layer_fusion:
            yield layer, "fp", phase
    if network.layer_fusion:
        yield fused_figure(network, batch, state=False)
