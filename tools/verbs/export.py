"""``merp export``: designs of a network as packages for FPGA flows."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from merp.cosim.machines.loader import part_for
from merp.models.base.errors import BadInput
from merp.models.fpga.order_codes import Target, target_named
from merp.models.fpga.parts import DEFAULT, PARTS
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.machines.cnn_merp.pipeline.slices import DEPTH
from merp.models.network.network import Network
from merp.models.network.phases import NAMED
from merp.tools.common.arguments import (
    ARCHITECTURES,
    CLUSTER,
    MOST_DEPTH,
    MOST_DEVICES,
    PIPELINE,
    add_delta_at,
    add_network,
    add_tables,
    add_written,
    positive,
    whole,
)
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from merp.tools.export.languages import DIALECTS, VHDL
from merp.tools.export.listed import OF_DESIGNS, refuse, show, write_package
from merp.tools.export.selection import MOST_IMAGES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--layer", metavar="L", help="export the design that this layer runs on (no default)"
    )
    what.add_argument(
        "--all", action="store_true", help="export every design in every phase, and their schedule"
    )
    parser.add_argument(
        "--architecture",
        choices=ARCHITECTURES,
        help="cnn-merp: a design in a phase; mazouz: the whole network as a training pipeline; "
        "fpdeep: the same on a chain of boards, a package for each; both without --layer and --all "
        "(default cnn-merp; of a network in fixed point its MAC array)",
    )
    parser.add_argument(
        "--depth",
        type=whole(1, MOST_DEPTH),
        metavar="N",
        help=f"images on their way at most in a pipeline (default {DEPTH})",
    )
    parser.add_argument(
        "--devices",
        type=whole(1, MOST_DEVICES),
        metavar="N",
        help="boards of the chain, with fpdeep (default 1)",
    )
    parser.add_argument(
        "--phase", choices=NAMED, help="with --layer; bp: dp and ku in one; default fp"
    )
    parser.add_argument(
        "--state",
        action="store_true",
        help="fp also writes the state for backward propagation (always with --all)",
    )
    add_delta_at(parser)
    parser.add_argument(
        "--images", type=whole(1, MOST_IMAGES), default=1, metavar="N",
        help="images in a run: registers, vectors; of a MAC array in a batch (default 1)",
    )  # fmt: skip
    parser.add_argument(
        "--weights",
        type=Path,
        metavar="FILE.npz",
        help="kernels and biases of the vectors (default: a model's own, else random ones)",
    )
    parser.add_argument(
        "--part",
        default=DEFAULT,
        metavar="PART",
        help="order code of a 7 series, Zynq-7000 or UltraScale(+) part, or one of "
        f"{', '.join(PARTS)} (default {PARTS[DEFAULT].order_code})",
    )
    parser.add_argument(
        "--clock",
        type=positive,
        metavar="MHZ",
        help="clock of the constraint (default: the paper's on that part, or else "
        f"{PARTS[DEFAULT].clock_mhz:g})",
    )
    parser.add_argument(
        "--language", choices=DIALECTS, default=VHDL.name,
        help="of the hardware and its bench (default %(default)s)",
    )  # fmt: skip
    add_written(
        parser,
        "-o",
        "--output",
        metavar="DIR",
        default=Path("build/export"),
        help="directory; each design gets a folder of its own (default: %(default)s)",
        place=Output.of_folder,
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Export and list what was written."""
    network = open_network(args.network, fuses=True)
    target = target_named(args.part)
    if args.devices is not None and args.architecture != CLUSTER:
        raise BadInput(f"--devices {args.devices}: allowed with --architecture {CLUSTER}")
    if args.architecture == PIPELINE:
        return _pipeline(args, network, target)
    if args.architecture == CLUSTER:
        return _chain(args, network, target)
    if args.depth is not None:
        raise BadInput(f"--depth {args.depth}: allowed with --architecture {PIPELINE} or {CLUSTER}")
    export: Callable[[argparse.Namespace, Network, Target], int] = part_for(network, "export")
    return export(args, network, target)


def _pipeline(args: argparse.Namespace, network: Network, target: Target) -> int:
    """Export the network as a pipeline."""
    _check_at_once(args, network)

    from merp.tools.export.pipeline import PipelinePackage  # the hardware's imports wait

    package = PipelinePackage(
        network=network,
        depth=args.depth or DEPTH,
        images=args.images,
        target=target,
        clock_mhz=args.clock or target.clock_mhz,
        dialect=DIALECTS[args.language],
    )
    return write_package(args, network, package, "a pipeline")


def _chain(args: argparse.Namespace, network: Network, target: Target) -> int:
    """Export the network on a chain of boards."""
    _check_at_once(args, network)

    from merp.tools.export.chain import ChainPackages  # the hardware's imports wait
    from merp.tools.export.run import row

    packages = ChainPackages(
        network=network,
        devices=args.devices or 1,
        depth=args.depth or DEPTH,
        images=args.images,
        target=target,
        clock_mhz=args.clock or target.clock_mhz,
        dialect=DIALECTS[args.language],
    )
    plan = f"{packages.devices} nodes: {packages.dialect.title}, vectors, scripts"
    with (
        Output.of_folder("-o", args.output) as output,
        ProgressBar("export", plan) as bar,
    ):
        written = packages.write(output, bar)
    rows = [row(args.output, name, manifest) for name, manifest in written.items()]
    return show(args, network, rows)


def _check_at_once(args: argparse.Namespace, network: Network) -> None:
    """Refuse what engines that run at once do not take.

    Raises:
        BadInput: an option chooses among designs, or a layer's design does not take the images.
    """
    refuse(args, "delta_at", *OF_DESIGNS, by=f"--architecture {args.architecture}")
    for layer in network.layers:
        check_fits(
            layer.shape, args.images, design_of(network, layer), f"{network.name}: {layer.name}"
        )
