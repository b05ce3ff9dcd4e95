"""Where the boxes of a diagram stand, and how its wires run between them.

A wire is straight where its boxes face each other, else it turns once, or runs below both. No two
wires leave a side of a box at the same spot, and a wire that would cross a box is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from netlist import Wire

STREAM, BOX, GAP = 104.0, 140.0, 86.0
"""Widths: of the outermost columns, of the others, of what is between two."""

ROW, BETWEEN, MARGIN = 74.0, 50.0, 8.0
"""Heights of a row and of what is between two rows; what is around everything."""

APART = 17.0
"""Between two wires on one side of a box."""

LETTER = 6.1
WIDE = 14  # letters of a label above a wire, at least

Point = tuple[float, float]


@dataclass(frozen=True)
class Place:
    """Column and row of a box, counted from 0, and how many of each it takes."""

    column: int
    row: float
    columns: int = 1
    rows: float = 1


class Wiring:
    """All wires between boxes.

    Attributes:
        width, height: of the drawing.
    """

    def __init__(self, places: Mapping[str, Place], wires: Sequence[Wire]) -> None:
        self._places = places
        self._last = max(place.column + place.columns for place in places.values()) - 1
        self._used: dict[tuple[str, str], list[float]] = {}
        self._lanes = 0
        # Wires with one way to go choose first.
        ordered = sorted(wires, key=lambda wire: self._room(wire.source, wire.target))
        self._routes = [(wire, self._route(wire.source, wire.target)) for wire in ordered]
        for wire, points in self._routes:
            self._see_clear(wire, points)
        corners = [self.box(name) for name in places]
        self.width = round(max(x + width for x, _, width, _ in corners) + MARGIN)
        lowest = max(y for _, points in self._routes for _, y in points)
        self.height = round(max(lowest, *(y + height for _, y, _, height in corners)) + MARGIN)

    def box(self, name: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of a box."""
        place = self._places[name]
        left = self._left(place.column)
        right = self._left(place.column + place.columns - 1) + self._wide(
            place.column + place.columns - 1
        )
        top = MARGIN + place.row * (ROW + BETWEEN)
        whole = place.rows * (ROW + BETWEEN) - BETWEEN
        return left, top, right - left, whole if place.rows >= 1 else ROW * place.rows - 4

    def svg(self, tip: str) -> Iterator[str]:
        """The wires: line, tip (a marker), label, and in words what each is."""
        for wire, points in self._routes:
            said = f"{', '.join(wire.names)}: {wire.bits} bits, {wire.source} to {wire.target}"
            path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
            yield (
                f'<g class="wire"><title>{escape(said)}</title><path d="{path}" fill="none" '
                f'stroke="#44505c" stroke-width="{1 if wire.bits < 32 else 2}" '
                f'marker-end="url(#{tip})"/>'
            )
            if not {wire.source, wire.target} & set(wire.names) and "_axi" not in str(wire.names):
                yield from self._label(wire, points)
            yield "</g>"

    def _left(self, column: int) -> float:
        return MARGIN + sum(self._wide(each) + GAP for each in range(column))

    def _wide(self, column: int) -> float:
        streams = all(
            "_axi" in name or name == "interrupt"
            for name, place in self._places.items()
            if place.column <= column < place.column + place.columns
        )
        return STREAM if streams else BOX

    def _room(self, source: str, target: str) -> float:
        """How much two boxes face each other; most negative where they do not at all."""
        return max(self._facing(source, target, 0)[2], self._facing(source, target, 1)[2])

    def _facing(self, source: str, target: str, axis: int) -> tuple[float, float, float]:
        """The range in which two boxes lie beside (0) or above (1) each other, and its size."""
        one, two = self.box(source), self.box(target)
        low = max(one[1 - axis], two[1 - axis])
        high = min(one[1 - axis] + one[3 - axis], two[1 - axis] + two[3 - axis])
        return low, high, high - low

    def _route(self, source: str, target: str) -> list[Point]:
        sx, sy, sw, sh = self.box(source)
        tx, ty, tw, th = self.box(target)
        low, high, room = self._facing(source, target, 0)
        if room > 0 and self._free(source, target, low, high):
            right = tx > sx
            sides = ("right", "left") if right else ("left", "right")
            y = self._spot(((source, sides[0]), (target, sides[1])), low, high)
            return [(sx + sw, y), (tx, y)] if right else [(sx, y), (tx + tw, y)]
        low, high, room = self._facing(source, target, 1)
        if room > 0:
            down = ty > sy
            sides = ("bottom", "top") if down else ("top", "bottom")
            x = self._spot(((source, sides[0]), (target, sides[1])), low, high)
            return [(x, sy + sh), (x, ty)] if down else [(x, sy), (x, ty + th)]
        if tx > sx + sw and ty > sy + sh:
            y = self._spot(((source, "right"),), sy, sy + sh)
            x = self._spot(((target, "top"),), tx, tx + tw)
            return [(sx + sw, y), (x, y), (x, ty)]
        self._lanes += 1
        one = self._spot(((source, "bottom"),), sx, sx + sw)
        two = self._spot(((target, "bottom"),), tx, tx + tw)
        lane = max(sy + sh, ty + th) + 12 + 12 * (self._lanes - 1)
        return [(one, sy + sh), (one, lane), (two, lane), (two, ty + th)]

    def _free(self, source: str, target: str, low: float, high: float) -> bool:
        """Whether no box stands between two that lie beside each other."""
        (one, _, wide, _), (two, _, far, _) = self.box(source), self.box(target)
        begin, end = (one + wide, two) if two > one else (two + far, one)
        for name in self._places:
            x, y, width, height = self.box(name)
            if begin <= x and x + width <= end and y < high and y + height > low:
                return False
        return True

    def _see_clear(self, wire: Wire, points: Sequence[Point]) -> None:
        """Complain of a wire that crosses a box."""
        for (x, y), (far, end) in pairwise(points):
            for name in self._places:
                left, top, width, height = self.box(name)
                if (
                    min(x, far) < left + width
                    and max(x, far) > left
                    and min(y, end) < top + height
                    and max(y, end) > top
                ):
                    raise ValueError(f"wire {wire.source} to {wire.target} crosses {name}")

    def _spot(self, sides: Sequence[tuple[str, str]], low: float, high: float) -> float:
        """A place on all sides, as near to the middle of the range as it is free."""
        middle = (low + high) / 2
        vertical = sides[0][1] in ("top", "bottom")
        apart = 46.0 if vertical else APART
        steps = int((high - low) / 2 / apart * 2) + 1
        for step in range(2 * steps + 1):
            at = middle + (step + 1) // 2 * (apart / 2) * (1 if step % 2 else -1)
            taken = [each for side in sides for each in self._used.get(side, [])]
            if low + 4 <= at <= high - 4 and all(abs(at - each) >= apart - 0.1 for each in taken):
                for side in sides:
                    self._used.setdefault(side, []).append(at)
                return at
        raise ValueError(f"no room for a wire at {sides}")

    def _label(self, wire: Wire, points: Sequence[Point]) -> Iterator[str]:
        """Name and bits, above the longest level part, or beside a wire that has none."""
        heads = list(dict.fromkeys(name.partition("_")[0] for name in wire.names))
        parts = list(pairwise(points))
        (x, y), (far, end) = max(
            parts, key=lambda part: abs(part[0][0] - part[1][0]) or -abs(part[0][1] - part[1][1])
        )
        name = ", ".join(heads)
        if y == end:
            most = max(WIDE, int(abs(far - x) / LETTER) - 4)
            text = f"{name if len(name) <= most - 4 else heads[0]} {wire.bits}"
            tip = 4 if far > x else -4  # away from where the wire ends
            yield _text((x + far) / 2 - tip, y - 4, text, "middle")
            return
        text = name if len(name) <= 6 else heads[0]
        # Fonts that are wide between lines (1.36 of the size) keep theirs apart at any scale.
        yield _text(x + 4, (y + end) / 2 - 2, text, "start")
        yield _text(x + 4, (y + end) / 2 + 13, str(wire.bits), "start")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="10" text-anchor="{anchor}" fill="#44505c">'
        f"{text}</text>"
    )
