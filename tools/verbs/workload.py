"""``merp workload``: a network's layers, in all three phases, for other modelling tools."""

from __future__ import annotations

import argparse
import json

from merp.tools.common.arguments import add_json, add_network, add_written, whole
from merp.tools.common.output import Output
from merp.tools.common.shipped import open_network
from merp.tools.workload.formats import scalesim, timeloop, zigzag

FORMATS = {"scalesim": scalesim, "timeloop": timeloop, "zigzag": zigzag}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument("--format", choices=FORMATS, required=True, help="of which tool")
    parser.add_argument(
        "--batch", type=whole(1, 1 << 16), default=128, metavar="IMAGES", help="images of a step"
    )
    add_written(
        parser,
        "-o",
        "--output",
        required=True,
        metavar="DIR",
        help="folder of the files",
        place=Output.of_folder,
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the files and list them."""
    network = open_network(args.network)
    with Output.of_folder("-o", args.output) as output:
        found = FORMATS[args.format](network, args.batch)
        output.write(found)
    if args.json:
        answer = {"network": network.name, "format": args.format, "directory": str(args.output)}
        print(json.dumps(answer | {"files": list(found)}, indent=2))
    else:
        for name in found:
            print(args.output / name)
    return 0
