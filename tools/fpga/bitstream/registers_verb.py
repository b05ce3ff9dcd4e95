"""``merp registers``: the register map of a layer's design behind its AXI shell."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from merp.tools.common import fields
from merp.tools.common.kinds import Text, WholeOption
from merp.tools.common.output import Output
from merp.tools.common.request import option
from merp.tools.common.shipped import open_network
from merp.tools.common.table import console, table
from merp.tools.fpga.bitstream.register_files import (
    c_header,
    markdown,
    python_constants,
    range_text,
)

WRITERS = {"md": markdown, "h": c_header, "py": python_constants}


@dataclass(frozen=True, kw_only=True)
class RegistersOptions(fields.Tables):
    """The options of the command."""

    network: str = fields.network()
    layer: str | None = option(
        Text(),
        "layer of the register values (no default; a MAC array also has a map without one)",
        metavar="L",
    )
    phase: str | None = fields.phase(help="default fp")
    state: bool = fields.state()
    delta_at: str | None = fields.delta_at()
    images: int = option(WholeOption(1, 256), "images in a run (default 1)", default=1, metavar="N")
    output: Path | None = fields.output(
        "folder", "write a page, a C header, a Python module (default: none)"
    )


REQUEST = RegistersOptions


def run(asked: RegistersOptions) -> int:
    """Print the map, and write its files."""
    from merp.tools.fpga.bitstream.settings import RegisterQuery, settings_of

    network = open_network(asked.network, fuses=True)
    wanted = RegisterQuery(
        layer=asked.layer,
        phase=asked.phase,
        images=asked.images,
        state=asked.state,
        delta_at=asked.delta_at,
    )
    found = settings_of(network, wanted)
    registers, values = found.registers, found.values
    name = found.layer or ""
    title = f"{network.name} {name}".rstrip()
    files = []
    if asked.output is not None:
        made = {f"{registers.top}.{suffix}": of for suffix, of in WRITERS.items()}
        with Output.of_folder("-o", asked.output) as output:
            output.write({name: of(registers, values, title) for name, of in made.items()})
        files = [asked.output / name for name in made]
    if asked.json:
        answer = {
            "network": network.name,
            "layer": found.layer,
            "phase": found.phase,
            "images": asked.images,
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
