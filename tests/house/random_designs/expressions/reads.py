"""What is read out of tuples, memories, functions and state signals."""

from dataclasses import replace

from random_designs.expressions.fitting import Fitting
from random_designs.expressions.vectors import Vectors
from random_designs.kinds import Kind
from random_designs.nodes import Node
from random_designs.scope import Scope
from random_designs.values import Value, int_value, named_value


class Reads(Fitting, Vectors):
    """Numbers and truths that an index or an argument chooses."""

    def table(self, scope: Scope, depth: int) -> Value | None:
        """An element of a tuple."""
        if not scope.tables:
            return None
        name, values = self.dice.choice(scope.tables)
        index = self.fit(self.number(scope, depth), 0, len(values) - 1)
        text = f"{name}[int({{}})]" if self.has("int()") and self.chance(0.4) else f"{name}[{{}}]"
        return int_value(Node.number(text, index.node), (min(values), max(values)))

    def memory(self, scope: Scope, depth: int) -> Value | None:
        """An element of a list of signals, or a slice of it."""
        numbers = [each for each in scope.memories if not each.kind.truth]
        if not numbers:
            return None
        memory = self.dice.choice(numbers)
        index = self.fit(self.number(scope, depth), 0, memory.size - 1)
        value = named_value("", memory.kind, signal=True)
        value = replace(value, node=Node.number(f"{memory.name}[{{}}]", index.node))
        return self.slice_of(value) if self.has("slices") and self.chance(0.2) else value

    def call(self, scope: Scope, depth: int, truth: bool = False) -> Value | None:
        """A call of a function that returns a number, or of one that returns a truth."""
        found = [each for each in scope.functions if each.result.truth == truth]
        if not found:
            return None
        function = self.dice.choice(found)
        actuals = [self._actual(scope, kind, function.is_sized, depth) for kind in function.params]
        node = Node(
            "truth" if truth else "number",
            f"{function.name}({', '.join('{}' for _ in actuals)})",
            tuple(actuals),
        )
        return Value(node, function.result.low, function.result.high, is_object=True)

    def truth_call(self, scope: Scope, depth: int) -> Node | None:
        """A call of a function that returns a truth."""
        made = self.call(scope, depth, truth=True)
        return made.node if made else None

    def truth_memory(self, scope: Scope, depth: int) -> Node | None:
        """An element of a list of signals that are truths."""
        found = [each for each in scope.memories if each.kind.truth]
        if not found:
            return None
        memory = self.dice.choice(found)
        index = self.fit(self.number(scope, depth), 0, memory.size - 1)
        return Node.truth(f"{memory.name}[{{}}]", index.node)

    def state(self, scope: Scope, depth: int) -> Node | None:
        """Whether a state signal has a value."""
        if not scope.states:
            return None
        states = self.dice.choice(scope.states)
        sign = self.dice.choice(["==", "==", "!="])
        member = self.dice.choice(states.members)
        return Node.truth(f"({states.name} {sign} {states.enum}.{member})")

    def _actual(self, scope: Scope, kind: Kind, sized: bool, depth: int) -> Node:
        """What a function is called with."""
        if not sized:
            return self.fit(self.number(scope, depth), kind.low, kind.high).node
        fitting = [each for each in scope.numbers if each.width == kind.width and each.unsigned]
        fitting = [each for each in fitting if each.high == kind.high]
        if fitting and self.chance(0.6):
            return self.dice.choice(fitting).node
        return self.cut(self.number(scope, depth), kind.width).node
