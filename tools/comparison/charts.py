"""Charts of a comparison. Each is drawn from the tables of its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from merp.models.comparison.record import COUNTS, RESOURCES
from merp.models.network.phases import PHASES
from merp.tools.comparison.tables import TITLES
from merp.tools.report.chart_ink import FAINT, INK, SERIES, Json, rows_of
from merp.tools.report.chart_labels import name_points
from merp.tools.report.charts import Drawing

Rows = Sequence[Mapping[str, Any]]


def gops(figure: Figure, document: Json, wide: bool) -> None:
    """Draw useful operations per second, of all devices and of one."""
    rows = rows_of(document, "speed")
    keys = {"gop_per_s": "all devices", "per_device": "a device"}
    _bars(figure, rows, keys, "Gop/s (log)", wide)


def phases(figure: Figure, document: Json, wide: bool) -> None:
    """Draw the cycles of an image by phase."""
    keys = {phase: phase.upper() for phase in PHASES}
    _bars(figure, rows_of(document, "cycles"), keys, "cycles of an image (log)", wide)


def counts(figure: Figure, document: Json, wide: bool) -> None:
    """Draw traffic by count, with links separately."""
    keys = {**COUNTS, "link": "links"}
    _bars(figure, rows_of(document, "traffic"), keys, "MB/GFlop (log)", wide)


def shares(figure: Figure, document: Json, wide: bool) -> None:
    """Draw the resources that each architecture uses, as shares of a device."""
    keys = {f"{kind}_share": TITLES[kind] for kind in RESOURCES}
    axes = _bars(figure, rows_of(document, "resources"), keys, "% (log)", wide)
    axes.axvline(100, color=INK, linewidth=1)


def _bars(
    figure: Figure, rows: Rows, keys: Mapping[str, str], unit: str, wide: bool
) -> Axes:  # fmt: skip
    """Draw groups of bars on a logarithmic scale, one for each architecture; 0 has no bar."""
    figure.set_figheight(0.9 + 0.24 * len(rows) * (len(keys) + 1))
    axes = figure.subplots()
    height = 0.8 / len(keys)
    for index, (key, label) in enumerate(keys.items()):
        places = [place + (index - (len(keys) - 1) / 2) * height for place in range(len(rows))]
        values = [row.get(key) or 0 for row in rows]
        colour = SERIES[index]
        axes.barh(places, values, height=0.92 * height, color=colour, label=label)
        for place, value in zip(places, values, strict=True):
            if value:
                axes.annotate(
                    f"{value:,.3g}" if value < 1000 else f"{value:,.0f}", (value, place),
                    xytext=(4, 0), textcoords="offset points", va="center",
                )  # fmt: skip
    found: list[float] = [row[key] for row in rows for key in keys if row.get(key)]
    low, high = min(found, default=1.0), max(found, default=1.0)
    axes.set_xscale("log")
    axes.set_xlim(low / 3, high * (4 if wide else 15))
    axes.set_yticks(range(len(rows)), [row["architecture"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.grid(False, axis="y")
    figure.legend(loc="outside upper center", ncols=4, columnspacing=1, handlelength=1)
    return axes


def roofline(figure: Figure, document: Json, wide: bool) -> None:
    """Draw each architecture under the roof of its own board."""
    figure.set_figheight(4.2 if wide else 4.6)
    axes = figure.subplots()
    rows = [row for row in rows_of(document, "roofline") if row["intensity"]]
    left = min((row["intensity"] for row in rows), default=1.0) / 3
    right = max((row["intensity"] for row in rows), default=1.0) * 4
    for row in rows:
        bandwidth, peak = row["memory_gbs"], row["peak"]
        ridge = peak / bandwidth if bandwidth else left
        knee = min(max(ridge, left), right)
        if bandwidth and knee > left:
            axes.plot([left, knee], [left * bandwidth, knee * bandwidth], color=FAINT, linewidth=1)
        if knee < right:
            axes.plot([knee, right], [peak, peak], color=FAINT, linewidth=1)
    axes.plot(
        [row["intensity"] for row in rows], [row["gop_per_s"] for row in rows], linestyle="none",
        marker="o", markersize=7, color=SERIES[0],
    )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(left, right))
    axes.set_xlabel("operations per byte (log)")
    axes.set_ylabel("Gop/s (log)")
    points = [(row["intensity"], row["gop_per_s"]) for row in rows]
    name_points(axes, points, [row["architecture"] for row in rows])


DRAW: Mapping[str, Drawing] = {
    "gops": gops,
    "phases": phases,
    "footings": counts,
    "roofline": roofline,
    "shares": shares,
}
