"""The output of a sweep: the Pareto front as a table, JSON, CSV and a picture."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from io import BytesIO, StringIO
from typing import Any

from merp.models.base.names import plot_label
from merp.tools.common.table import console, fixed, table
from merp.tools.comparison.sweep.goals import GOALS

Found = Mapping[str, Any]
UNITS = {"time": ("ms", 1e3, 3), "bytes": ("MB", 1e-6, 3)}
"""Unit of a goal in tables and pictures, the factor to it, and decimals."""


def pareto(results: Sequence[Found], goals: Sequence[str]) -> list[int]:
    """Return the indices of the results on the Pareto front, which no other result beats.

    Another result beats one if it is as good in every goal and better in one. Equal results are all
    kept. Refused results and results without a figure are left out.
    """
    figures = {
        index: tuple(each[goal] for goal in goals)
        for index, each in enumerate(results)
        if all(each[goal] is not None for goal in goals)
    }
    # In this order no result is beaten by a later one, so a check against the front is enough.
    front: list[int] = []
    for index in sorted(figures, key=lambda each: (figures[each], each)):
        mine = figures[index]
        if not any(_beats(figures[other], mine) for other in front):
            front.append(index)
    return sorted(front)


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def answer(
    network: str, axes: Mapping[str, Sequence[Any]], goals: Sequence[str], batch: int,
    clock_mhz: float, results: Sequence[Found],
) -> dict[str, Any]:  # fmt: skip
    """Return the answer for programs: every point, and whether it is on the front."""
    front = set(pareto(results, goals))
    return {
        "network": network,
        "over": {name: list(values) for name, values in axes.items()},
        "for": {goal: GOALS[goal] for goal in goals},
        "batch": batch,
        "clock_mhz": clock_mhz,
        "points": [
            {**each["point"], **{goal: each[goal] for goal in goals},
             "pareto": index in front, "refused": each["refused"]}
            for index, each in enumerate(results)
        ],
    }  # fmt: skip


def show(found: Mapping[str, Any]) -> None:
    """Print the front, sorted by the first goal."""
    goals, axes = list(found["for"]), list(found["over"])
    front = sorted(
        (each for each in found["points"] if each["pareto"]),
        key=lambda each: [each[goal] for goal in goals],
    )
    refused = [each for each in found["points"] if each["refused"]]
    rows = [
        [*(str(each[axis]) for axis in axes), *(_said(goal, each[goal]) for goal in goals)]
        for each in front
    ]
    heads = [*axes, *(_head(goal) for goal in goals)]
    caption = "; ".join(f"{goal}: {GOALS[goal]}" for goal in goals) + "."
    if refused:
        caption += f" Not built: {len(refused):,}; the first: {refused[0]['refused']}"
    total = len(found["points"])
    title = f"{found['network']}: {len(front):,} of {total:,} points that no other beats"
    console().print(table(title, heads, rows, caption=caption))


def files(found: Mapping[str, Any]) -> dict[str, str | bytes]:
    """Return ``sweep.json``, ``sweep.csv`` of all points, and ``pareto.png`` for several goals."""
    text = StringIO()
    heads = [*found["over"], *found["for"], "pareto", "refused"]
    writer = csv.DictWriter(text, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found["points"])
    made: dict[str, str | bytes] = {
        "sweep.json": json.dumps(found, indent=2) + "\n",
        "sweep.csv": text.getvalue(),
    }
    if len(found["for"]) > 1:
        made["pareto.png"] = picture(found)
    return made


def picture(found: Mapping[str, Any]) -> bytes:
    """Draw every point over the first two goals as PNG, coloured by a third; ring the front."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across, up, *more = found["for"]
    points = [each for each in found["points"] if each["refused"] is None]
    front = [each for each in points if each["pareto"]]
    figure = Figure(figsize=(7, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    colours = [_scaled(more[0], each[more[0]]) for each in points] if more else "tab:grey"
    drawn = axes.scatter(_column(points, across), _column(points, up), c=colours, s=14)
    if more:
        figure.colorbar(drawn, label=_head(more[0]))
    axes.scatter(
        _column(front, across), _column(front, up), s=60, facecolors="none",
        edgecolors="tab:red", label="no other is better",
    )  # fmt: skip
    axes.set_xlabel(_head(across))
    axes.set_ylabel(_head(up))
    axes.set_title(plot_label(f"{found['network']}, over {', '.join(found['over'])}"))
    axes.legend()
    image = BytesIO()
    figure.savefig(image, format="png", dpi=120)
    return image.getvalue()


def _column(points: Sequence[Found], goal: str) -> list[float]:
    return [_scaled(goal, each[goal]) for each in points]


def _scaled(goal: str, value: float) -> float:
    return value * UNITS.get(goal, ("", 1, 0))[1]


def _head(goal: str) -> str:
    return f"{goal}, {UNITS[goal][0]}" if goal in UNITS else goal.upper()


def _said(goal: str, value: float) -> str:
    digits = UNITS[goal][2] if goal in UNITS else 1 if goal == "bram" else 0
    return fixed(_scaled(goal, value), digits)
