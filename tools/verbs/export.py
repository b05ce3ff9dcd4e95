"""``merp export``: a layer's design, or all of a network's, as packages for FPGA flows."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

from merp.models.errors import BadInput
from merp.models.fpga.order_codes import target_named
from merp.models.fpga.parts import DEFAULT, PARTS
from merp.models.golden.memory import golden_bytes
from merp.models.memory import check_memory
from merp.models.network.phases import PHASES
from merp.models.params.cnn_merp.sizing import check_fits
from merp.tools.common.arguments import (
    add_delta_at,
    add_network,
    add_tables,
    check_choice,
    positive,
    whole,
)
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from merp.tools.common.table import console, table


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
    parser.add_argument("--phase", choices=PHASES, help="with --layer; default fp")
    parser.add_argument(
        "--state",
        action="store_true",
        help="fp also writes the state for backward propagation (always with --all)",
    )
    add_delta_at(parser)
    parser.add_argument(
        "--images", type=whole(1, 256), default=1, metavar="N",
        help="images in a run: registers, vectors (default 1)",
    )  # fmt: skip
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
        "-o", "--output", metavar="DIR", type=Path, default=Path("build/export"),
        help="directory; each design gets a folder of its own (default: %(default)s)",
    )  # fmt: skip
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Export and list what was written."""
    network = open_network(args.network)
    target = target_named(args.part)
    if args.layer is None and not args.all:
        raise BadInput("export: which design? give --layer L or --all")
    if args.all and args.phase is not None:
        raise BadInput(f"--phase {args.phase}: --all exports every phase: allowed with --layer")
    layer = None if args.all else network.layer(args.layer)
    phase = args.phase or "fp"
    if layer is not None:
        check_choice(phase, args.state, args.delta_at)
    users = [each for each in network.layers if each.design is not None]
    for each in users if layer is None else [layer]:
        check_fits(each.shape, args.images, network.design(each), f"{network.name}: {each.name}")
    if not users:
        network.design(network.layers[0])  # says so
    if layer is not None:  # whose vectors are written on the network's own input
        whole_step = args.state or phase != "fp"
        needed = golden_bytes(network, layer, args.images, whole_step=whole_step)
        check_memory(f"export {network.name}, {args.images} image(s)", needed)

    # The hardware's imports wait until the input is good.
    from merp.tools.bitstream.bitstream import bitstream_of, schedule
    from merp.tools.export.package import Package, write_package
    from merp.tools.export.schedule import schedule_files

    choice = {"state": args.state or args.all, "before": args.delta_at == "pooled"}
    if layer is None:
        found = [bitstream for bitstream, _ in schedule(network, **choice)]
    else:
        found = [bitstream_of(network, layer, phase, **choice)]
    exported = {}
    bitstreams = list({each.name: each for each in found}.values())
    plan = f"{len(bitstreams)} designs, each in a phase: VHDL, vectors, scripts"
    with (
        Output.of_folder("-o", args.output) as output,
        ProgressBar("export", plan) as bar,
        bar.spent.on("converting and writing"),
    ):
        for done, bitstream in enumerate(bitstreams):
            bar.count(done, len(bitstreams), f"{bitstream.name}, {done} of {len(bitstreams)} done")
            package = Package(
                bitstream=bitstream, layer=layer, images=args.images, target=target,
                clock_mhz=args.clock or target.clock_mhz,
            )  # fmt: skip
            filled = output.add_folder(bitstream.name, partial(write_package, package, bar.spent))
            exported[bitstream.name] = filled
        if layer is None:
            output.add(schedule_files(network, target, exported, **choice))
        output.commit()
    written = [
        {
            "design": manifest["design"],
            "phase": manifest["phase"],
            "layers": [each["layer"] for each in manifest["layers"]],
            "directory": str(args.output / name),
            "top": manifest["top"],
            "files": list(manifest["files"]),
        }
        for name, manifest in exported.items()
    ]
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
