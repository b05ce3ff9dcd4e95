"""The export of a network on a chain of boards."""

from __future__ import annotations

from merp.models.fpga.order_codes import FlowTarget
from merp.models.machines.cnn_merp.at_once.places import DEPTH
from merp.models.network.network import Network
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.fpga.export.languages import DIALECTS
from merp.tools.fpga.export.listed import show
from merp.tools.fpga.export.request import ExportOptions
from merp.tools.machines.cnn_merp.at_once.export import check_asked


def export(asked: ExportOptions, network: Network, target: FlowTarget) -> int:
    """Export the network on a chain of boards.

    Raises:
        BadInput: as in ``check_asked`` and ``ChainPackages``.
    """
    check_asked(asked, network)
    from merp.tools.fpga.export.run import row
    from merp.tools.machines.cnn_merp.chain.packages import (
        ChainPackages,  # slow imports, therefore late
    )

    packages = ChainPackages(
        network=network,
        devices=asked.devices or 1,
        depth=asked.depth or DEPTH,
        images=asked.images,
        target=target,
        clock_mhz=asked.clock_mhz or target.clock_mhz,
        dialect=DIALECTS[asked.language],
    )
    plan = f"{packages.devices} nodes: {packages.dialect.title}, vectors, scripts"
    with Output.of_folder("-o", asked.output) as output, ProgressBar("export", plan) as bar:
        written = packages.write(output, bar)
    rows = [row(asked.output, name, manifest) for name, manifest in written.items()]
    return show(asked, network, rows)
