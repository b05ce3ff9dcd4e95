"""Plan a network on a board with the planner of its machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from merp.cosim.machines.loader import part_for
from merp.models.network.network import Network
from merp.tools.common.checks import with_backward
from merp.tools.plan.request import PlanFields


class Planned(Protocol):
    """A network on a board."""

    @property
    def board(self) -> str:
        """Name of the board."""

    @property
    def seconds(self) -> float:
        """Seconds of a training step."""

    @property
    def images_per_second(self) -> float:
        """Images per second of a training step."""

    def answer(self) -> dict[str, Any]:
        """Return the answer for programs; ``layers`` has a row for each layer and phase."""

    def show(self, again: Callable[[str], Sequence[str]], *, details: bool) -> None:
        """Print it; ``again`` gives the words of the same command with another ``--fit``."""

    def file(self, name: str, tables: Mapping[str, Any]) -> str:
        """Return the text of the network file; ``tables`` are those of the file ``name``.

        Raises:
            BadInput: a design does not take a layer in one piece.
        """


def planned(network: Network, asked: PlanFields) -> Planned:
    """Return the requested plan.

    Raises:
        BadInput: the machine has no planner, the board's part is too small, or the machine does not
            take an option.
    """
    network = with_backward(network, asked.backward)
    plan: Callable[[Network, PlanFields], Planned] = part_for(network, "plan")
    return plan(network, asked)
