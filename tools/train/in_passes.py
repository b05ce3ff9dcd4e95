"""A step in the passes of a plan on a board: the interface for ``train``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from merp.cosim.machines.training.hardware_step import Audits
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
        """Optimisation of the tiles."""

    @property
    def passes(self) -> int:
        """Number of passes of a step."""

    def apart(self, layers: Iterable[Layer]) -> Iterable[str]:
        """For each layer without a combined backward pass, return its passes and the reason."""

    def bytes(self, rule: UpdateRule) -> Mapping[str, int]:
        """Return bytes of a step by phase, without velocities, and those of velocities as
        ``momentum``."""

    def runs(self, rule: UpdateRule, audits: Audits) -> list[dict[str, Any]]:
        """Return each layer and phase for the answer: its passes, and bytes of each port.

        Args:
            rule: update rule.
            audits: audits of a step; empty without hardware.
        """


Planner = Callable[[Network, Board, int, str | None, str, bool], InPasses]
"""The part ``passes`` of a machine. Its arguments are the network, the board, the batch, the goal
(None: the machine's default), the stored mask, and whether each layer has its own bitstreams. It
raises ``BadInput`` if there is no plan."""
