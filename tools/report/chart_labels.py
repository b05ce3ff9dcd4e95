"""Place names at points and lines of a chart without overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from merp.tools.report.chart_ink import FAINT

Place = tuple[float, float]

# Offsets in points, and the corner of the text at this offset, the nearest first.
_SPOTS: Sequence[tuple[float, float, str, str]] = [
    (far * x, far * y, ha, va)
    for far in (7.0, 12.0, 18.0, 24.0, 31.0, 38.0, 46.0, 62.0)
    for x, y, ha, va in (
        (0, 1, "center", "bottom"),
        (0, -1, "center", "top"),
        (1, 0, "left", "center"),
        (-1, 0, "right", "center"),
        (1, 1, "left", "bottom"),
        (-1, 1, "right", "bottom"),
        (1, -1, "left", "top"),
        (-1, -1, "right", "top"),
    )
]
_LEADER: Any = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 3}


def spread(
    wanted: Sequence[float], heights: Sequence[float], low: float, top: float
) -> list[float]:
    """Return middles near the ``wanted`` ones, between ``low`` and ``top``, without overlaps.

    Args:
        wanted: the wanted middles, in any order.
        heights: height of each, in the same unit.
        low, top: limits of all.
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    found = list(wanted)
    edge = low
    for index in order:
        found[index] = max(found[index], edge + heights[index] / 2)
        edge = found[index] + heights[index] / 2
    edge = top
    for index in reversed(order):
        found[index] = min(found[index], edge - heights[index] / 2)
        edge = found[index] - heights[index] / 2
    return found


def name_ends(axes: Axes, ends: Sequence[float], texts: Sequence[str], size: float) -> None:
    """Write ``texts`` to the right of the axes, each at the end of its line.

    Args:
        axes: the axes.
        ends: heights of the ends of the lines, as fractions of the axes' height.
        texts: one for each line.
        size: size of the letters.
    """
    figure = axes.get_figure()
    assert figure is not None
    figure.draw_without_rendering()  # type: ignore[union-attr]
    height = axes.get_window_extent().height / figure.dpi * 72
    line = size / height
    lines = [line * (1.6 + 1.3 * text.count("\n")) for text in texts]
    places = spread(ends, lines, 0.0, 1.0)
    for end, place, text in zip(ends, places, texts, strict=True):
        axes.annotate(
            text, (1, end), xycoords="axes fraction", xytext=(1.05, place),
            textcoords="axes fraction", va="center", ha="left",
            arrowprops=_LEADER | {"relpos": (0, 0.5)},
        )  # fmt: skip


def name_points(axes: Axes, points: Sequence[Place], texts: Sequence[str]) -> None:
    """Write ``texts`` next to ``points``; points that coincide share their text.

    Args:
        axes: the axes.
        points: in data coordinates.
        texts: one for each point.
    """
    figure = axes.get_figure()
    assert figure is not None
    figure.draw_without_rendering()  # type: ignore[union-attr]
    shown = [tuple(axes.transData.transform(point)) for point in points]
    dot = 5 / 72 * figure.dpi
    taken = [Bbox.from_extents(x - dot, y - dot, x + dot, y + dot) for x, y in shown]
    taken += [text.get_window_extent() for text in axes.texts]
    for line in axes.get_lines():  # a roof must not cross a name
        ends = axes.transData.transform(line.get_xydata())
        if len({y for _, y in ends}) == 1:
            taken.append(Bbox.from_extents(ends[0][0], ends[0][1] - 1, ends[-1][0], ends[0][1] + 1))
    inside = axes.get_window_extent()
    for point, text in _shared(points, shown, texts, dot):
        best = None
        for x, y, ha, va in _SPOTS:
            note = axes.annotate(
                text, point, xytext=(x, y), textcoords="offset points", ha=ha, va=va,
                arrowprops=_LEADER if max(abs(x), abs(y)) > 10 else None,
            )  # fmt: skip
            # The page's own font may be wider than the font that is measured here.
            note.get_window_extent()  # sets its place; with the leader, which may cross a roof
            box = Bbox(Text.get_window_extent(note).expanded(1.06, 1.0).get_points())
            free = not box.count_overlaps(taken)
            within = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0
            if free and within and box.y1 <= inside.y1:
                best = box
                break
            note.remove()
        if best is None:  # too many points; the table below names this one
            continue
        taken.append(best)


def _shared(
    points: Sequence[Place], shown: Sequence[tuple[float, ...]], texts: Sequence[str], dot: float
) -> list[tuple[Place, str]]:
    """Return one text for the points of a layer that cover each other: ``conv2 FP, DP``."""
    groups: list[list[int]] = []
    for index, text in enumerate(texts):
        for group in groups:
            first = group[0]
            near = max(abs(a - b) for a, b in zip(shown[index], shown[first], strict=True))
            if near < 4 * dot and text.split()[0] == texts[first].split()[0]:
                group.append(index)
                break
        else:
            groups.append([index])
    return [
        (points[group[0]], ", ".join([texts[group[0]], *(texts[i].split()[-1] for i in group[1:])]))
        for group in groups
    ]
