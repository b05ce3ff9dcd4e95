"""A text alternative of each chart of the report, for readers who cannot see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.tools.report.chart_bytes import stairs
from merp.tools.report.chart_ink import rows_of


def alternatives(document: Mapping[str, Any]) -> dict[str, str]:
    """Return one or two sentences for each chart of the document's sections."""
    wanted = [chart for section in document["sections"] for chart in section["charts"]]
    return {chart: _WORDS[chart](document) for chart in wanted}


def _staircase(document: Mapping[str, Any]) -> str:
    layer = document["staircase_layer"]
    own = [row for row in rows_of(document, "staircase") if row["layer"] == layer]
    return (
        f"Bars on a logarithmic scale: traffic of {layer} falls from "
        f"{own[0]['mb_per_gflop']:,.0f} MB/GFlop without a strategy to "
        f"{own[-1]['mb_per_gflop']:.3g} with all of them."
    )


def _traffic(document: Mapping[str, Any]) -> str:
    rows = rows_of(document, "traffic-paper")
    found = [
        (row[f"{phase}_mb_per_gflop"], f"{row['layer']} {phase.upper()}")
        for row in rows
        for phase in ("fp", "dp", "ku")
        if row[f"{phase}_mb_per_gflop"] is not None and not row["layer"].startswith("fc")
    ]
    if not found:
        return "Bars: traffic in MB/GFlop of each layer and phase."
    (least, low), (most, high) = min(found), max(found)
    return (
        f"Bars: traffic in MB/GFlop of each layer and phase, from {least:.2f} in {low} to "
        f"{most:.2f} in {high}."
    )


def _attainable(document: Mapping[str, Any]) -> str:
    rows = rows_of(document, "attainable")
    low, high = min(rows, key=lambda row: row["tops"]), max(rows, key=lambda row: row["tops"])
    return (
        "Lines on logarithmic scales: attainable throughput over memory bandwidth. At "
        f"{document['bandwidth_gbs']:g} GB/s from {low['tops']:.2f} Top/s ({low['work']}) to "
        f"{high['tops']:.2f} Top/s ({high['work']})."
    )


def _roofline(document: Mapping[str, Any]) -> str:
    rows = rows_of(document, "roofline")
    bounds = [row["bound"] for row in rows]
    bound = ", ".join(f"{bounds.count(each)} bound by {each}" for each in dict.fromkeys(bounds))
    reached = [row["attainable"] for row in rows]
    return (
        f"Points under roofs, one for each of {len(rows)} passes: {bound}; "
        f"{min(reached):.1f} to {max(reached):.1f} GFlop/s."
    )


def _variants(document: Mapping[str, Any]) -> str:
    steps = stairs(document)
    measured = [name for name, row in steps.items() if row["step_basis"] == "measured"]
    values = [f"{name} {row['step_mb_per_gflop']:.2f}" for name, row in steps.items()]
    return (
        f"Bars as a staircase: traffic of a training step in MB/GFlop, {', '.join(values)}. "
        f"Measured: {', '.join(measured) or 'none'}."
    )


def _cycles(document: Mapping[str, Any]) -> str:
    rows = rows_of(document, "cycles")
    longest = max(rows, key=lambda row: row["milliseconds"])
    return (
        f"Stacked bars: time of each of {len(rows)} passes by cause. The longest is "
        f"{longest['layer']} {longest['phase']} with {longest['milliseconds']:.0f} ms; its CUs "
        f"did useful work for {longest['efficiency']:.0f} % of this time."
    )


_WORDS = {
    "staircase": _staircase,
    "traffic": _traffic,
    "attainable": _attainable,
    "roofline": _roofline,
    "variants": _variants,
    "cycles": _cycles,
}
