"""Tables of a simulated chain: slices, links and FIFOs, and the cycles of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from merp.models.comparison.fpdeep import ChainCut
from merp.models.comparison.record import Record
from merp.models.network.phases import PHASES
from merp.models.rows.layout import Layout
from merp.models.rows.simulator import RowOutcome
from merp.models.rows.streams import UNBOUNDED
from merp.tools.report.table import Column, Table

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class SimulatedPlan:
    """A simulated plan."""

    plan: ChainCut
    chain: Layout
    outcome: RowOutcome
    record: Record

    @property
    def clock_mhz(self) -> float:
        """Clock of all boards."""
        return self.plan.board.clock_mhz

    @property
    def stage(self) -> int:
        """Cycles of an image in the slowest slice, which is the least possible interval."""
        return max(max(piece.cycles.values()) for piece in self.chain.slices)

    def cycles(self) -> dict[str, float]:
        """Return the cycles of a batch, by name."""
        found = self.outcome
        return {
            "stage": self.stage,
            "interval": found.interval,
            "fill": found.fill,
            "drain": found.drain,
            "update": found.update,
            "total": found.total,
        }


def tables(run: SimulatedPlan) -> tuple[Table, ...]:
    """Return all tables."""
    return slices(run), links(run), fifos(run)


def slices(run: SimulatedPlan) -> Table:
    """Return a row for each slice, with the use of its phases during the batch."""
    columns = [
        Column(key="node", label="board"),
        Column(key="layer", label="layer"),
        Column(key="share", label="maps", unit="%", digits=1, scale=0.01),
        Column(key="cycles", label="cycles an image", digits=0),
        *(Column(key=each, label=f"{each} busy", unit="%", digits=1) for each in PHASES),
        Column(key="waits", label="waits most for"),
    ]
    return Table(
        id="slices",
        title="Slices of layers, board by board",
        caption="Busy: share of the cycles of the batch, including fill and drain.",
        columns=columns,
        rows=[_slice(run, index) for index in range(len(run.chain.slices))],
    )


def _slice(run: SimulatedPlan, index: int) -> Row:
    piece = run.chain.slices[index]
    layer, found = run.chain.layers[piece.layer], run.outcome
    row: Row = {
        "node": piece.node,
        "layer": layer.name,
        "share": float(piece.end - piece.begin),
        "cycles": max(piece.cycles.values()),
    }
    waits: dict[str, int] = {}
    for phase in PHASES:
        row[phase] = None
        if phase in piece.cycles:
            server = found.graph.servers.index(f"{phase} {layer.name} on node {piece.node}")
            row[phase] = 100 * found.busy[server] / found.total
            for cause, cycles in found.waits[server].items():
                waits[cause] = waits.get(cause, 0) + cycles
    return row | {"waits": max(waits, key=waits.__getitem__, default="")}


def links(run: SimulatedPlan) -> Table:
    """Return a row for each link and direction."""
    found = run.outcome
    rows = [
        {
            "link": name.removeprefix("link "),
            "words": found.words(name) // run.chain.images,
            "gbits_s": found.words(name) * run.plan.word_bits * run.clock_mhz / found.total / 1e3,
            "busy": 100 * found.busy[server] / found.total,
        }
        for server, name in enumerate(found.graph.servers)
        if name.startswith("link ")
    ]
    return Table(
        id="links",
        title="Links",
        caption="Rate and use: averages over the whole batch.",
        columns=[
            Column(key="link", label="from board to board"),
            Column(key="words", label="words an image", digits=0),
            Column(key="gbits_s", label="rate", unit="Gb/s", digits=2),
            Column(key="busy", label="busy", unit="%", digits=1),
        ],
        rows=rows,
    )


def fifos(run: SimulatedPlan) -> Table:
    """Return a row for each FIFO and store."""
    return Table(
        id="fifos",
        title="FIFOs and stores",
        caption="In rows of maps; for features and maps, the rows of all images in flight.",
        columns=[
            Column(key="kind", label="FIFO"),
            Column(key="into", label="in front of"),
            Column(key="places", label="places", digits=0),
            Column(key="peak", label="most at once", digits=0),
        ],
        rows=list(_fifos(run)),
    )


def _fifos(run: SimulatedPlan) -> Iterator[Row]:
    graph = run.outcome.graph
    for index, each in enumerate(graph.fifos):
        places = graph.pools[each.pool]
        if places < UNBOUNDED and each.kind != "flight":
            into = ", ".join(graph.streams[reader].what for reader in each.readers)
            peak = run.outcome.peaks[index]
            yield {"kind": each.kind, "into": into, "places": places, "peak": peak}
