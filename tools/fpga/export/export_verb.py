"""``merp export``: designs of a network as packages for FPGA flows."""

from __future__ import annotations

from collections.abc import Callable

from merp.models.fpga.order_codes import FlowTarget, target_named
from merp.models.network.network import Network
from merp.models.network.registry import machine_asked, network_asked, part_of
from merp.tools.common.shipped import open_network
from merp.tools.fpga.export.request import ExportOptions

REQUEST = ExportOptions


def run(asked: ExportOptions) -> int:
    """Export the packages, and list them."""
    network = open_network(asked.network, fuses=True)
    network = network_asked(network, asked.architecture, asked.images)
    machine = machine_asked(network, asked.architecture)
    export: Callable[[ExportOptions, Network, FlowTarget], int]
    export = part_of(machine, machine.hardware, "export")
    return export(asked, network, target_named(asked.part))
