"""Assignments to signals and memories."""

from abc import abstractmethod

from random_designs.expressions.choice import Expressions
from random_designs.nodes import Node
from random_designs.scope import Named, Scope


class Assignments(Expressions):
    """Statements that assign something to a whole signal.

    ``Statements`` makes the statements inside of others: it knows all kinds of them.
    """

    @abstractmethod
    def statements(self, scope: Scope, depth: int, most: int = 3) -> Node:
        """A block of statements."""

    def assignment(self, scope: Scope, target: Named, depth: int = 2) -> Node:
        """Assign something to a signal."""
        if target.kind.truth:
            return Node.line(f"{target.name}.next = {{}}", self.truth(scope, depth - 1))
        value = self.fit_kind(self.number(scope, depth), target.kind)
        return Node.line(f"{target.name}.next = {{}}", value)

    def assign(self, scope: Scope, depth: int) -> Node | None:
        """Assign something to one of the signals."""
        return self.assignment(scope, self.dice.choice(scope.targets)) if scope.targets else None

    def call_procedure(self, scope: Scope, depth: int) -> Node | None:
        """Call a function that assigns a signal."""
        if not scope.procedures:
            return None
        name, kind = self.dice.choice(scope.procedures)
        value = self.fit(self.number(scope, 2), kind.low, kind.high)
        return Node.line(f"{name}{{}})", value.node)

    def store(self, scope: Scope, depth: int) -> Node | None:
        """Assign something to an element of a memory."""
        if not scope.written:
            return None
        memory = self.dice.choice(scope.written)
        return self.write(scope, memory, self.fit(self.number(scope, 1), 0, memory.size - 1).node)

    def write(self, scope: Scope, memory: Named, index: Node) -> Node:
        """Assign something to the element of a memory at an index."""
        if memory.kind.truth:
            value = self.truth(scope, 2)
        else:
            value = self.fit_kind(self.number(scope, 2), memory.kind)
        return Node.line(f"{memory.name}[{{}}].next = {{}}", index, value)
