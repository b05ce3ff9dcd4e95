"""The registers of a module of F-CNN, and their values for a layer."""

from __future__ import annotations

from merp.models.machines.fcnn.phases import design_of
from merp.models.machines.fcnn.runs import check_run
from merp.models.network.network import Network
from merp.tools.fpga.bitstream.settings import RegisterQuery, Settings
from merp.tools.machines.usual.settings import settings as usual


def settings(network: Network, asked: RegisterQuery) -> Settings:
    """Return the registers of the module that runs a layer, and their values.

    Raises:
        BadInput: as usual, or the lanes do not divide the number of images.
    """
    if asked.layer is not None:
        layer = network.layer(asked.layer)
        where = f"{network.name}: {layer.name}"
        check_run(layer.shape, asked.images, design_of(network, layer), where)
    return usual(network, asked)
