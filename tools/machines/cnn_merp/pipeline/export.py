"""The export of a network as a pipeline."""

from __future__ import annotations

from merp.models.fpga.order_codes import FlowTarget
from merp.models.machines.cnn_merp.at_once.places import DEPTH
from merp.models.network.network import Network
from merp.tools.fpga.export.languages import DIALECTS
from merp.tools.fpga.export.listed import write_package
from merp.tools.fpga.export.request import ExportOptions
from merp.tools.machines.cnn_merp.at_once.export import check_asked


def export(asked: ExportOptions, network: Network, target: FlowTarget) -> int:
    """Export the network as a pipeline.

    Raises:
        BadInput: as in ``check_asked`` and ``PipelinePackage``.
    """
    check_asked(asked, network)
    from merp.tools.machines.cnn_merp.pipeline.package import (
        PipelinePackage,  # slow imports, therefore late
    )

    package = PipelinePackage(
        network=network,
        depth=asked.depth or DEPTH,
        images=asked.images,
        target=target,
        clock_mhz=asked.clock_mhz or target.clock_mhz,
        dialect=DIALECTS[asked.language],
    )
    return write_package(asked, network, package, "a pipeline")
