"""The export of the MAC array: one package for all layers and phases."""

from __future__ import annotations

import argparse

from merp.models.fpga.order_codes import Target
from merp.models.network.network import Network
from merp.tools.export.languages import DIALECTS
from merp.tools.export.listed import OF_DESIGNS, refuse, write_package


def export(args: argparse.Namespace, network: Network, target: Target) -> int:
    """Export the array that runs all layers and phases."""
    refuse(args, "architecture", *OF_DESIGNS, by=f"the one bitstream of {network.name}")

    from merp.tools.machines.mac_array.export.package import (
        ArrayPackage,  # the hardware's imports wait
    )

    package = ArrayPackage(
        network=network,
        fused=args.delta_at == "pooled",
        images=args.images,
        target=target,
        clock_mhz=args.clock or target.clock_mhz,
        dialect=DIALECTS[args.language],
    )
    return write_package(args, network, package, "an array")
