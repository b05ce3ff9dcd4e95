"""Charts of the report that show bytes: strategies, layers, variants."""

from __future__ import annotations

from itertools import pairwise
from textwrap import fill

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from merp.models.network.phases import PHASES
from merp.tools.report.chart_ink import FAINT, INK, SERIES, Json, rows_of


def staircase(figure: Figure, document: Json, wide: bool) -> None:
    """Draw the traffic of one layer after each strategy, with marks for the other layers."""
    figure.set_figheight(3.2 if wide else 4.2)
    axes = figure.subplots()
    layer = document["staircase_layer"]
    rows = rows_of(document, "staircase")
    own = [row for row in rows if row["layer"] == layer]
    names = [
        row["strategies"] if row["last"] == "-" else f"{row['strategies']}: {row['last']}"
        for row in own
    ]
    levels = {row["strategies"]: place for place, row in enumerate(own)}
    values = [row["mb_per_gflop"] for row in own]
    axes.barh(range(len(own)), values, color=SERIES[0], height=0.62, label=layer)
    for place, value in enumerate(values):
        highest = max(row["mb_per_gflop"] for row in rows if levels[row["strategies"]] == place)
        axes.annotate(
            f"{value:,.3g}" if value < 1000 else f"{value:,.0f}",
            (highest, place), xytext=(6, 0), textcoords="offset points", va="center",
        )  # fmt: skip
    others = [row for row in rows if row["layer"] != layer]
    if others:
        axes.plot(
            [row["mb_per_gflop"] for row in others],
            [levels[row["strategies"]] for row in others],
            linestyle="none", marker="|", markersize=15, color=INK, label="other layers",
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(right=max(row["mb_per_gflop"] for row in rows) * (3 if wide else 12))
    axes.set_yticks(range(len(own)), names if wide else [fill(name, 17) for name in names])
    axes.invert_yaxis()
    axes.set_xlabel("MB/GFlop (log)")
    axes.grid(False, axis="y")
    axes.legend(loc="lower right")


def traffic(figure: Figure, document: Json, wide: bool) -> None:
    """Draw MB/GFlop of each layer and phase, with marks for the paper's values."""
    rows = [row for row in rows_of(document, "traffic-paper") if row["fp_bytes"]]
    conv = [row for row in rows if not row["layer"].startswith("fc")] or rows
    figure.set_figheight(max(2.6, 0.9 + 0.5 * len(conv)))
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
    axes.set_xlabel("MB/GFlop, count maps")
    axes.grid(False, axis="y")
    figure.legend(loc="outside upper center", ncols=4, columnspacing=1, handlelength=1)


def variants(figure: Figure, document: Json, wide: bool) -> None:
    """Draw MB/GFlop of a step, one stair for each further change."""
    steps = stairs(document)
    names, rows = list(steps), list(steps.values())
    figure.set_figheight(max(2.5, 0.9 + 0.3 * len(rows)))
    axes = figure.subplots()
    values = [row["step_mb_per_gflop"] for row in rows]
    colours = [SERIES[0] if row["step_basis"] == "measured" else FAINT for row in rows]
    bars = axes.barh(range(len(rows)), values, color=colours, height=0.6)
    axes.bar_label(bars, fmt="{:.2f}", padding=3)
    for place, (above, below) in enumerate(pairwise(values)):
        axes.plot([above, above], [place, place + 1.3], color=FAINT, linewidth=0.8, linestyle=":")
        axes.plot([below, above], [place + 1.3] * 2, color=FAINT, linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(rows)), names)
    axes.invert_yaxis()
    axes.set_xlim(right=(1.08 if wide else 1.25) * max(values))
    kinds = {"measured": SERIES[0], "by formula": FAINT}
    handles = [Patch(color=colour, label=kind) for kind, colour in kinds.items()]
    axes.legend(handles=handles, loc="lower right")
    axes.set_xlabel("MB/GFlop of a step")
    axes.grid(False, axis="y")


def stairs(document: Json) -> dict[str, Json]:
    """Return the rows in which each has one change more than the row above, by this change."""
    found: dict[str, Json] = {}
    before: list[str] = []
    for row in rows_of(document, "variants"):
        changes = row["variant"].split(" + ")
        if len(changes) == 1:
            found[changes[0]] = row
        elif len(changes) == len(before) + 1 and set(before) < set(changes):
            (added,) = set(changes) - set(before)
            found[f"+ {added}"] = row
        else:
            continue
        before = changes
    return found
