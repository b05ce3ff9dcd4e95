"""``merp export``: designs of a network as packages for FPGA flows."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from merp.models.architectures import computing_in
from merp.models.cnn_merp.pipeline import DEPTH
from merp.models.errors import BadInput
from merp.models.fpga.order_codes import Target, target_named
from merp.models.fpga.parts import DEFAULT, PARTS
from merp.models.given import name_of
from merp.models.network.network import Network
from merp.models.network.phases import NAMED
from merp.models.params.cnn_merp.sizing import check_fits
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
from merp.tools.common.table import console, table
from merp.tools.export.languages import DIALECTS, VHDL
from merp.tools.export.selection import MOST_IMAGES, select

if TYPE_CHECKING:
    from merp.tools.export.run import Whole


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
    return _EXPORTS[computing_in(network.numbers)](args, network, target)


def _designs(args: argparse.Namespace, network: Network, target: Target) -> int:
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
    return _show(args, network, written)


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
    return _whole(args, network, package, "a pipeline")


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
    return _show(args, network, rows)


def _check_at_once(args: argparse.Namespace, network: Network) -> None:
    """Refuse what engines that run at once do not take.

    Raises:
        BadInput: an option chooses among designs, or a layer's design does not take the images.
    """
    _refuse(args, "delta_at", *OF_DESIGNS, by=f"--architecture {args.architecture}")
    for layer in network.layers:
        check_fits(layer.shape, args.images, network.design(layer), f"{network.name}: {layer.name}")


def _array(args: argparse.Namespace, network: Network, target: Target) -> int:
    """Export the array that runs all layers and phases."""
    _refuse(args, "architecture", *OF_DESIGNS, by=f"the one bitstream of {network.name}")

    from merp.tools.export.array import ArrayPackage  # the hardware's imports wait

    package = ArrayPackage(
        network=network,
        fused=args.delta_at == "pooled",
        images=args.images,
        target=target,
        clock_mhz=args.clock or target.clock_mhz,
        dialect=DIALECTS[args.language],
    )
    return _whole(args, network, package, "an array")


_EXPORTS: Final[Mapping[str, Callable[[argparse.Namespace, Network, Target], int]]] = {
    "cnn_merp": _designs,
    "mac_array": _array,
}
"""By architecture."""

OF_DESIGNS = ("layer", "all", "phase", "state", "weights")
"""Options that choose among designs and phases, or say what one of them is fed with."""


def _refuse(args: argparse.Namespace, *options: str, by: str) -> None:
    """Refuse options that say nothing to what has all layers and phases.

    Raises:
        BadInput: one of them is given.
    """
    for option in options:
        if getattr(args, option) not in (None, False):
            raise BadInput(f"{name_of(option)}: {by} has all layers and phases: allowed without")


def _whole(args: argparse.Namespace, network: Network, package: Whole, what: str) -> int:
    """Write the one package of a network, and list it."""
    from merp.tools.export.run import write_whole

    with (
        Output.of_folder("-o", args.output) as output,
        ProgressBar("export", f"{what}: {DIALECTS[args.language].title}, vectors, scripts") as bar,
    ):
        written = write_whole(package, output, args.output, bar)
    return _show(args, network, [written])


def _show(args: argparse.Namespace, network: Network, written: Sequence[Mapping[str, Any]]) -> int:
    if args.json:
        print(json.dumps({"network": network.name, "exports": written}, indent=2))
        return 0
    rows = [
        (each["directory"], each["top"], ", ".join(each["layers"]), str(len(each["files"])))
        for each in written
    ]
    heads = ("directory", "top", "layers", "files")
    console().print(table(f"Exports of {network.name}", heads, rows, text_columns=3))
    return 0
