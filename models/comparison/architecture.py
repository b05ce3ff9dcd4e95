"""An architecture: rules that place a network on a board, and the options of these rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from merp.models.base.renamed import in_json
from merp.models.comparison.options import Options, Setting
from merp.models.comparison.record import Record
from merp.models.fpga.board import Board
from merp.models.network.network import Network
from merp.models.network.network_keys import SEPARATE


@dataclass(frozen=True, kw_only=True)
class OwnOption:
    """An option of one architecture only, ``--name`` of ``merp map``.

    Attributes:
        name: as in ``Options.extra``.
        says: its description.
        default: its type is the option's type, and a bool is a switch. None: the option may be
            missing; its type is ``kind``.
        kind: int, float, str or bool.
        low, high: range of a number.
        allowed: allowed strings.
        former: former names, which still work.
    """

    name: str
    says: str
    default: str | int | float | bool | None
    kind: type
    low: float = 0
    high: float = 1 << 20
    allowed: tuple[str, ...] = ()
    former: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """One entry of the registry.

    Attributes:
        name: on the command line.
        title: as printed.
        paper: its authors.
        board: name of the board of its paper.
        word_bits: word width of its paper; None: that of the network.
        hardware: name of the machine whose designs network files contain, if merp has hardware of
            it.
        all_devices: it uses all devices of a board's file; a comparison gives other architectures
            one.
        simulate: ``package.module:object``, a function that returns the record of a plan with the
            cycles of a simulated batch; it raises ``rows.simulator.Deadlock``. "" if there is no
            simulation.
        rows: ``package.module:object``, a function without arguments that returns our values of the
            numbers that its paper prints, by key. "" if ``papers`` has no list of them.
        choices: options of its own.
        plan: returns a plan, a frozen dataclass; raises BadInput if there is none.
        record: returns the record of such a plan.
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

    @property
    def former(self) -> dict[str, str]:
        """Its options by their former names."""
        return {before: each.name for each in self.choices for before in each.former}

    def json_options(self, options: Mapping[str, Setting]) -> dict[str, Setting]:
        """Return options as they appear in JSON answers, which keep former names."""
        return {in_json(name, self.former): value for name, value in options.items()}

    def answer(self, network: Network, board: Board, options: Options) -> Record:
        """Plan the network, and return the record of the costs.

        The network is planned for the phases that all architectures have, independent of its own
        backward phases.

        Raises:
            BadInput: there is no plan.
        """
        apart = replace(network, backward=SEPARATE)
        return self.record(self.plan(apart, board, options))
