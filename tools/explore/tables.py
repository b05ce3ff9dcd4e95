"""A front on the terminal: points along it, and the designs of those that are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.models.fpga.resources import FLIP_FLOPS
from merp.tools.common.table import console, fixed, say, table
from merp.tools.explore.found import RULE, FoundFront

SHOWN = 16
"""Points of a table, beside those that have a name."""

_HEADS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "cycles": ("cycles, 10^6", lambda value: fixed(value / 1e6, 3)),
    "bytes": ("bytes, MB", lambda value: fixed(value / 1e6, 3)),
    "bram": ("block RAM", lambda value: f"{value:,.1f}".removesuffix(".0")),
}


def show(found: FoundFront) -> None:
    """Print a front."""
    costs = [key for key in found.points[0].costs if key != FLIP_FLOPS or key in found.objectives]
    places = _along(found)
    heads = [_HEADS[key][0] if key in _HEADS else key.upper() for key in costs]
    rows = [
        [", ".join(found.names(place)) or "-", str(place)]
        + [_cell(key, found.points[place].costs[key]) for key in costs]
        for place in places
    ]
    title = f"{found.network.name}: {len(found.points):,} points that no other beats"
    if len(places) < len(found.points):
        title += f", {len(places)} of them"
    caption = (
        f"{found.architecture} on {found.board.name}, {', '.join(found.scope)}, batch "
        f"{found.batch}, modelled; none beats them in {', '.join(found.objectives)}. The knee is "
        f"{RULE}."
    )
    heads = ["", "point", *heads]
    console().print(table(title, heads, rows, text_columns=1, keys=2, caption=caption))
    _show_choices(found)


def _along(found: FoundFront) -> list[int]:
    """Places in even steps along the front, and those that have a name."""
    last = len(found.points) - 1
    steps = range(SHOWN)
    return sorted({*(last * step // (SHOWN - 1) for step in steps), *found.notable.values()})


def _cell(key: str, value: float) -> str:
    return _HEADS[key][1](value) if key in _HEADS else f"{value:,.0f}"


def _show_choices(found: FoundFront) -> None:
    answer = found.json()
    if found.goal is None:
        for name, place in found.notable.items():
            choices = answer["points"][place]["choices"]
            elements = ", ".join(f"{layer} {keys['elements']}" for layer, keys in choices.items())
            said = f"; {found.engines[place]}" if place in found.engines else ""
            say(f"{name}: filters at a time: {elements}{said}")
        if found.lacking:
            say(f"no engines, and no network files: {found.lacking}")
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
