"""The export of the MAC array: one package for all layers and phases."""

from __future__ import annotations

from merp.models.fpga.order_codes import FlowTarget
from merp.models.network.network import Network
from merp.tools.fpga.export.languages import DIALECTS
from merp.tools.fpga.export.listed import OF_DESIGNS, refuse, write_package
from merp.tools.fpga.export.request import ExportOptions


def export(asked: ExportOptions, network: Network, target: FlowTarget) -> int:
    """Export the array that runs all layers and phases."""
    refuse(asked, "architecture", *OF_DESIGNS, by=f"the one bitstream of {network.name}")

    from merp.tools.machines.mac_array.export.package import (
        ArrayPackage,  # slow imports, therefore late
    )

    package = ArrayPackage(
        network=network,
        fused=asked.delta_at == "pooled",
        images=asked.images,
        target=target,
        clock_mhz=asked.clock_mhz or target.clock_mhz,
        dialect=DIALECTS[asked.language],
    )
    return write_package(asked, network, package, "an array")
