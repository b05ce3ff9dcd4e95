"""The answer of ``merp explore``: a front as JSON, CSV and network files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from typing import Any

from merp.models.base import file_format
from merp.models.base.errors import BadInput
from merp.models.explore.point import Point, notable, numbered
from merp.models.fpga.board import Board
from merp.models.network.network import Network
from merp.models.network.registry import other_names
from merp.tools.common.designed import designed_file
from merp.tools.explore.folder import FRONT

SAYS = {
    "cycles": "clock cycles of all passes, waits for the memory included, bitstreams left out",
    "bytes": "moved in all passes",
    "lut": "of the bitstream that takes most",
    "ff": "of the bitstream that takes most",
    "bram": "block RAM of the bitstream that takes most",
    "dsp": "of the bitstream that takes most",
}

OF_PIPELINES = {
    "cycles": "clock cycles of a sample, forward and back, by the paper's equations",
    "lut": "of all elements",
    "bram": "block RAM of lines, maps and weights",
    "dsp": "of all elements",
}

RULE = (
    "nearest to a point with the least of every objective, each from 0 at its least on the front "
    "to 1 at its most"
)
"""Definition of the knee."""


@dataclass(frozen=True, kw_only=True)
class FoundFront:
    """A front and its search.

    Attributes:
        network: the network.
        board: the board.
        architecture: name of the machine.
        scope: names of the layers.
        batch: images of a step.
        goal: optimisation of the tiles, ``bytes`` or ``time``; None without tiles.
        method: search method.
        objectives: names of the objectives.
        points: points within the limits, sorted by the first objective.
        limits: upper limit of each limited objective.
        written: places of further points to write, in addition to the notable ones.
        engines: results of the hardware of points, as named tuples, by place.
        lacking: reason why there are no engines.

    Raises:
        BadInput: ``written`` has a place without a point.
    """

    network: Network
    board: Board
    architecture: str
    scope: tuple[str, ...]
    batch: int
    goal: str | None
    method: str
    objectives: tuple[str, ...]
    points: Sequence[Point]
    limits: Mapping[str, float] = field(default_factory=dict)
    written: Sequence[int] = ()
    engines: Mapping[int, Any] = field(default_factory=dict)
    lacking: str = ""

    def __post_init__(self) -> None:
        """Check the places of ``written``."""
        last = len(self.points) - 1
        for place in self.written:
            if place > last:
                raise BadInput(f"--point {place}: allowed are 0 to {last}, the points of the front")

    @cached_property
    def notable(self) -> dict[str, int]:
        """Names of the points to write, with their places in the front."""
        chosen = {numbered(place): place for place in self.written}
        return notable(self.points, self.objectives) | chosen

    def names(self, place: int) -> list[str]:
        """Return the names of a point."""
        return [name for name, of in self.notable.items() if of == place]

    def json(self) -> dict[str, Any]:
        """Return the answer for programs."""
        says = OF_PIPELINES if self.goal is None else SAYS
        found = {
            "network": self.network.name,
            "architecture": self.architecture,
            "board": self.board.name,
            "part": self.board.part.name,
            "clock_mhz": self.board.clock_mhz,
            "scope": list(self.scope),
            "batch": self.batch,
            "for": self.goal,
            "method": self.method,
            "objectives": list(self.objectives),
            "limits": dict(self.limits),
            "costs": {key: says[key] for key in self.points[0].costs},
            "level": "model",
            "knee": RULE,
            "chosen": self.notable,
            **self._hardware(),
            "points": [
                {"point": place, **point.costs, "choices": _plain(point)}
                for place, point in enumerate(self.points)
            ],
        }
        return file_format.numbered(found, file_format.FRONT)

    def _hardware(self) -> dict[str, Any]:
        """Return the engines of pipelines by the names of points, or the reason why there are
        none."""
        if self.lacking:
            return {"no_engines": self.lacking}
        named = {name: self.engines.get(place) for name, place in self.notable.items()}
        engines = {name: each._asdict() for name, each in named.items() if each is not None}
        return {"engines": engines} if engines else {}

    def csv(self) -> str:
        """Return a CSV with a row for each point."""
        rows = [
            {"point": place, "chosen": " ".join(self.names(place)), **point.costs}
            | {
                f"{name}.{key}": value
                for name, keys in _plain(point).items()
                for key, value in keys.items()
            }
            for place, point in enumerate(self.points)
        ]
        text = StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def files(self, networks: Mapping[int, str]) -> dict[str, str]:
        """Return files by name: the front, and the network files of notable points."""
        written = {f"{name}.toml": networks[at] for name, at in self.notable.items() if networks}
        front = {FRONT: json.dumps(self.json(), indent=2) + "\n", "front.csv": self.csv()}
        return written | front


def _plain(point: Point) -> dict[str, dict[str, Any]]:
    """Return choices as keys of designs; for a layer of a pipeline, its elements."""
    found = {}
    for name, choice in point.choices.items():
        if isinstance(choice, int):
            found[name] = {"elements": choice}
            continue
        keys = choice._asdict()
        found[name] = {**keys.pop("kinds")._asdict(), **keys}
    return found


def network_file(found: FoundFront, place: int, file: str, tables: Mapping[str, Any],
                 made: Network) -> str:  # fmt: skip
    """Return the text of the network file of a point; ``tables`` are those of the input file.

    Raises:
        BadInput: no design holds a convolution in one piece.
    """
    costs = ", ".join(f"{key} {_said(value)}" for key, value in found.points[place].costs.items())
    how = f"--batch {found.batch} --for {found.goal}"
    if found.goal is None:
        named = other_names().get(found.architecture, found.architecture)
        how = f"--architecture {named}"
    how += "".join(f" --limit {key}={most:g}" for key, most in found.limits.items())
    if place in found.written:
        how += f" --point {place}"
    head = [
        f"{' and '.join(found.names(place))} of {len(found.points)} points: merp explore {file} "
        f"--board {found.board.name} --scope {','.join(found.scope)} {how} "
        f"--objectives {','.join(found.objectives)}",
        f"modelled: {costs}",
    ]
    if place in found.engines:
        head.append(str(found.engines[place]))
    return designed_file(file, tables, made, head)


def _said(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")
