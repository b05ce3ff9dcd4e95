"""An architecture: rules that place a network on a board, and what is asked of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from merp.models.comparison.options import Options
from merp.models.comparison.record import Record
from merp.models.fpga.board import Board
from merp.models.network.network import Network
from merp.models.network.network_keys import SEPARATE


@dataclass(frozen=True, kw_only=True)
class OwnOption:
    """An option that an architecture alone has, ``--name`` of ``merp map``.

    Attributes:
        name: as in ``Options.extra``. says: what it is.
        default: also tells the type: a bool is a switch; None: it may be missing, then of ``kind``.
        kind: int, float, str or bool. low, high: of a number. allowed: of a text.
    """

    name: str
    says: str
    default: str | int | float | bool | None
    kind: type
    low: float = 0
    high: float = 1 << 20
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """One of the registry.

    Attributes:
        name: on the command line. title: as printed. paper: whose it is.
        board: name of its paper's own. word_bits: the paper's; None: as the network has it.
        hardware: name of the machine whose designs it has in network files, if it is in hardware
            here.
        all_devices: it is on all devices of a board's file; a comparison gives the others one.
        simulate: ``package.module:object``: the record of a plan with the cycles of a simulated
            batch, which raises ``rows.simulator.Deadlock``; "" where nothing simulates it.
        rows: likewise a function without arguments: our values of the numbers that its paper
            prints, by key; "" where ``papers`` has no list of them.
        choices: options of its own.
        plan: raises BadInput where there is none; a frozen dataclass. record: of such a plan.
    """

    name: str
    title: str
    paper: str
    board: str
    word_bits: int | None
    hardware: str | None = None
    all_devices: bool = False
    choices: tuple[OwnOption, ...] = ()
    plan: Callable[[Network, Board, Options], Any]
    record: Callable[[Any], Record]
    simulate: str = ""
    rows: str = ""

    def answer(self, network: Network, board: Board, options: Options) -> Record:
        """Plan, and what it costs.

        However the network goes back, in the phases that all architectures have.

        Raises:
            BadInput: there is no plan.
        """
        apart = replace(network, backward=SEPARATE)
        return self.record(self.plan(apart, board, options))
