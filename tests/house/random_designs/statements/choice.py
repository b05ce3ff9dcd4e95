"""The choice among all kinds of statements."""

from collections.abc import Callable

from random_designs.nodes import Node
from random_designs.scope import Scope
from random_designs.statements.assignments import Assignments
from random_designs.statements.branches import Branches
from random_designs.statements.loops import Loops
from random_designs.statements.variables import Variables


class Statements(Branches, Loops, Variables):
    """Random statements."""

    def statements(self, scope: Scope, depth: int, most: int = 3) -> Node:
        """A block of statements."""
        return Node.block(
            *(self.statement(scope, depth) for _ in range(self.dice.choice([1, 1, most])))
        )

    def statement(self, scope: Scope, depth: int) -> Node:
        """A random statement."""
        makers = [
            make
            for name, make in self._STATEMENTS
            if (not name or self.has(name)) and (depth > 0 or make not in self._NESTED)
        ]
        for _ in range(4):
            made = self.dice.choice(makers)(self, scope, depth - 1)
            if made is not None:
                return made
        return self.assign(scope, 0) or self.store(scope, 0) or Node.line("pass")

    _STATEMENTS: tuple[tuple[str, Callable[["Statements", Scope, int], Node | None]], ...] = (
        ("", Assignments.assign), ("", Assignments.assign), ("", Branches.branch),
        ("elif", Branches.elif_of_constants), ("match", Branches.match),
        ("saturate", Branches.saturate), ("", Variables.set_variable),
        ("in place", Variables.in_place), ("signals in place", Variables.signal_in_place),
        ("augmented", Variables.augmented), ("loops", Loops.loop), ("loops", Loops.popcount),
        ("procedures", Assignments.call_procedure), ("memories", Assignments.store),
    )  # fmt: skip
    _NESTED = (Branches.branch, Branches.elif_of_constants, Branches.match, Loops.loop)
