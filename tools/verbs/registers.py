"""``merp registers``: the register map of a layer's design behind its AXI shell."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from merp.models.network.phases import NAMED
from merp.tools.bitstream.register_files import c_header, markdown, python_constants, range_text
from merp.tools.common.arguments import add_delta_at, add_network, add_tables, add_written, whole
from merp.tools.common.output import Output
from merp.tools.common.shipped import open_network
from merp.tools.common.table import console, table

WRITERS = {"md": markdown, "h": c_header, "py": python_constants}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument(
        "--layer",
        metavar="L",
        help="whose values (no default; a MAC array has its map without one, too)",
    )
    parser.add_argument(
        "--phase",
        choices=NAMED,
        help="ff: fp of two fused layers; bp: dp and ku in one; default fp",
    )
    parser.add_argument(
        "--state", action="store_true", help="fp also writes the state for backward propagation"
    )
    add_delta_at(parser)
    parser.add_argument(
        "--images", type=whole(1, 256), default=1, metavar="N", help="in a run (default 1)"
    )
    add_written(
        parser,
        "-o",
        "--output",
        metavar="DIR",
        help="write a page, a C header, a Python module (default: none)",
        place=Output.of_folder,
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Print the map, and write its files."""
    from merp.tools.bitstream.settings import Asked, settings_of

    network = open_network(args.network, fuses=True)
    asked = Asked(
        layer=args.layer,
        phase=args.phase,
        images=args.images,
        state=args.state,
        delta_at=args.delta_at,
    )
    found = settings_of(network, asked)
    registers, values = found.registers, found.values
    name = found.layer or ""
    title = f"{network.name} {name}".rstrip()
    files = []
    if args.output is not None:
        made = {f"{registers.top}.{suffix}": of for suffix, of in WRITERS.items()}
        with Output.of_folder("-o", args.output) as output:
            output.write({name: of(registers, values, title) for name, of in made.items()})
        files = [args.output / name for name in made]
    if args.json:
        answer = {
            "network": network.name,
            "layer": found.layer,
            "phase": found.phase,
            "images": args.images,
            "top": registers.top,
            "registers": [asdict(each) for each in registers.registers],
            "settings": dict(values),
            "files": [str(file) for file in files],
        }
        print(json.dumps(answer, indent=2))
        return 0
    rows = [
        (
            f"{each.offset:#05x}", each.name, each.access, each.meaning, range_text(each),
            str(values.get(each.name, "")),
        )
        for each in registers.registers
    ]  # fmt: skip
    columns = ("offset", "register", "access", "meaning", "range", name)
    console().print(table(f"Registers of {registers.top}", columns, rows, text_columns=4, keys=2))
    for file in files:
        print(file)
    return 0
