"""The engines that fit a bitstream of a board together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add

from merp.cosim.board.dram import Dram
from merp.cosim.board.step_plan import StepPlan
from merp.cosim.board.system import subsystem_of
from merp.cosim.board.system_engine import port_for
from merp.models.base.errors import BadInput
from merp.models.fpga.board import Board
from merp.models.fpga.resources import KINDS, TITLES, Resources, capacity
from merp.models.memory.params.subsystem import Loader
from merp.models.memory.subsystem_resources import subsystem_resources


@dataclass(frozen=True)
class Fit:
    """Whether engines of a step fit a bitstream, with the memory subsystem that serves them.

    Attributes:
        board: the board.
        plan: the engines, with their estimated resources.
        dram: the memory.
        loader: part that loads bitstreams.
    """

    board: Board
    plan: StepPlan
    dram: Dram
    loader: Loader = Loader.NONE

    def __call__(self, names: Iterable[str]) -> bool:
        """Return whether engines fit together: a subsystem can serve them, and the part has room.

        Without an estimate, they fit.
        """
        try:
            return not self.lacking(names)
        except BadInput:
            return False

    def resources(self, names: Iterable[str]) -> Resources | None:
        """Return the estimated resources of engines; None without an estimate.

        Raises:
            BadInput: there are too many engines or streams for a memory subsystem.
        """
        ports = {name: self.plan.tops[name].ports for name in names}
        design = subsystem_of(ports, port_for(ports, self.dram), self.loader)
        if self.plan.resources is None or not self.board.part.planned:
            return None
        return reduce(add, map(self.plan.resources.__getitem__, ports), subsystem_resources(design))

    def lacking(self, names: Iterable[str]) -> str:
        """Return the resource that engines lack, in words; empty if they lack none.

        Raises:
            BadInput: as in ``resources``.
        """
        needed, has = self.resources(names), capacity(self.board.room)
        if needed is None:
            return ""
        return next(
            (
                f"{getattr(needed, kind):,} {TITLES[kind]} with its movers: allowed are "
                f"{getattr(has, kind):,} of {self.board.part.name}"
                for kind in KINDS
                if getattr(needed, kind) > getattr(has, kind)
            ),
            "",
        )
