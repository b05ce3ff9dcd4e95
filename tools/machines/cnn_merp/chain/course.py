"""What a training on a chain of boards is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from merp.models.base.errors import BadInput
from merp.models.base.given import mention, name_of
from merp.models.machines.cnn_merp.chain.machine import PATIENCE
from merp.tools.machines.cnn_merp.at_once.course import AtOnce, depth_of
from merp.tools.train.request import Train

APART = ("myhdl", "verilator")
"""Engines whose simulations of several boards can run together."""

PROCESSES, MPI = "processes", "mpi"
"""What simulates each board by itself, as it is asked for."""


@dataclass(frozen=True, kw_only=True)
class OnBoards(AtOnce):
    """The same on a chain of boards.

    Attributes:
        devices: boards. pace: cycles of a word on a link between boards.
        apart: what simulates each board by itself, ``PROCESSES`` or ``MPI``; None if all are in one
            simulation. patience: seconds that one of these may give no sign of life.
    """

    pooled: ClassVar[bool] = True
    devices: int
    pace: int
    apart: str | None
    patience: int


def course(asked: Train, engine: str) -> OnBoards:
    """What was asked for; what was not has its default.

    Raises:
        BadInput: as ``depth_of``, or the engine simulates no board by itself.
    """
    depth = depth_of(asked, engine)
    ways = [way for way in (PROCESSES, MPI) if getattr(asked, way, False)]
    if ways and engine not in APART:
        able = " or ".join(mention("engine", each) for each in APART)
        raise BadInput(f"{name_of(ways[0])}: allowed with {able}")
    return OnBoards(
        depth=depth,
        devices=asked.devices or 1,
        pace=asked.link_cycles or 1,
        apart=ways[0] if ways else None,
        patience=asked.patience or PATIENCE,
    )
