"""``merp export``: the VHDL of a network's designs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from merp.models.errors import BadInput
from merp.tools.arguments import add_json, add_network
from merp.tools.shipped import open_network
from merp.tools.table import console, table


def add_parser(subparsers: Any) -> None:
    """Add the verb."""
    parser = subparsers.add_parser("export", help="write the VHDL of a layer's design, or of all")
    add_network(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--layer", metavar="L", help="export the design that this layer runs on")
    what.add_argument("--all", action="store_true", help="export every design of the network once")
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, default=Path("build/export"),
        help="directory; each design gets a folder of its own (default: %(default)s)",
    )  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Export and list what was written."""
    from merp.cosim.export import export_vhdl
    from merp.testbenches.forward_run import forward_top

    network = open_network(args.network)
    if args.layer is None and not args.all:
        raise BadInput("export: which design? give --layer L or --all")
    layers = network.layers if args.all else (network.layer(args.layer),)
    designs = {
        layer.design: network.design(layer)
        for layer in layers
        if not args.all or layer.design is not None
    }
    written = []
    rows = []
    for name, design in designs.items():
        folder = args.output / f"{network.name}-{name}"
        files = export_vhdl(forward_top(design), folder)
        names = [file.name for file in files]
        written.append({"design": name, "directory": str(folder), "files": names})
        rows.append((str(name), str(folder), str(len(names)), names[-1]))
    if args.json:
        print(json.dumps({"network": network.name, "exports": written}, indent=2))
        return 0
    console().print(table(f"VHDL of {network.name}", ("design", "directory", "files", "top"), rows))
    return 0
