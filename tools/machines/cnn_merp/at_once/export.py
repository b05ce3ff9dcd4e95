"""Options that exports of concurrent engines refuse."""

from __future__ import annotations

from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.network.network import Network
from merp.tools.fpga.export.listed import OF_DESIGNS, refuse
from merp.tools.fpga.export.request import ExportOptions


def check_asked(asked: ExportOptions, network: Network) -> None:
    """Refuse options that concurrent engines do not support.

    Raises:
        BadInput: an option selects among designs, or a layer's design does not support the images.
    """
    refuse(asked, "delta_at", *OF_DESIGNS, by=f"--architecture {asked.architecture}")
    for layer in network.layers:
        check_fits(
            layer.shape, asked.images, design_of(network, layer), f"{network.name}: {layer.name}"
        )
