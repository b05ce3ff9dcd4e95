"""Options of a training on a chain of boards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from merp.models.base.errors import BadInput
from merp.models.base.given import mention, name_of
from merp.models.machines.cnn_merp.chain.machine import PATIENCE
from merp.tools.machines.cnn_merp.at_once.course import AtOnce, depth_of
from merp.tools.train.request import Train

APART = ("myhdl", "verilator")
"""Engines that support several simulations of boards together."""

PROCESSES, MPI = "processes", "mpi"
"""The options that select one simulation per board."""


@dataclass(frozen=True, kw_only=True)
class OnBoards(AtOnce):
    """Concurrent layers and phases on a chain of boards.

    Attributes:
        devices: number of boards.
        pace: cycles per word on a link between boards.
        apart: the simulators of single boards, ``PROCESSES`` or ``MPI``; None if all boards are in
            one simulation.
        patience: seconds without a sign of life that a simulator is allowed.
    """

    pooled: ClassVar[bool] = True
    devices: int
    pace: int
    apart: str | None
    patience: int


def course(asked: Train, engine: str) -> OnBoards:
    """Return the requested options, with defaults for the others.

    Raises:
        BadInput: as in ``depth_of``, or the engine does not support one simulation per board.
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
