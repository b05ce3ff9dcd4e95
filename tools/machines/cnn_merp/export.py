"""The export of CNN-MERP: a package for each design in each phase."""

from __future__ import annotations

import argparse
from dataclasses import replace

from merp.models.base.errors import BadInput
from merp.models.fpga.order_codes import Target
from merp.models.network.network import Network
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.export.languages import DIALECTS
from merp.tools.export.listed import show
from merp.tools.export.selection import select


def export(args: argparse.Namespace, network: Network, target: Target) -> int:
    """Export the design of a layer in a phase, or all designs in all phases."""
    if args.layer is None and not args.all:
        raise BadInput("export: which design? give --layer L or --all")
    selection = select(
        network,
        args.layer,
        phase=args.phase,
        state=args.state,
        delta_at=args.delta_at,
        images=args.images,
        target=target,
        clock_mhz=args.clock,
        dialect=DIALECTS[args.language],
    )

    from merp.tools.export.run import Exporting  # the hardware's imports wait

    if args.weights is not None:
        from merp.tools.common.kernel_file import with_weights

        selection = replace(selection, network=with_weights(selection.network, args.weights))
    ready = Exporting.of(selection)
    with (
        Output.of_folder("-o", args.output) as output,
        ProgressBar("export", ready.plan) as bar,
    ):
        written = ready.write(output, args.output, bar)
    return show(args, network, written)
