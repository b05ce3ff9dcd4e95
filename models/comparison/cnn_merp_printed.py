"""What CNN-MERP prints of AlexNet, beside what its own definitions give."""

from __future__ import annotations

from merp.models.comparison.printed import Printed
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES
from merp.models.params.shape import Pool, Shape
from merp.models.traffic.closed_form import network_traffic, total
from merp.models.traffic.published import BATCH, TABLE_3, TABLE_3_TOTAL, Row

_POOL = Pool(kind="max", window=3, stride=2)
_SHAPES = (
    (1, Shape(n=3, m=96, k=11, rows=224, columns=224, stride=4, pad=2, pool=_POOL)),
    (2, Shape(n=48, m=128, k=5, rows=27, columns=27, pad=2, pool=_POOL)),
    (1, Shape(n=256, m=384, k=3, rows=13, columns=13, pad=1)),
    (2, Shape(n=192, m=192, k=3, rows=13, columns=13, pad=1)),
    (2, Shape(n=192, m=128, k=3, rows=13, columns=13, pad=1, pool=_POOL)),
)
"""Groups and one group of each layer; an input of 224 x 224 is what table 3 follows from."""

_WITHIN = 0.005
"""Relative error of what the paper rounded to three digits."""


def published() -> tuple[Printed, ...]:
    """Table 3: operations of a batch, and traffic of every layer and phase."""
    layers = tuple(
        Layer(name=name, kind="conv", groups=groups, shape=shape)
        for name, (groups, shape) in zip(TABLE_3, _SHAPES, strict=True)
    )
    network = Network(name="alexnet", input=(224, 224, 3), layers=layers)
    traffic = network_traffic(network, BATCH)
    rows = [(each.layer.name, TABLE_3[each.layer.name], [each]) for each in traffic]
    found: list[Printed] = []
    for name, row, some in [*rows, ("total", TABLE_3_TOTAL, list(traffic))]:
        found.append(
            _printed(name, "Gop of a batch", "Gop", row.gop, total(some, "fp").operations / 1e9)
        )
        found += [
            _printed(name, phase.upper(), "MB/GFlop", printed, total(some, phase).mb_per_gflop)
            for phase in PHASES
            if (printed := _of_phase(row, phase)) is not None
        ]
    return tuple(found)


def _of_phase(row: Row, phase: str) -> float | None:
    return {"fp": row.fp, "dp": row.dp, "ku": row.ku}[phase]


def _printed(layer: str, what: str, unit: str, printed: float, found: float | None) -> Printed:
    erratum = (layer, what) == ("total", "KU")
    return Printed(
        place="table 3",
        what=f"{layer}, {what}",
        unit=unit,
        printed=printed,
        found=found,
        cls="N" if erratum else "D",
        within=_WITHIN,
        why="its own cells give 3.13" if erratum else "",
    )
