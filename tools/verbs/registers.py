"""``merp registers``: the register map of a layer's design behind its AXI shell."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from merp.models.network.phases import called, fusing, going_back_for
from merp.models.params.cnn_merp.sizing import check_fits
from merp.tools.bitstream.options import check_options
from merp.tools.bitstream.register_files import c_header, markdown, python_constants, range_text
from merp.tools.common.arguments import add_delta_at, add_network, add_phase, add_tables, whole
from merp.tools.common.output import Output
from merp.tools.common.shipped import open_network
from merp.tools.common.table import console, table

WRITERS = {"md": markdown, "h": c_header, "py": python_constants}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_network(parser)
    parser.add_argument("--layer", metavar="L", required=True, help="a layer")
    add_phase(parser)
    parser.add_argument(
        "--state", action="store_true", help="fp also writes the state for backward propagation"
    )
    add_delta_at(parser)
    parser.add_argument(
        "--images", type=whole(1, 256), default=1, metavar="N", help="in a run (default 1)"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="write a page, a C header, a Python module (default: none)",
    )
    add_tables(parser)


def run(args: argparse.Namespace) -> int:
    """Print the map, and write its files."""
    from merp.testbenches.axi.axi_top import axi_registers_of
    from merp.tools.bitstream.bitstream import bitstream_of

    network, name, phase = fusing(open_network(args.network, fuses=True), args.layer, args.phase)
    network = going_back_for(network, phase)
    layer = network.layer(name)
    before = check_options(network, phase, args.state, args.delta_at)
    check_fits(layer.shape, args.images, network.design(layer), f"{network.name}: {layer.name}")
    bitstream = bitstream_of(network, layer, phase, state=args.state, before=before)
    registers = axi_registers_of(bitstream.phase.top())
    values = bitstream.phase.registers(layer, args.images)
    name = called(network, layer, phase)
    title = f"{network.name} {name}"
    files = []
    if args.output is not None:
        made = {f"{registers.top}.{suffix}": of for suffix, of in WRITERS.items()}
        with Output.of_folder("-o", args.output) as output:
            output.write({name: of(registers, values, title) for name, of in made.items()})
        files = [args.output / name for name in made]
    if args.json:
        answer = {
            "network": network.name,
            "layer": name,
            "phase": phase,
            "images": args.images,
            "top": registers.top,
            "registers": [asdict(each) for each in registers.registers],
            "settings": values,
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
