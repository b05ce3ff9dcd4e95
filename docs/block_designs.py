"""Pictures of the block designs for Vivado: ``python docs/block_designs.py``.

The stub of Vivado runs the build script of a shipped board. Boxes are the cells that it creates,
and wires are its connections. Each box has its clocks. Left out: clock wizard, resets, constants.
``--check`` writes nothing and fails where a picture is stale.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from diagrams import FOLDER, FONT, rewritten, tip
from merp.tools.common.shipped import open_network
from merp.tools.fpga.system.planned_system import planned_step
from merp.tools.fpga.system.request import SystemFields
from merp.tools.fpga.system.vivado import vivado_values, write_vivado
from netlist import Wire
from wiring import Place, Wiring

NETWORK = "digits-small"
BUS_BITS = 32
"""Any number that makes a thick wire; the width of some buses is that of the board files."""

STUB = Path(__file__).resolve().parent.parent / "tests" / "vivado_stub.tcl"
PLACES = {
    "host_bus": Place(1, 0),
    "accelerator": Place(2, 0, 1, 2),
    "memory_bus": Place(1, 1),
}
PROCESSOR = PLACES | {"host": Place(0, 0, 1, 2)}
PICTURES: Mapping[str, tuple[str, str, Mapping[str, Place]]] = {
    "pynq_z2": ("pynq-z2", "Block design for a Zynq-7000", PROCESSOR),
    "zcu104": ("zcu104", "Block design for a Zynq UltraScale+", PROCESSOR),
    "kc705": (
        "kc705",
        "Block design with JTAG and MIG",
        PLACES | {"host": Place(0, 0), "memory": Place(0, 1)},
    ),
}
"""Board, title, and places of the boxes of each picture."""


def calls(board: str) -> list[list[str]]:
    """Return the calls of a board's build script."""
    step = planned_step(open_network(NETWORK), SystemFields(board=board))
    (planned,) = step.systems
    values = {
        "title": NETWORK, "board": board, "network": NETWORK, "top": "memory_system",
        "images": 1, "momentum": False, "version": "0.0", "sources": [], "lists": [],
        "port": planned.port, **vivado_values(step, planned),
    }  # fmt: skip
    with TemporaryDirectory() as folder:
        write_vivado(Path(folder), values)
        command = ["tclsh", STUB, Path(folder) / "vivado" / "build.tcl"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line.split()[1:] for line in said.splitlines() if line.startswith("CALL ")]


def drawn(name: str) -> str:
    """Return the picture of that name."""
    board, said, places = PICTURES[name]
    made = calls(board)
    kinds = {call[-1]: call[4] for call in made if call[0] == "create_bd_cell"}
    wires = list(_wires(made))
    wiring = Wiring(places, wires)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="diagram" viewBox="0 0 {wiring.width} '
        f'{wiring.height}" role="group" aria-label="{said}" {FONT} font-size="12">',
        tip(name),
        f'<rect class="paper" width="{wiring.width}" height="{wiring.height}" fill="#ffffff"/>',
        *(re.sub(f": {BUS_BITS} bits", "", line) for line in wiring.svg(f"tip-{name}")),
    ]
    for box in places:
        shown = [box, kinds[box].rpartition(":")[2], *_clocks(made, box)]
        lines += _box(wiring.box(box), shown)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _wires(made: list[list[str]]) -> Iterator[Wire]:
    """Yield buses and the interrupt. Small letters: ``Wiring`` then writes no name on a bus."""
    for call in made:
        bus = call[0] == "connect_bd_intf_net"
        if bus or call[:2] == ["connect_bd_net", "accelerator/interrupt"]:
            (source, _, pin), (target, _, _) = (end.partition("/") for end in call[1:])
            yield Wire(source, target, (pin.lower(),), BUS_BITS if bus else 1)


def _clocks(made: list[list[str]], box: str) -> list[str]:
    """Return the clocks of a box, in the order in which the script connects them."""
    nets = [call for call in made if call[0] == "connect_bd_net" and "clk" in call[1]]
    return list(dict.fromkeys(call[1] for call in nets if call[2].startswith(f"{box}/")))


def _box(corner: tuple[float, float, float, float], shown: list[str]) -> Iterator[str]:
    x, y, width, height = corner
    yield (
        f'<g class="block"><rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" '
        'fill="#eef3f8" stroke="#44505c"/>'
    )
    top = y + (height - 16 * len(shown)) / 2
    for row, text in enumerate(shown):
        weight = "" if row else ' font-weight="bold"'
        size = ' font-size="10"' if len(text) > 16 else ""
        yield (
            f'<text x="{x + width / 2:g}" y="{top + 16 * (row + 0.75):g}" text-anchor="middle" '
            f'fill="#14202b"{weight}{size}>{text}</text>'
        )
    yield "</g>"


if __name__ == "__main__":
    sys.exit(rewritten(sys.argv[1:], __doc__, FOLDER, {name: drawn(name) for name in PICTURES}))
