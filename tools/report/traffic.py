"""Tables of the report that show bytes by a count, and the paper's errata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from merp.models.network.phases import ONE_PASS, PHASES
from merp.models.papers.lists import Erratum
from merp.models.traffic import published
from merp.models.traffic.closed_form import LayerTraffic, PhaseTraffic, total
from merp.models.traffic.count import Count
from merp.tools.report.choice import ReportChoice
from merp.tools.report.table import LAYER, MEASURED, MODELLED, Column, Table

MB, KB = 1e6, 1e3


def traffic_table(
    choice: ReportChoice,
    id: str,
    title: str,
    count: Count,
    caption: str,
    layers: Sequence[LayerTraffic],
) -> Table:
    """Return the bytes of each layer and phase, and their sums, by a count."""
    compared = count.name == "maps" and choice.papers
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
            row[f"{phase}_basis"] = MEASURED if choice.moved(each, phase, count) else MODELLED
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


def _row(name: str, phases: Mapping[str, PhaseTraffic | None]) -> dict[str, Any]:
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


def _sum_basis(rows: Sequence[dict[str, Any]], layers: Sequence[LayerTraffic], phase: str) -> str:
    names = {each.layer.name for each in layers if getattr(each, phase) is not None}
    found = {row[f"{phase}_basis"] for row in rows if row["layer"] in names}
    return MEASURED if found == {MEASURED} else MODELLED


def errata_table(paper: str, errata: Sequence[Erratum]) -> Table:
    """Return the printed values of a paper that contradict its own definitions."""
    return Table(
        id="errata",
        title="Errata of the paper",
        caption=f"Values that {paper} prints, and values by its own definitions; each row names "
        "its count.",
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
