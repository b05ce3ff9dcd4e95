"""Tables of the report that count bytes: the footings, the strategies, the paper's errata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from merp.models.errors import BadInput
from merp.models.network.phases import ONE_PASS, PHASES
from merp.models.papers.lists import Erratum
from merp.models.plan.traffic import board_traffic
from merp.models.traffic import published
from merp.models.traffic.closed_form import LayerTraffic, Phase, network_traffic, total
from merp.models.traffic.footing import Footing, activation_bits
from merp.models.traffic.strategies import round_trips, staircase
from merp.tools.report.choice import Choice
from merp.tools.report.table import LAYER, MEASURED, MODELLED, Column, Table

MB, KB = 1e6, 1e3


def traffic_tables(choice: Choice) -> list[Table]:
    """Return one table per footing; of footing ``board`` only where there is a plan."""
    footings = (
        (
            "traffic-paper",
            "Footing paper",
            Footing(),
            "Footing paper: feature and delta maps only, as table 3 of CNN-MERP counts.",
        ),
        (
            "traffic-full",
            "Footing full, deltas at the resolution of the sums",
            Footing(name="full", state="32"),
            f"Footing full: maps, kernels, biases, and the {activation_bits(choice.network)}-bit "
            "activation for ReLU' and un-pooling; all kernels of a layer on chip.",
        ),
        (
            "traffic-pooled",
            "Footing full, deltas at pooled resolution",
            Footing(name="full", state="pooled"),
            "Footing full, state pooled: deltas lie in memory at pooled resolution and are "
            "expanded on chip by a mask bit and a position per maximum.",
        ),
    )
    found = [
        traffic_table(
            choice, *each, network_traffic(choice.network_on(each[2]), choice.batch, each[2])
        )
        for each in footings
    ]
    if isinstance(choice.plan, BadInput):
        return found
    on_board = Footing(name="board", state="pooled", board=choice.board)
    caption = (
        f"Footing board: as full, state pooled, in the passes of the plan on board "
        f"{choice.board.name}, whose designs fit the {choice.part.name}."
    )
    layers = board_traffic(choice.network, choice.plan)
    return [
        *found,
        traffic_table(choice, "traffic-board", "Footing board", on_board, caption, layers),
    ]


def traffic_table(
    choice: Choice,
    id: str,
    title: str,
    footing: Footing,
    caption: str,
    layers: Sequence[LayerTraffic],
) -> Table:
    """Return the bytes of each layer and phase, and their sums, on a footing."""
    compared = footing.name == "paper" and choice.papers
    columns = [
        LAYER,
        Column(key="operations", label="operations", unit="Gop", digits=3, scale=1e9),
    ]
    if compared:
        columns.append(Column(key="gop_printed", label="printed", unit="Gop", digits=2))
    phases = (*PHASES, *((ONE_PASS,) if any(each.bp for each in layers) else ()))
    for phase in phases:
        columns.append(
            Column(
                key=f"{phase}_bytes",
                label=phase.upper(),
                unit="MB",
                digits=2,
                scale=MB,
                basis=f"{phase}_basis",
            )
        )
        columns.append(
            Column(key=f"{phase}_mb_per_gflop", label=phase.upper(), unit="MB/GFlop", digits=3)
        )
        if compared:
            columns.append(
                Column(key=f"{phase}_printed", label="printed", unit="MB/GFlop", digits=2)
            )
    rows = [_row(each.layer.name, {p: getattr(each, p) for p in phases}) for each in layers]
    for row, each in zip(rows, layers, strict=True):
        for phase in phases:
            row[f"{phase}_basis"] = _basis(choice, each, phase, footing)
        if compared:
            _add_printed(row, published.TABLE_3.get(each.layer.name))
    convolutions = [each for each in layers if each.layer.kind == "conv"]
    sums = {
        name: some for name, some in (("conv layers", convolutions), ("all layers", layers)) if some
    }
    for name, some in sums.items():
        row = _row(name, {phase: total(some, phase) for phase in phases})
        row |= {f"{phase}_basis": _sum_basis(rows, some, phase) for phase in phases}
        if compared and name == "conv layers":
            _add_printed(row, published.TABLE_3_TOTAL)
            row["errata"] = ["ku_printed"]
        rows.append(row)
    notes = [_step_note(name, some) for name, some in sums.items()]
    if compared:
        first = published.ERRATA[0]
        notes.append(
            f"The printed KU total is an erratum ({first.where}: {first.printed}; {first.found}): "
            f"{first.why}."
        )
    return Table(
        id=id, title=title, caption=caption, columns=columns, rows=rows, totals=len(sums),
        notes=notes,
    )  # fmt: skip


def _row(name: str, phases: Mapping[str, Phase | None]) -> dict[str, Any]:
    forward = phases["fp"]
    assert forward is not None
    row: dict[str, Any] = {"layer": name, "operations": forward.operations}
    for phase, found in phases.items():
        row[f"{phase}_bytes"] = found.bytes if found else None
        row[f"{phase}_mb_per_gflop"] = found.mb_per_gflop if found else None
    return row


def _add_printed(row: dict[str, Any], printed: published.Row | None) -> None:
    row["gop_printed"] = printed.gop if printed else None
    row |= {f"{phase}_printed": getattr(printed, phase, None) for phase in PHASES}


def _step_note(name: str, layers: Sequence[LayerTraffic]) -> str:
    step = total(layers, "step")
    return (
        f"Training step, {name}: {step.bytes / MB:,.1f} MB, {step.operations / 1e9:,.1f} Gop, "
        f"{step.mb_per_gflop:.3f} MB/GFlop."
    )


def _basis(choice: Choice, figures: LayerTraffic, phase: str, footing: Footing) -> str:
    """Whether a simulation moved these very bytes through the hardware's ports."""
    if footing.name == "board":
        assert not isinstance(choice.plan, BadInput)
        shown = any(
            choice.shown(each)
            for each in choice.plan.layers
            if (each.work.layer.name, each.work.phase) == (figures.layer.name, phase)
        )
        return MEASURED if shown else MODELLED
    figure: Phase | None = getattr(figures, phase)
    every_port = footing.name == "full"
    seen = figure and choice.saw(figures.layer, phase, figure, every_port=every_port)
    return MEASURED if seen else MODELLED


def _sum_basis(rows: Sequence[dict[str, Any]], layers: Sequence[LayerTraffic], phase: str) -> str:
    names = {each.layer.name for each in layers if getattr(each, phase) is not None}
    found = {row[f"{phase}_basis"] for row in rows if row["layer"] in names}
    return MEASURED if found == {MEASURED} else MODELLED


def staircase_table(choice: Choice) -> Table:
    """Return what each strategy saves and costs, in every convolution layer."""
    network, batch = choice.network, choice.batch
    rows = []
    for layer in choice.convolutions:
        operations = layer.operations(batch)
        trips = round_trips(network, layer, batch)
        compared = choice.papers and layer.name == published.STAIRCASE_LAYER
        rows += [
            {
                "layer": layer.name,
                "strategies": step.level,
                "last": step.last,
                "input_bytes": step.input_bytes(network.at(layer)),
                "sum_bytes": step.sum_bytes(network.at(layer)),
                "mb_per_gflop": step.bytes(network.at(layer)) / operations * 1e3,
                "printed": published.STAIRCASE.get(step.level) if compared else None,
                "errata": ["printed"] if compared and step.level in ("1", "1-2") else [],
                "on_chip_bytes": step.on_chip_words * network.fmt.bytes,
                "trip_bytes": 0 if step.level == "1-5" else trips.activation + trips.pooling,
            }
            for step in staircase(layer, batch)
        ]
    printed = [Column(key="printed", label="printed", unit="MB/GFlop", digits=2)]
    columns = [
        LAYER,
        Column(key="strategies", label="strategies"),
        Column(key="last", label="the last one"),
        Column(key="input_bytes", label="inputs", unit="MB", digits=1, scale=MB),
        Column(key="sum_bytes", label="sums", unit="MB", digits=1, scale=MB),
        Column(key="mb_per_gflop", label="maps", unit="MB/GFlop", digits=3),
        *(printed if choice.papers else ()),
        Column(key="on_chip_bytes", label="the last costs on chip", unit="KB", digits=2, scale=KB),
        Column(key="trip_bytes", label="ReLU, pooling apart", unit="MB", digits=1, scale=MB),
    ]  # fmt: skip
    return Table(
        id="staircase",
        title="Strategies 1 to 5, layer by layer",
        caption=(
            "Footing paper, FP: words of convolution maps of all groups, strategies accumulating. "
            "On-chip memory is that of one group. ReLU and pooling as layers of their own move "
            "what the last column says, until strategy 5 fuses them. Modelled, but for the last "
            "step, which is the hardware's."
        ),
        columns=columns,
        rows=rows,
    )


def errata_table(paper: str, errata: Sequence[Erratum]) -> Table:
    """Return the printed values of a paper that its own definitions do not give."""
    return Table(
        id="errata",
        title="Errata of the paper",
        caption=f"What {paper} prints, what its own definitions give; footing as each row says.",
        columns=[
            Column(key="where", label="where"),
            Column(key="printed", label="printed"),
            Column(key="found", label="by its own definitions"),
            Column(key="why", label="why"),
        ],
        rows=[
            {"where": each.where, "printed": each.printed, "found": each.found, "why": each.why}
            for each in errata
        ],
    )
