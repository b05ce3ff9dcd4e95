"""A step in the passes of a plan on a board, as ``train`` sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from merp.cosim.training.hardware_step import Audits
from merp.models.base.rates import UpdateRule
from merp.models.fpga.board import Board
from merp.models.network.network import Layer, Network


class InPasses(Protocol):
    """A planned step, of all layers and phases."""

    @property
    def network(self) -> Network:
        """The network on the designs of the plan."""

    @property
    def board(self) -> str:
        """Name of the board."""

    @property
    def goal(self) -> str:
        """What tiles were chosen for."""

    @property
    def passes(self) -> int:
        """Of a step."""

    def apart(self, layers: Iterable[Layer]) -> Iterable[str]:
        """For each layer that does not go back in one pass, what it has and why."""

    def bytes(self, rule: UpdateRule) -> Mapping[str, int]:
        """Bytes of a step by phase, without velocities, and under ``momentum`` those of these."""

    def runs(self, rule: UpdateRule, audits: Audits) -> list[dict[str, Any]]:
        """Each layer and phase for the answer: its passes, and bytes of each port.

        audits: of a step; empty where no hardware ran.
        """


Planner = Callable[[Network, Board, int, str | None, str, bool], InPasses]
"""The part ``passes`` of a machine: from network, board, batch, goal (None: the machine's first),
state, and whether each layer has bitstreams of its own. It raises ``BadInput`` where there is no
plan."""
