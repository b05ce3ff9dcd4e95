"""What expressions are made of: signals, variables, constants, and other expressions."""

from abc import ABC, abstractmethod

from random_designs.luck import Luck
from random_designs.nodes import Node
from random_designs.scope import Scope
from random_designs.values import Value, int_value


class Operands(Luck, ABC):
    """Operands of random expressions.

    ``Expressions`` makes the operands that are expressions themselves: it knows all kinds of them.
    """

    @abstractmethod
    def number(self, scope: Scope, depth: int) -> Value:
        """A random number."""

    @abstractmethod
    def truth(self, scope: Scope, depth: int) -> Node:
        """A random truth."""

    @abstractmethod
    def condition(self, scope: Scope, depth: int) -> Node:
        """A truth, or a number in the place of one."""

    def proper(self, scope: Scope, depth: int) -> Value:
        """A number that is no truth."""
        for _ in range(4):
            made = self.number(scope, depth)
            if made.node.sort == "number":
                return made
        return self.dice.choice(scope.numbers)

    def subject(self, scope: Scope) -> Value:
        """What has a name and no constant value."""
        found = [each for each in scope.numbers if each.low < each.high]
        return self.dice.choice(found)

    def atom(self, scope: Scope) -> Value:
        """A signal, variable or constant, or a truth as a number."""
        luck = self.dice.random()
        if luck < 0.2:
            value = self.constant()
            return int_value(Node.literal(value), (value, value))
        if luck < 0.35 and self.has("truths as numbers"):
            return Value(self.truth(scope, 0), 0, 1, is_object=True)
        return self.dice.choice(scope.numbers)

    def sized(self, scope: Scope, unsigned: bool = False) -> Value | None:
        """A signal or variable with a length."""
        found = [each for each in scope.numbers if each.width and each.unsigned >= unsigned]
        return self.dice.choice(found) if found else None
