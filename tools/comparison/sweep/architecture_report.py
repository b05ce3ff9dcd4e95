"""The output of a sweep over an architecture: all points as a table, JSON, CSV and pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from merp.models.base.names import plot_label
from merp.tools.common.table import say
from merp.tools.comparison.screen import show
from merp.tools.comparison.sweep.quantities import QUANTITIES
from merp.tools.comparison.tables import figure, legend
from merp.tools.report.table import Column, Table, as_csv

Found = Mapping[str, Any]


def answer(
    asked: Mapping[str, Any], axes: Mapping[str, Sequence[Any]], results: Sequence[Found]
) -> dict[str, Any]:
    """Return the answer for programs: ``asked``, the axes, and every point with its figures."""
    return {
        **asked,
        "over": {name: list(values) for name, values in axes.items()},
        "quantities": {name: f"{each.label}, {each.says}" for name, each in QUANTITIES.items()},
        "points": [_point(each) for each in results],
    }


def _point(result: Found) -> dict[str, Any]:
    point = {**result["point"], "fits": result["fits"], "refused": result["refused"]}
    for name in QUANTITIES:
        found = result["figures"].get(name)
        point[name] = None if found is None else found["value"]
        point[f"{name}_level"] = None if found is None else found["level"]
    return point


def show_points(found: Found) -> None:
    """Print the points."""
    points = _table(found)
    show(points, keys=len(found["over"]))
    refused = [each for each in found["points"] if each["refused"]]
    if refused:
        say(f"Not built: {len(refused):,}; the first: {refused[0]['refused']}")
    say(legend())


def _table(found: Found) -> Table:
    quantities = [
        figure(name, each.label, each.unit, each.digits, each.scale)
        for name, each in QUANTITIES.items()
        if any(point[name] is not None for point in found["points"])
    ]
    rows = [
        {**each, **{name: str(each[name]) for name in found["over"]},
         "fits": {True: "yes", False: "no", None: "-"}[each["fits"]]}
        for each in found["points"]
    ]  # fmt: skip
    how = "simulated row by row" if found["simulated"] else "by formula"
    return Table(
        id="points",
        title=f"{found['network']} by {found['architecture']} on {found['board']}, {how}",
        caption="; ".join(f"{each.label}: {each.says}" for each in QUANTITIES.values()) + ".",
        columns=[
            *(Column(key=name, label=name) for name in found["over"]),
            Column(key="fits", label="fits"),
            *quantities,
        ],
        rows=rows,
    )


def files(found: Found) -> dict[str, str | bytes]:
    """Return ``sweep.json``, ``sweep.csv``, and a picture of every quantity."""
    table = _table(found).json()
    refused = {"key": "refused", "basis": None}
    rows = {"columns": [*table["columns"], refused], "rows": found["points"]}
    return {
        "sweep.json": json.dumps(found, indent=2) + "\n",
        "sweep.csv": as_csv(rows),
        "sweep.svg": picture(found),
    }


def picture(found: Found) -> bytes:
    """Draw each quantity over the first axis as SVG, a line for each choice of the others."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    points = [each for each in found["points"] if each["refused"] is None]
    shown = [name for name in QUANTITIES if any(each[name] is not None for each in points)]
    across, *others = found["over"]
    lines: dict[str, list[Found]] = {}
    for each in points:
        lines.setdefault(", ".join(f"{name} {each[name]}" for name in others), []).append(each)
    drawing = Figure(figsize=(9, 0.6 + 2.6 * max(1, -(-len(shown) // 2))), layout="constrained")
    FigureCanvasAgg(drawing)
    for place, name in enumerate(shown):
        quantity = QUANTITIES[name]
        axes = drawing.add_subplot(-(-len(shown) // 2), 2, place + 1)
        for label, some in lines.items():
            values = [each[name] / quantity.scale for each in some]
            ticks = [each[across] for each in some]
            axes.plot(ticks, values, marker=".", label=plot_label(label))
        axes.set_xlabel(plot_label(across))
        axes.set_ylabel(f"{quantity.label}, {quantity.unit}")
        axes.set_ylim(bottom=0)
        if others and place == 0:
            axes.legend(fontsize=6)
    drawing.suptitle(
        plot_label(f"{found['network']} by {found['architecture']} on {found['board']}")
        + f"; {found['scope']}, batch {found['batch']}"
    )
    image = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "merp"}):
        drawing.savefig(image, format="svg", metadata={"Date": None, "Creator": None})
    return image.getvalue()
