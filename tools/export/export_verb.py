"""``merp export``: designs of a network as packages for FPGA flows."""

from __future__ import annotations

from collections.abc import Callable

from merp.cosim.machines.loader import part_for
from merp.models.fpga.order_codes import Target, target_named
from merp.models.machines.cnn_merp.at_once.places import DEPTH
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.network.network import Network
from merp.tools.common.fields import CLUSTER, PIPELINE
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from merp.tools.export.languages import DIALECTS
from merp.tools.export.listed import OF_DESIGNS, refuse, show, write_package
from merp.tools.export.request import ExportOptions

REQUEST = ExportOptions


def run(asked: ExportOptions) -> int:
    """Export and list what was written."""
    network = open_network(asked.network, fuses=True)
    export: Callable[[ExportOptions, Network, Target], int]
    if asked.architecture in AT_ONCE:
        _check_at_once(asked, network)
        export = AT_ONCE[asked.architecture]
    else:
        export = part_for(network, "export")
    return export(asked, network, target_named(asked.part))


def _pipeline(asked: ExportOptions, network: Network, target: Target) -> int:
    """Export the network as a pipeline."""
    from merp.tools.export.pipeline import PipelinePackage  # the hardware's imports wait

    package = PipelinePackage(
        network=network,
        depth=asked.depth or DEPTH,
        images=asked.images,
        target=target,
        clock_mhz=asked.clock_mhz or target.clock_mhz,
        dialect=DIALECTS[asked.language],
    )
    return write_package(asked, network, package, "a pipeline")


def _chain(asked: ExportOptions, network: Network, target: Target) -> int:
    """Export the network on a chain of boards."""
    from merp.tools.export.chain import ChainPackages  # the hardware's imports wait
    from merp.tools.export.run import row

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


AT_ONCE = {PIPELINE: _pipeline, CLUSTER: _chain}
"""Exports of engines that all run at once, by architecture."""


def _check_at_once(asked: ExportOptions, network: Network) -> None:
    """Refuse what engines that run at once do not take.

    Raises:
        BadInput: an option chooses among designs, or a layer's design does not take the images.
    """
    refuse(asked, "delta_at", *OF_DESIGNS, by=f"--architecture {asked.architecture}")
    for layer in network.layers:
        check_fits(
            layer.shape, asked.images, design_of(network, layer), f"{network.name}: {layer.name}"
        )
