"""``merp resources --route``: blocks placed and routed on another FPGA family, with estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from merp.models.fpga.routed import SITES
from merp.models.network.network import Network
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.table import Sheet, table

if TYPE_CHECKING:
    from merp.cosim.synthesis.routed_blocks import RoutedBlock
    from merp.tools.fpga.bitstream.engines import LoadedEngine

SEEDS = 3
FIGURES = ("estimate_ns", "best_ns", "spread_ns", "ratio", "to_median")
HEADS = ("block", "from", "to", "estimate, ns", "routed, ns", "spread", "ratio", "to median",
         *(kind.upper() for kind in SITES))  # fmt: skip


class RoutingFields(Protocol):
    """Request fields that select the blocks to place and route."""

    @property
    def block(self) -> Sequence[str]:
        """Names of blocks; if it is empty, the blocks with at most a CU's logic."""

    @property
    def seeds(self) -> int | None:
        """Number of placements of each block."""


def routed(engine: LoadedEngine, asked: RoutingFields) -> list[RoutedBlock]:
    """Return the blocks of an engine, placed and routed. Show a progress bar meanwhile.

    Raises:
        BadInput: a block does not exist, or a tool is not installed.
    """
    # Slow imports only after the input is checked.
    from merp.cosim.synthesis.routed_blocks import route_blocks
    from merp.cosim.synthesis.routing import DEVICE, nextpnr_version
    from merp.cosim.synthesis.synthesis import yosys_version
    from merp.testbenches.axi.axi_top import axi_top

    yosys_version()
    nextpnr_version()
    top = axi_top(engine.top())
    plan = f"conversion to Verilog, then each block synthesised, placed and routed on {DEVICE}"
    with ProgressBar("resources", plan) as bar:
        bar.say("converting")

        def show(done: int, of: int, name: str) -> None:
            if not done:
                bar.spent.turn("placement and routing")
            bar.count(done, of, f"{name}, {done} of {of} placements done")

        with bar.spent.on("converting"):
            return route_blocks(top, asked.block, asked.seeds or SEEDS, show, bar.announce)


def routed_table(
    network: Network, engine: LoadedEngine, asked: RoutingFields, blocks: Sequence[RoutedBlock]
) -> Sheet:
    """Return a table of the blocks and their figures."""
    from merp.cosim.synthesis.routing import DEVICE

    title = f"{network.name} {engine.title}: blocks on {DEVICE}"
    rows: list[list[str]] = []
    for found in (_figures(block, blocks) for block in blocks):
        figures = [found[key] for key in FIGURES]
        rows.append(
            [
                *(found[key] for key in ("name", "from", "to")),
                *("-" if figure is None else f"{figure:.2f}" for figure in figures),
                *(f"{found[kind]:,}" for kind in SITES),
            ]
        )
    caption = (
        "Longest path between registers of each separate block: the estimate for the 7 series, "
        f"and the best of {asked.seeds or SEEDS} placements, one per seed. The worst is longer by "
        "the spread. Ratio is routed divided by estimate. Resources are of the best placement."
    )
    bundles = (2, *(1 for _ in FIGURES), len(SITES))
    return table(title, HEADS, rows, text_columns=3, bundles=bundles, caption=caption)


def routed_answer(
    network: Network, engine: LoadedEngine, asked: RoutingFields, blocks: Sequence[RoutedBlock]
) -> dict[str, Any]:
    """Return the machine-readable answer."""
    from merp.cosim.synthesis.routed_blocks import median_ratio
    from merp.cosim.synthesis.routing import DEVICE, OPTIONS, nextpnr_version
    from merp.cosim.synthesis.synthesis import ECP5_OPTIONS, yosys_version

    middle = median_ratio(blocks)
    return {
        "network": network.name,
        "layer": engine.layer,
        "phase": engine.phase,
        "design": engine.design,
        "device": DEVICE,
        "yosys": yosys_version(),
        "synthesis": ECP5_OPTIONS,
        "nextpnr": nextpnr_version(),
        "options": OPTIONS,
        "seeds": asked.seeds or SEEDS,
        "blocks": [_figures(block, blocks) for block in blocks],
        "median_ratio": None if middle is None else round(middle, 3),
    }


def _figures(block: RoutedBlock, among: Sequence[RoutedBlock]) -> dict[str, Any]:
    from merp.cosim.synthesis.routed_blocks import median_ratio

    middle = median_ratio(among)
    best, ratio = block.best, block.ratio
    return {
        "name": block.name,
        "estimate_ns": round(block.estimate_ns, 2),
        "routed_ns": [None if run.path_ns is None else round(run.path_ns, 2) for run in block.runs],
        "best_ns": None if best.path_ns is None else round(best.path_ns, 2),
        "spread_ns": None if block.spread_ns is None else round(block.spread_ns, 2),
        "ratio": None if ratio is None else round(ratio, 3),
        "to_median": None if ratio is None or middle is None else round(ratio / middle, 3),
        **best.used(),
        "from": best.start,
        "to": best.end,
    }
