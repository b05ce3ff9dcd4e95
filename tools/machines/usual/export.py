"""An export of any machine: a package for each design in each phase."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.fpga.order_codes import FlowTarget
from merp.models.network.network import Network
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.fpga.export.listed import show
from merp.tools.fpga.export.request import ExportOptions, selected


def export(asked: ExportOptions, network: Network, target: FlowTarget) -> int:
    """Export the design of a layer in a phase, or all designs in all phases."""
    if asked.layer is None and not asked.all:
        raise BadInput("export: which design? give --layer L or --all")
    selection = selected(network, asked)

    from merp.tools.fpga.export.run import Exporting  # slow imports, therefore late

    ready = Exporting.of(selection)
    with (
        Output.of_folder("-o", asked.output) as output,
        ProgressBar("export", ready.plan) as bar,
    ):
        written = ready.write(output, asked.output, bar)
    return show(asked, network, written)
