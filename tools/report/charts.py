"""Charts of the report as inline SVG; colours are CSS variables, so a drawing fits any theme."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from merp.models.network.phases import PHASES

Json = Mapping[str, Any]

# Colours that stand for CSS; each is replaced in the SVG.
INK, FAINT, GRID = "#010101", "#020202", "#030303"
SERIES = ("#0a0001", "#0a0002", "#0a0003", "#0a0004")
_CSS = {INK: "currentColor", FAINT: "var(--faint)", GRID: "var(--grid)"} | {
    colour: f"var(--series-{index + 1})" for index, colour in enumerate(SERIES)
}
_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the page's font
    "svg.hashsalt": "merp",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
}
WIDTH = 4.5  # inches; a phone shows the text at about its nominal size


def charts(document: Json) -> dict[str, str]:
    """Return an SVG for every chart that a section asks for."""
    wanted = [chart for section in document["sections"] for chart in section["charts"]]
    with mpl.rc_context(_STYLE):
        return {chart: _svg(chart, _DRAW[chart], document) for chart in wanted}


def _svg(name: str, draw: Callable[[Figure, Json], None], document: Json) -> str:
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    draw(figure, document)
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for colour, css in _CSS.items():
        svg = svg.replace(colour, css)
    # Two charts of a page may not share an id.
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", svg)
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert size is not None
    head = f'<svg class="chart" role="img" aria-label="{name}" viewBox="0 0 {size[1]} {size[2]}">'
    return re.sub(r"<svg[^>]*>", head, svg, count=1)


def _rows(document: Json, table: str) -> Sequence[Json]:
    found = document["tables"][table]
    rows: Sequence[Json] = found["rows"][: len(found["rows"]) - found["totals"]]
    return rows


def _staircase(figure: Figure, document: Json) -> None:
    axes = figure.subplots()
    layer = document["staircase_layer"]
    rows = _rows(document, "staircase")
    own = [row for row in rows if row["layer"] == layer]
    levels = [row["strategies"] for row in own]
    values = [row["mb_per_gflop"] for row in own]
    bars = axes.bar(levels, values, color=SERIES[0], width=0.66, label=layer)
    for bar, level, value in zip(bars, levels, values, strict=True):
        highest = max(row["mb_per_gflop"] for row in rows if row["strategies"] == level)
        axes.annotate(
            f"{value:,.3g}" if value < 1000 else f"{value:,.0f}",
            (bar.get_x() + bar.get_width() / 2, highest), xytext=(0, 3),
            textcoords="offset points", ha="center", fontsize=8,
        )  # fmt: skip
    others = [row for row in rows if row["layer"] != layer]
    axes.plot(
        [row["strategies"] for row in others], [row["mb_per_gflop"] for row in others],
        linestyle="none", marker="_", markersize=13, color=FAINT, label="other layers",
    )  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(top=max(row["mb_per_gflop"] for row in rows) * 4)
    named = [fill(f"{row['strategies']}: {row['last']}", 14) for row in own[1:]]
    axes.set_xticks(range(len(levels)), [levels[0], *named], fontsize=8)
    axes.set_xlabel("strategies in force, and the last of them")
    axes.set_ylabel("MB/GFlop (log)")
    axes.grid(False, axis="x")
    axes.legend(loc="upper right")


def _traffic(figure: Figure, document: Json) -> None:
    rows = [row for row in _rows(document, "traffic-paper") if row["fp_bytes"]]
    conv = [row for row in rows if not row["layer"].startswith("fc")] or rows
    figure.set_figheight(max(2.6, 0.8 + 0.42 * len(conv)))
    axes = figure.subplots()
    for index, phase in enumerate(PHASES):
        at = [place + (index - 1) * 0.26 for place in range(len(conv))]
        values = [row[f"{phase}_mb_per_gflop"] or 0 for row in conv]
        axes.barh(at, values, height=0.24, color=SERIES[index], label=phase.upper())
        printed = [(row.get(f"{phase}_printed"), y) for row, y in zip(conv, at, strict=True)]
        marks = [(value, y) for value, y in printed if value is not None]
        if marks:
            axes.plot(
                *zip(*marks, strict=True), linestyle="none", marker="D", markersize=4,
                color=INK, fillstyle="none", label="printed" if index == 0 else None,
            )  # fmt: skip
    axes.set_yticks(range(len(conv)), [row["layer"] for row in conv])
    axes.invert_yaxis()
    axes.set_xlabel("MB/GFlop, footing paper")
    axes.grid(False, axis="y")
    figure.legend(loc="outside upper center", ncols=4)


def _attainable(figure: Figure, document: Json) -> None:
    figure.set_figheight(4.4)
    axes = figure.subplots()
    bandwidths = [1.0, 100.0]
    own = 0
    dashes = ["--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]
    for row in _rows(document, "attainable"):
        ours = row["source"] == "this report"
        axes.plot(
            bandwidths, [bandwidth / row["mb_per_gop"] for bandwidth in bandwidths],
            color=SERIES[own] if ours else FAINT, linewidth=1.8 if ours else 1.1,
            linestyle="-" if ours else dashes.pop(0),
            label=f"{row['work']} ({row['mb_per_gop']:.2f})",
        )  # fmt: skip
        own += ours
    here = document["bandwidth_gbs"]
    axes.axvline(here, color=INK, linewidth=0.8)
    axes.annotate(
        f"{here:g} GB/s", (here, 0), xycoords=("data", "axes fraction"), xytext=(4, 4),
        textcoords="offset points", fontsize=8,
    )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=bandwidths)
    axes.set_xlabel("external memory, GB/s (log)")
    axes.set_ylabel("attainable, Top/s (log)")
    figure.legend(loc="outside lower center", ncols=2, title="traffic of, MB/Gop", title_fontsize=8)


def _roofline(figure: Figure, document: Json) -> None:
    axes = figure.subplots()
    rows = _rows(document, "roofline")
    bandwidth = document["bandwidth_gbs"]
    left, right = 1.0, 2 * max(row["intensity"] for row in rows)
    top = max(row["peak"] for row in rows)
    for peak in sorted({row["peak"] for row in rows}):
        axes.plot([peak / bandwidth, right], [peak, peak], color=FAINT, linewidth=1)
    axes.plot([left, top / bandwidth], [left * bandwidth, top], color=FAINT, linewidth=1)
    axes.annotate(
        f"{bandwidth:g} GB/s", (left, left * bandwidth), xytext=(6, -6),
        textcoords="offset points", fontsize=8,
    )  # fmt: skip
    axes.annotate(
        "CUs of the designs", (right, top), xytext=(-4, 5), textcoords="offset points",
        ha="right", fontsize=8,
    )  # fmt: skip
    for phase, colour, marker in zip(PHASES, SERIES, "osD", strict=False):
        some = [row for row in rows if row["phase"] == phase.upper()]
        axes.plot(
            [row["intensity"] for row in some], [row["attainable"] for row in some],
            linestyle="none", marker=marker, markersize=5, color=colour, fillstyle="none",
            label=phase.upper(),
        )  # fmt: skip
    low = min(left * bandwidth, min(row["attainable"] for row in rows))
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(low / 1.6, top * 2.2))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("operations per byte, Flop/B (log)")
    axes.set_ylabel("GFlop/s (log)")
    axes.legend(loc="lower right")


def _variants(figure: Figure, document: Json) -> None:
    rows = _rows(document, "variants")
    figure.set_figheight(2.5)
    axes = figure.subplots()
    names = [row["variant"] for row in rows]
    values = [row["step_mb_per_gflop"] for row in rows]
    colours = [SERIES[0] if row["hardware"] == "yes" else FAINT for row in rows]
    bars = axes.barh(names, values, color=colours, height=0.6)
    axes.bar_label(bars, fmt="{:.2f}", padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(right=1.15 * max(values))
    axes.set_xlabel("MB/GFlop of a step; coloured: in hardware")
    axes.grid(False, axis="y")


def _cycles(figure: Figure, document: Json) -> None:
    rows = _rows(document, "cycles")
    figure.set_figheight(max(2.6, 1.0 + 0.19 * len(rows)))
    axes = figure.subplots()
    per_ms = document["clock_mhz"] * 1e3
    names = [f"{row['layer']} {row['phase']}" for row in rows]
    parts: dict[str, list[float]] = {
        "useful": [row["issue"] * row["slot_efficiency"] / 100 for row in rows],
        "idle CUs": [row["issue"] * (1 - row["slot_efficiency"] / 100) for row in rows],
        "fill, stalls, drain": [row["fill"] + row["stall"] + row["drain"] for row in rows],
        "kernel load": [row["kernel_load"] for row in rows],
    }
    left = [0.0] * len(rows)
    for (label, cycles), colour in zip(parts.items(), SERIES, strict=True):
        widths = [count / per_ms for count in cycles]
        axes.barh(names, widths, left=left, color=colour, height=0.7, label=label)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel(f"ms of a batch of {document['batch']}")
    axes.grid(False, axis="y")
    figure.legend(loc="outside upper center", ncols=4, columnspacing=1, handlelength=1)


_DRAW: dict[str, Callable[[Figure, Json], None]] = {
    "staircase": _staircase,
    "traffic": _traffic,
    "attainable": _attainable,
    "roofline": _roofline,
    "variants": _variants,
    "cycles": _cycles,
}
