"""The registers of an engine of CNN-MERP, and their values for a layer."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.network.network import Network
from merp.models.network.phases import called, fusing, going_back_for
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.tools.common.bitstream_options import check_options
from merp.tools.fpga.bitstream.bitstream import bitstream_of
from merp.tools.fpga.bitstream.settings import RegisterQuery, Settings


def settings(network: Network, asked: RegisterQuery) -> Settings:
    """Return the registers of the engine that runs a layer, and their values."""
    if asked.layer is None:
        raise BadInput(f"--layer: {network.name} has a design for each kind of layer: give one")
    network, name, phase = fusing(network, asked.layer, asked.phase or "fp")
    network = going_back_for(network, phase)
    layer = network.layer(name)
    before = check_options(network, phase, asked.state, asked.delta_at)
    check_fits(
        layer.shape, asked.images, design_of(network, layer), f"{network.name}: {layer.name}"
    )
    bitstream = bitstream_of(network, layer, phase, state=asked.state, before=before)
    return Settings(
        layer=called(network, layer, phase),
        phase=phase,
        registers=axi_registers_of(bitstream.phase.top()),
        values=bitstream.phase.registers(layer, asked.images),
    )
