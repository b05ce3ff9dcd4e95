"""Block diagrams of the engines, drawn from the exported design: ``python docs/diagrams.py``.

Boxes, counts, wires and bits are those of the VHDL of a shipped design; ``PLACES`` says only where
a box stands. What is left out: clocks, resets, settings, handshakes, verdicts, and what goes to the
counters. ``--check`` writes nothing and fails where a drawing is stale.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from entities import Exported, shipped

from netlist import Wire, wires
from ports import PAGES
from stages import staged
from wiring import Place, Wiring

FOLDER = Path(__file__).resolve().parent / "diagrams"
OPENED = ("forward", "delta", "kernel_update", "datapath", "input_path")
WATCHING = ("run_counters", "word_counter")
LEFT_OUT = re.compile(r"(?:clk|rst|aclk|aresetn|start)$|.*config|status|.*verdict|.*ready$")
STREAM = re.compile(r"[sm]_axi")
LINE = 16  # of letters
FONT = 'font-family="ui-monospace, Menlo, Consolas, monospace"'


@dataclass(frozen=True)
class Drawing:
    """What is drawn of a design.

    Attributes:
        case: which of ``entities.SHIPPED``.
        said: what it is, in words.
        places: column, row, and how many of each a box takes.
    """

    case: int
    said: str
    places: Mapping[str, Place]


INPUT = {
    "router": Place(1, 1),
    "input_banks": Place(2, 1),
    "location_restore": Place(3, 1),
    "position_generator": Place(0, 2),
}
DRAWINGS = {
    "forward": Drawing(
        0,
        "Forward propagation behind AXI: map words enter at the left, pooled words leave at the "
        "right",
        INPUT
        | {
            "s_axis_kernel": Place(0, 0, 1, 0.5),
            "s_axis_bias": Place(0, 0.5, 1, 0.5),
            "s_axis_map": Place(0, 1),
            "kernel_loader": Place(1, 0),
            "sequencer": Place(1, 2, 3),
            "cu_array": Place(4, 0, 1, 3),
            "super_layer": Place(5, 0, 1, 3),
            "m_axis_map": Place(6, 1),
            "m_axis_state": Place(6, 2),
            "s_axi": Place(0, 3),
            "axi_lite": Place(1, 3),
            "axi_registers": Place(2, 3),
            "interrupt": Place(3, 3),
            "shell_reset": Place(2, 4),
            "word_counter": Place(4, 3),
            "run_counters": Place(5, 3),
        },
    ),
    "delta": Drawing(
        2,
        "Delta propagation: deltas are spread before the engine and un-pooled behind it",
        {name: Place(each.column + 1, each.row) for name, each in INPUT.items()}
        | {
            "s_axis_kernel": Place(0, 0),
            "s_axis_delta": Place(0, 1),
            "delta_loader": Place(1, 0),
            "dilater": Place(1, 1),
            "sequencer": Place(2, 2, 3),
            "cu_array": Place(5, 0, 1, 3),
            "super_layer": Place(6, 0, 1, 3),
            "s_axis_state": Place(7, 0),
            "unpool": Place(7, 1, 1, 2),
            "m_axis_delta": Place(8, 1, 1, 2),
            "word_counter": Place(5, 3),
            "run_counters": Place(6, 3),
        },
    ),
    "kernel_update": Drawing(
        1,
        "Kernel update: gradients of a row of positions at a time, and the new kernels",
        INPUT
        | {
            "s_axis_map": Place(0, 1),
            "s_axis_delta": Place(0, 3),
            "row_sequencer": Place(1, 2, 3),
            "delta_row_buffer": Place(1, 3, 3, 2),
            "row_array": Place(4, 1, 1, 3),
            "bias_gradient": Place(4, 4),
            "update_unit": Place(5, 1, 1, 4),
            "s_axis_kernel": Place(6, 1),
            "m_axis_kernel": Place(6, 2),
            "m_axis_bias": Place(6, 3),
            "s_axis_bias": Place(6, 4),
            "word_counter": Place(1, 0),
            "run_counters": Place(2, 0),
        },
    ),
}


def pages() -> dict[str, tuple[str, str]]:
    """Page and stage of each block that has one, by the names in the page's heading."""
    return {
        name: (f"../blocks/{page}", stage)
        for stage, paths in staged(PAGES).items()
        for page in paths
        for name in re.findall(r"\w+", (PAGES / page).read_text().partition("\n")[0])
    }


def drawn(name: str) -> str:
    """The drawing of that name.

    Raises:
        ValueError: the design has a box that has no place, or lacks one that has.
    """
    drawing = DRAWINGS[name]
    design = shipped(drawing.case)
    block_of = design.export.blocks
    found = [
        _by_block(wire, block_of)
        for wire in wires(
            design.texts, design.export.top, lambda each: block_of[each] in OPENED, LEFT_OUT
        )
    ]
    counts = dict(_boxes(design, design.export.top))
    streams = {end for wire in found for end in (wire.source, wire.target)} - counts.keys()
    if odd := drawing.places.keys() ^ (counts.keys() | streams):
        raise ValueError(f"{name}: without a place, or without a box: {', '.join(sorted(odd))}")
    shown = [wire for wire in found if not {wire.source, wire.target} & set(WATCHING)]
    shown = [wire for wire in shown if (wire.source, wire.target) != ("axi_lite", "s_axi")]
    wiring = Wiring(drawing.places, shown)
    known = pages()
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="diagram" viewBox="0 0 {wiring.width} '
        f'{wiring.height}" role="group" aria-label="{drawing.said}" {FONT} font-size="12">',
        tip(name),
        f'<rect class="paper" width="{wiring.width}" height="{wiring.height}" fill="#ffffff"/>',
        *wiring.svg(f"tip-{name}"),
    ]
    for box in drawing.places:
        lines += _box(box, counts, design, known, wiring)
    return "\n".join([*lines, "</svg>"]) + "\n"


def tip(name: str) -> str:
    """The tip of the wires of a drawing."""
    return (
        f'<defs><marker id="tip-{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="9" '
        'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
        '<path class="tip" d="M0 0L8 4L0 8z" fill="#44505c"/></marker></defs>'
    )


def _by_block(wire: Wire, block_of: Mapping[str, str]) -> Wire:
    source, target = (block_of.get(end, end) for end in (wire.source, wire.target))
    return Wire(source, target, wire.names, wire.bits)


def _boxes(design: Exported, entity: str) -> Iterator[tuple[str, int]]:
    """Blocks inside an entity that are not opened, and how many there are of each."""
    found: dict[str, int] = {}
    for child, number in design.export.children[entity].items():
        block = design.export.blocks[child]
        if block in OPENED:
            found |= dict(_boxes(design, child))
        else:
            found[block] = found.get(block, 0) + number
    yield from found.items()


def _parts(design: Exported, block: str) -> Iterator[tuple[str, int]]:
    """Blocks directly inside a block, in the order of its source."""
    for entity, name in design.export.blocks.items():
        if name == block:
            yield from _boxes(design, entity)
            return


def _box(
    name: str,
    counts: Mapping[str, int],
    design: Exported,
    known: Mapping[str, tuple[str, str]],
    wiring: Wiring,
) -> Iterator[str]:
    """A box with the name of its block and of the parts that have pages, each a link."""
    x, y, width, height = wiring.box(name)
    middle = x + width / 2
    if name not in counts:
        kind = "stream" if STREAM.match(name) else "pin"
        yield f'<g class="{kind}">{_text(middle, y + height / 2 + 4, name)}</g>'
        return
    page, stage = known[name]
    watching = ' stroke-dasharray="4 3"' if name in WATCHING else ""
    yield (
        f'<g class="block"><rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" '
        f'fill="#eef3f8" stroke="#44505c"{watching}/>'
    )
    lines = [(name, counts[name], page, stage)]
    if name not in WATCHING:
        parts = [(part, number) for part, number in _parts(design, name) if part in known]
        lines += [
            (part, number, *known[part])
            for part, number in parts
            if known[part][0] != page and known[part][1] != "Memories and delays"
        ]
    top = y + (height - LINE * len(lines)) / 2
    for row, (block, number, target, its_stage) in enumerate(lines):
        shown = f"{block} x {number}" if number > 1 else block
        weight = "" if row else ' font-weight="bold"'
        yield (
            f'<a href="{target}" aria-label="{block}, {its_stage}">'
            f"{_text(middle, top + LINE * (row + 0.75), shown, weight)}</a>"
        )
    yield "</g>"


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle" fill="#14202b"{more}>{text}</text>'


def rewritten(
    arguments: list[str], said: str | None, folder: Path, drawings: Mapping[str, str]
) -> int:
    """Rewrite drawings in a folder, or say which are stale."""
    parser = argparse.ArgumentParser(description=said, allow_abbrev=False)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if one is stale")
    check = parser.parse_args(arguments).check
    stale = 0
    for name, new in drawings.items():
        path = folder / f"{name}.svg"
        if path.is_file() and path.read_text(encoding="ascii") == new:
            continue
        stale = 1
        print(f"{path.name}: {'stale' if check else 'rewritten'}")
        if not check:
            path.write_text(new, encoding="ascii")
    return stale if check else 0


if __name__ == "__main__":
    sys.exit(rewritten(sys.argv[1:], __doc__, FOLDER, {name: drawn(name) for name in DRAWINGS}))
