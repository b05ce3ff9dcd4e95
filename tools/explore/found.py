"""The answer of ``merp explore``: a front, as JSON, CSV and network files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import Any

from merp.models.explore.point import Point, notable
from merp.models.fpga.board import Board
from merp.models.network.network import Network
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

RULE = (
    "nearest to a point with the least of every objective, each from 0 at its least on the front "
    "to 1 at its most"
)
"""What the knee is."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A front, and what it is of.

    Attributes:
        architecture: whose designs. goal: what tiles are chosen for; None where there are none.
        points: by the first objective.
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

    @cached_property
    def notable(self) -> dict[str, int]:
        """Names of points that stand for the front, and their places in it."""
        return notable(self.points, self.objectives)

    def names(self, place: int) -> list[str]:
        """What a point is called."""
        return [name for name, of in self.notable.items() if of == place]

    def json(self) -> dict[str, Any]:
        """The answer for machines."""
        return {
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
            "costs": {key: SAYS[key] for key in self.points[0].costs},
            "level": "model",
            "knee": RULE,
            "chosen": self.notable,
            "points": [
                {"point": place, **point.costs, "choices": _plain(point)}
                for place, point in enumerate(self.points)
            ],
        }

    def csv(self) -> str:
        """A row for each point."""
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
        """By name the front, and the network files of notable points, by their place."""
        written = {f"{name}.toml": networks[at] for name, at in self.notable.items() if networks}
        front = {FRONT: json.dumps(self.json(), indent=2) + "\n", "front.csv": self.csv()}
        return written | front


def _plain(point: Point) -> dict[str, dict[str, Any]]:
    """Choices as keys of designs; of a layer of a pipeline its elements."""
    found = {}
    for name, choice in point.choices.items():
        if isinstance(choice, int):
            found[name] = {"elements": choice}
            continue
        keys = choice._asdict()
        found[name] = {**keys.pop("kinds")._asdict(), **keys}
    return found


def network_file(found: Found, place: int, file: str, tables: Mapping[str, Any],
                 made: Network) -> str:  # fmt: skip
    """The text of the network file of a point; ``tables`` are those of the file explored.

    Raises:
        BadInput: no design holds a convolution in one piece.
    """
    costs = ", ".join(f"{key} {_said(value)}" for key, value in found.points[place].costs.items())
    head = [
        f"{' and '.join(found.names(place))} of {len(found.points)} points: merp explore {file} "
        f"--board {found.board.name} --scope {','.join(found.scope)} --batch {found.batch} "
        f"--for {found.goal} --objectives {','.join(found.objectives)}",
        f"modelled: {costs}",
    ]
    return designed_file(file, tables, made, head)


def _said(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")
