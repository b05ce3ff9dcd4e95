"""Charts of the report that show time: attainable throughput, rooflines, cycles by cause."""

from __future__ import annotations

import math
from itertools import cycle
from textwrap import fill

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from merp.models.network.phases import NAMED, ONE_PASS, PHASES
from merp.tools.report.chart_ink import FAINT, INK, SERIES, SIZE, Json, rows_of
from merp.tools.report.chart_labels import name_ends, name_points

_DASHES = ["--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2, 1, 2))]


def attainable(figure: Figure, document: Json, wide: bool) -> None:
    """Draw throughput over bandwidth, one line for each traffic, named at its end."""
    figure.set_figheight(4.2 if wide else 5.6)
    axes = figure.subplots()
    bandwidths = [1.0, 100.0]
    rows = rows_of(document, "attainable")
    low, high = (
        math.log10(end / pick(row["mb_per_gop"] for row in rows))
        for end, pick in zip(bandwidths, (max, min), strict=True)
    )
    high += 0.12 * (high - low)  # names have room above the steepest line
    colours, dashes = iter(SERIES), cycle(_DASHES)
    for row in rows:
        ours = row["source"] == "this report"
        axes.plot(
            bandwidths, [bandwidth / row["mb_per_gop"] for bandwidth in bandwidths],
            color=next(colours) if ours else INK, linewidth=2.2 if ours else 1.1,
            linestyle="-" if ours else next(dashes),
        )  # fmt: skip
    here = document["bandwidth_gbs"]
    axes.axvline(here, color=FAINT, linewidth=0.8)
    axes.annotate(
        f"{here:g} GB/s", (here, 0), xycoords=("data", "axes fraction"), xytext=(4, 4),
        textcoords="offset points",
    )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=bandwidths, ylim=(10**low, 10**high))
    axes.set_xlabel("external memory, GB/s (log)")
    axes.set_ylabel("attainable, Top/s (log)")
    ends = [(math.log10(bandwidths[1] / row["mb_per_gop"]) - low) / (high - low) for row in rows]
    texts = [f"{row['work']}: {row['mb_per_gop']:.2f} MB/Gop" for row in rows]
    name_ends(axes, ends, texts if wide else [fill(text, 19) for text in texts], SIZE)


def roofline(figure: Figure, document: Json, wide: bool) -> None:
    """Draw each pass under its roof; the axes span only the passes."""
    figure.set_figheight(3.8 if wide else 4.4)
    axes = figure.subplots()
    rows = rows_of(document, "roofline")
    bandwidth = document["bandwidth_gbs"]
    intensities = [row["intensity"] for row in rows]
    heights = [row["attainable"] for row in rows] + [row["peak"] for row in rows]
    margin = 1.35 if wide else 1.7
    left, right = min(intensities) / margin, max(intensities) * margin
    room = max(0.12 * (max(heights) - min(heights)), 0.03 * max(heights))
    low, top = min(heights) - 2.2 * room, max(heights) + 1.6 * room
    for peak in sorted({row["peak"] for row in rows}):
        own = [row["n_cu"] for row in rows if row["peak"] == peak]
        axes.plot([peak / bandwidth, right], [peak, peak], color=FAINT, linewidth=1)
        axes.annotate(
            f"{own[0]} CUs", (right, peak), xytext=(-3, 3), textcoords="offset points", ha="right",
        )  # fmt: skip
    most = max(row["peak"] for row in rows)
    axes.plot([low / bandwidth, most / bandwidth], [low, most], color=FAINT, linewidth=1)
    for phase, colour, marker in zip((*PHASES, ONE_PASS), SERIES, "osD^", strict=True):
        some = [row for row in rows if row["phase"] == phase.upper()]
        if not some and NAMED[phase].combined:
            continue
        axes.plot(
            [row["intensity"] for row in some], [row["attainable"] for row in some],
            linestyle="none", marker=marker, markersize=6, color=colour, fillstyle="none",
            markeredgewidth=1.5, label=phase.upper(),
        )  # fmt: skip
    axes.set(xscale="log", xlim=(left, right), ylim=(low, top))
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    ridge = most / bandwidth
    where = f"; {bandwidth:g} GB/s bind below {ridge:.1f}" if ridge < left else ""
    axes.set_xlabel(fill(f"operations per byte, Flop/B (log){where}", 90 if wide else 40))
    axes.set_ylabel("GFlop/s")
    figure.legend(loc="outside upper center", ncols=4)
    points = [(row["intensity"], row["attainable"]) for row in rows]
    name_points(axes, points, [f"{row['layer']} {row['phase']}" for row in rows])


def cycles(figure: Figure, document: Json, wide: bool) -> None:
    """Draw the time of each pass by cause."""
    rows = rows_of(document, "cycles")
    figure.set_figheight(max(2.6, 1.0 + 0.22 * len(rows)))
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
    for (label, counts), colour in zip(parts.items(), SERIES, strict=True):
        widths = [count / per_ms for count in counts]
        axes.barh(names, widths, left=left, color=colour, height=0.7, label=label)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel(f"ms of a batch of {document['batch']}")
    axes.grid(False, axis="y")
    figure.legend(
        loc="outside upper center", ncols=4 if wide else 2, columnspacing=1, handlelength=1
    )
