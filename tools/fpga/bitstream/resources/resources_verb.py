"""``merp resources``: FPGA resources of a layer's engine, block by block, after synthesis.

With ``--route``: path delays of the blocks after placement and routing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merp.models.base.errors import BadInput
from merp.models.base.file_format import SYNTHESIS, numbered
from merp.models.fpga.order_codes import part_named
from merp.models.fpga.parts import DEFAULT, SEVEN_SERIES, Part, listed
from merp.models.fpga.resources import KINDS, Resources, capacity
from merp.models.network.network import Network
from merp.models.network.phases import known_phases
from merp.tools.common import fields
from merp.tools.common.hardware import HARDWARE
from merp.tools.common.kinds import Flag, OneOf, Repeated, Text, WholeOption
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.request import Being, Typed, option
from merp.tools.common.resumable import noted, resumable
from merp.tools.common.shipped import open_network
from merp.tools.common.table import console, table
from merp.tools.fpga.bitstream.resources.routing import SEEDS, routed, routed_answer, routed_table

if TYPE_CHECKING:
    from merp.cosim.synthesis.resources import Block
    from merp.tools.fpga.bitstream.engines import LoadedEngine

ROUTE = (Being("route"),)
COLUMNS = ("of them logic", "shift", "memory", "LUT", "FF", "BRAM", "DSP")


@dataclass(frozen=True, kw_only=True)
class EngineOptions(Typed):
    """The options that select an engine."""

    network: str = fields.network()
    layer: str | None = option(
        Text(),
        "layer of the measured design (no default; a MAC array's runs all layers)",
        metavar="L",
    )
    phase: str | None = option(
        OneOf(known_phases),
        "ff: fp of two fused layers; bp: dp and ku in one (default fp; a MAC array's design runs "
        "all phases)",
    )


@dataclass(frozen=True, kw_only=True)
class ResourcesOptions(EngineOptions, fields.Tables):
    """The options of the command."""

    part: str | None = option(
        Text(),
        f"a part of the 7 series: {listed(SEVEN_SERIES)} (default {DEFAULT})",
        metavar="PART",
        without=ROUTE,
    )
    whole: bool = option(
        Flag(),
        "synthesise the design as one block: takes minutes, ten or more for large designs",
        without=ROUTE,
    )
    route: str | None = option(
        OneOf(("ecp5",)),
        "place and route each block separately on Lattice's ECP5, next to the estimate of its "
        "paths: takes minutes for large blocks (default: synthesis only)",
    )
    block: tuple[str, ...] = option(
        Repeated(Text()),
        "with --route: this block only; may be given several times (default: blocks of at most a "
        "CU's logic)",
        default=(),
        metavar="NAME",
        needs=ROUTE,
    )
    seeds: int | None = option(
        WholeOption(1, 100),
        f"with --route: placements of each block, with the seeds 1 to N (default {SEEDS})",
        metavar="N",
        needs=ROUTE,
    )


REQUEST = ResourcesOptions


def run(asked: ResourcesOptions) -> int:
    """Synthesise and print."""
    network = open_network(asked.network, fuses=True)
    part = part_named(asked.part or DEFAULT)

    from merp.tools.fpga.bitstream.engines import engine_of, printed  # to load NumPy late

    engine = engine_of(network, asked.layer, asked.phase)
    if asked.route:
        found = routed(engine, asked)
        return fields.answered(
            asked,
            routed_answer(network, engine, asked, found),
            lambda: console().print(routed_table(network, engine, asked, found)),
        )
    if part.name not in SEVEN_SERIES:
        raise BadInput(
            f"--part {asked.part}: synthesis is for the 7 series: allowed are "
            f"{listed(SEVEN_SERIES)}"
        )
    with resumable(asked.words):
        blocks = measured(engine, asked.whole)
    if asked.json:
        print(json.dumps(answer(network, engine, part, blocks, asked.whole), indent=2))
        return 0
    from merp.cosim.synthesis.resources import total

    title = f"{network.name} {engine.title} on {part.name}"
    rows = [
        [block.name, str(block.count), *_cells(block.all), f"{block.delay_ns:.1f}"]
        for block in blocks
    ]
    used, has = total(blocks), capacity(part)
    sums = [["all", "", *_cells(used), f"{slowest(blocks):.1f}"]]
    sums.append([part.name, "", "", "", "", *_figures(has), ""])
    shares = (f"{getattr(used, kind) / getattr(has, kind):.0%}" for kind in KINDS)
    sums.append(["share", "", "", "", "", *shares, ""])
    if engine.paper is not None:
        sums.append([engine.paper.name, "", "", "", "", *printed(engine.paper), ""])
    heads = ("block", "count", *COLUMNS, "delay, ns")
    caption = (
        "Cells after Yosys' synthesis, times the count, without placement and routing. BRAM in "
        "RAMB36. The delay of a block's longest path is an estimate."
    )
    caption = " ".join(filter(None, (caption, engine.notes)))
    bundles = (1, 4, 1, 1, 1, 1)  # uses of LUTs, next to their number
    console().print(
        table(title, heads, rows + sums, bundles=bundles, totals=len(sums), caption=caption)
    )
    return 0


def _figures(found: Resources) -> list[str]:
    return [f"{value:,.{1 if kind == 'bram' else 0}f}" for kind, value in found.figures().items()]


def _cells(found: Resources) -> list[str]:
    uses = (found.logic, found.shift, found.memory)
    return [*(f"{value:,}" for value in uses), *_figures(found)]


def slowest(blocks: list[Block]) -> float:
    """Return the estimated longest path between registers, in ns."""
    return max(block.delay_ns for block in blocks)


def measured(engine: LoadedEngine, whole: bool = False) -> list[Block]:
    """Return the blocks of an engine in its AXI shell. Show a progress bar meanwhile.

    Raises:
        BadInput: Yosys is not installed.
    """
    # Slow imports only after the input is checked.
    from merp.cosim.synthesis.resources import measure
    from merp.cosim.synthesis.synthesis import yosys_version
    from merp.testbenches.axi.axi_top import axi_top

    yosys_version()
    top = axi_top(engine.top())
    design = "as one block" if whole else "block by block"
    plan = f"conversion to Verilog, then synthesis by Yosys, {design}"
    with ProgressBar("resources", plan) as bar:
        bar.say("converting")

        synthesised = count = 0

        def show(done: int, of: int, name: str) -> None:
            nonlocal synthesised, count
            synthesised, count = done, of
            if not done:
                bar.spent.turn("synthesis")
            bar.count(done, of, f"synthesis of {name}, {done} of {of} blocks done")

        def kept() -> str:
            cached = f"{synthesised} of {count} distinct blocks are in the cache"
            return cached if synthesised else ""

        with bar.spent.on("converting"), noted(kept):
            return measure(top, whole, show, bar.announce)


def answer(
    network: Network, engine: LoadedEngine, part: Part, blocks: list[Block], whole: bool
) -> dict[str, Any]:
    """Return the machine-readable answer. The figures of a block are those of one instance."""
    from merp.cosim.engines.myhdl_engine import elaboration_sha
    from merp.cosim.synthesis.resources import total
    from merp.cosim.synthesis.synthesis import OPTIONS, yosys_version

    used, has = total(blocks), capacity(part)
    found = {
        "network": network.name,
        "layer": engine.layer,
        "phase": engine.phase,
        "part": part.name,
        "design": engine.design,
        HARDWARE: elaboration_sha(engine.top()),
        "yosys": yosys_version(),
        "options": OPTIONS,
        "whole": whole,
        "blocks": [
            {
                "name": block.name,
                "count": block.count,
                **block.each.figures(),
                **_uses(block.each),
                "delay_ns": round(block.delay_ns, 2),
            }
            for block in blocks
        ],
        "total": used.figures() | _uses(used) | {"delay_ns": round(slowest(blocks), 2)},
        "capacity": has.figures(),
        "fits": all(value <= has.figures()[kind] for kind, value in used.figures().items()),
        "paper": None if engine.paper is None else dict(engine.paper.answer),
        **({"notes": engine.notes} if engine.notes else {}),
    }
    return numbered(found, SYNTHESIS)


def _uses(found: Resources) -> dict[str, int]:
    """Return the uses of LUTs."""
    return {"lut_logic": found.logic, "lut_shift": found.shift, "lut_memory": found.memory}
