"""Tables of a front: points along it, and the designs of the notable points."""

from __future__ import annotations

from collections.abc import Mapping

from merp.models.fpga.resources import FLIP_FLOPS
from merp.tools.common.shortened import in_one_format
from merp.tools.common.table import console, say, table
from merp.tools.explore.found import RULE, FoundFront

SHOWN = 8
"""Points of the first screen, in addition to those that have a name."""

_HEADS: Mapping[str, tuple[str, float, int]] = {
    "cycles": ("cycles, 10^6", 1e6, 3),
    "bytes": ("bytes, MB", 1e6, 3),
    "bram": ("block RAM", 1, 1),
}
"""Title, unit and decimals of a column; other costs are counts."""


def show(found: FoundFront, *, whole: bool, details: bool) -> None:
    """Print a front.

    Args:
        found: the front.
        whole: print every point.
        details: print the parameters of the named points' designs.
    """
    costs = [key for key in found.points[0].costs if key != FLIP_FLOPS or key in found.objectives]
    places = list(range(len(found.points))) if whole else _along(found)
    heads = [_HEADS[key][0] if key in _HEADS else key.upper() for key in costs]
    cells = []
    for key in costs:
        _, unit, digits = _HEADS.get(key, ("", 1, 0))
        values = [found.points[place].costs[key] / unit for place in places]
        cells.append(in_one_format(values, digits))
    names = [", ".join(found.names(place)) or "-" for place in places]
    rows = list(zip(names, map(str, places), *cells, strict=True))
    title = f"{found.network.name}: {len(found.points):,} Pareto-optimal points"
    if len(places) < len(found.points):
        title += f", {len(places)} shown"
    caption = (
        f"{found.architecture} on {found.board.name}, {', '.join(found.scope)}, batch "
        f"{found.batch}, modelled. Objectives: {', '.join(found.objectives)}. The knee is "
        f"{RULE}."
    )
    heads = ["", "point", *heads]
    console().print(table(title, heads, rows, text_columns=1, keys=2, caption=caption))
    if found.lacking:
        say(f"no engines, and no network files: {found.lacking}")
    if details:
        _show_choices(found)
    else:
        say("--all: every point. --details: the designs of the named points.")


def _along(found: FoundFront) -> list[int]:
    """Return places in even steps along the front, and the places with a name."""
    last = len(found.points) - 1
    steps = range(SHOWN)
    return sorted({*(last * step // (SHOWN - 1) for step in steps), *found.notable.values()})


def _show_choices(found: FoundFront) -> None:
    answer = found.json()
    if found.goal is None:
        for name, place in found.notable.items():
            choices = answer["points"][place]["choices"]
            elements = ", ".join(f"{layer} {keys['elements']}" for layer, keys in choices.items())
            said = f"; {found.engines[place]}" if place in found.engines else ""
            say(f"{name}: filters at a time: {elements}{said}")
        return
    keys: list[str] = []
    rows = []
    for name, place in found.notable.items():
        for design, choice in answer["points"][place]["choices"].items():
            keys = list(choice)
            rows.append([name, design, *map(str, choice.values())])
    heads = ["", "design", *keys]
    console().print(
        table("Designs of these points", heads, rows, text_columns=2, keys=2, caption="")
    )
