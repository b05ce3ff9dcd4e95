"""Common parts of the reader: the current place, and the known properties there."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from myhdl import intbv, modbv

from merp.hdl.conversion.process.evaluate import Evaluator
from merp.hdl.conversion.process.frame import (
    Frame,
    Known,
    State,
)
from merp.hdl.conversion.process.meaning import (
    Meaning,
    Statement,
    Variable,
)
from merp.hdl.conversion.process.ranges import Range


@dataclass
class LoopEnds:
    """The places where a loop is left or continued.

    Attributes:
        left, skips: of an unrolled loop, whether it was left, and whether this round is over.
        breaks, continues: the states where the loop is left, and where a round is over.
    """

    left: Variable | None = None
    skips: Variable | None = None
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


class Reading(ABC):
    """Reader of one process; ``meaning`` is the result."""

    def __init__(self, frame: Frame, apart: Collection[int]) -> None:
        """Begin without any read statement.

        Args:
            frame: of the process.
            apart: lists of signals, by ``id``, that other processes drive too.
        """
        self.meaning = Meaning()
        self.apart = apart
        self.values = Evaluator(self.meaning, self.inline)
        self.values.frame = frame
        self.loops: list[LoopEnds] = []
        self.before: list[Statement] = []
        self.returned: list[State] = []
        self.kept: dict[int, Variable] = {}
        self.lasting: set[str] = set()
        self.depth = 0
        self.adopt(frame)

    @property
    def frame(self) -> Frame:
        """The function that is read."""
        return self.values.frame

    @property
    def state(self) -> State:
        """The variables that have a value here."""
        return self.values.state

    @state.setter
    def state(self, state: State) -> None:
        self.values.state = state

    def adopt(self, frame: Frame) -> None:
        """Adopt outer vectors that a function changes in place: they keep their values."""
        for name in sorted(frame.changed):
            held = frame.outer.get(name)
            if frame.stores[name] or name in frame.bound or not isinstance(held, intbv):
                continue
            if not len(held):
                self.frame.refuse(
                    frame.tree,
                    f"vector {name} has no fixed number of bits",
                    "give it one: intbv(0)[n:]",
                )
            variable = self.kept.get(id(held))
            if variable is None:
                bounds = Range(held.min, held.max - 1)
                variable = Variable(name, bounds, False, initial=int(held))
                self.kept[id(held)] = variable
                self.meaning.variables.append(variable)
                wraps = isinstance(held, modbv)
                self.state[variable] = Known(bounds, len(held), False, True, bounds, wraps)
            frame.variables[name] = variable

    @abstractmethod
    def block(self, nodes: Sequence[ast.stmt]) -> tuple[list[Statement], bool]:
        """Read statements; return them, and whether the following statements are reached."""

    @abstractmethod
    def inline(self, node: ast.Call, function: Any, arguments: Sequence[Any]) -> Any:
        """Return the value of a helper function at a call."""
