"""Plan what is asked for, on the machine of a network."""

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
        """Its name."""

    @property
    def seconds(self) -> float:
        """Of a training step."""

    @property
    def images_per_second(self) -> float:
        """Of the same."""

    def answer(self) -> dict[str, Any]:
        """The answer for machines; ``layers`` has a row for each layer and phase."""

    def show(self, again: Callable[[str], Sequence[str]]) -> None:
        """Print it; ``again`` gives the words of the same command with another ``--fit``."""

    def file(self, name: str, tables: Mapping[str, Any]) -> str:
        """The text of the network file; ``tables`` are those of the file ``name``.

        Raises:
            BadInput: a layer in one piece is none that its design takes.
        """


def planned(network: Network, asked: PlanFields) -> Planned:
    """The plan that is asked for.

    Raises:
        BadInput: the machine has no plan, the board's part is too small, or the machine does not
            take an option.
    """
    network = with_backward(network, asked.backward)
    plan: Callable[[Network, PlanFields], Planned] = part_for(network, "plan")
    return plan(network, asked)
