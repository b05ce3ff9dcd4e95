"""Loops over the bits of a number."""

from random_designs.nodes import Node
from random_designs.scope import Scope
from random_designs.statements.assignments import Assignments
from random_designs.values import int_value


class Loops(Assignments):
    """Statements that repeat others."""

    def loop(self, scope: Scope, depth: int) -> Node | None:
        """``for`` over some bits, with what can be done with the index."""
        a = self.sized(scope)
        if a is None or a.width < 2:
            return None
        name = self.fresh("i")
        count = self.dice.randint(2, min(a.width, 9))
        inside = scope.copy()
        inside.numbers.append(int_value(Node.number(name), (0, count - 1)))
        if self.has("bits"):
            inside.truths += [Node.truth(f"{{}}[{name}]", a.node)] * 3
        body: list[Node] = []
        places = [
            each for each in scope.variables
            if each.sort == "intbv" and each.kind.is_full
            and each.kind.width - (each.kind.low < 0) >= count
        ]  # fmt: skip
        if places and self.has("in place") and self.chance(0.6):
            place = self.dice.choice(places).name
            body.append(Node.line(f"{place}[{name}] = {{}}", self.truth(inside, 1)))
        for memory in scope.written:
            if memory.size >= count and self.chance(0.5):
                body.append(self.write(inside, memory, Node.number(name)))
        body += self.statements(inside, depth, 2).kids
        if self.has("breaks") and self.chance(0.3):
            word = self.dice.choice(["break", "continue"])
            stop = Node.guarded(self.condition(inside, 1), Node.line(word))
            body.insert(self.dice.randrange(len(body) + 1), stop)
        text = f"for {name} in {self._range(count)}:\n{{}}"
        return Node.line(text, Node.block(*body))

    def popcount(self, scope: Scope, depth: int) -> Node | None:
        """Count bits into a new variable, and assign it."""
        a = self.sized(scope)
        if a is None or not (self.has("bits", "int variables") and scope.targets):
            return None
        n, i = self.fresh("n"), self.fresh("i")
        start = self.dice.choice([0, 0, 0, 1, 5])
        bit = Node.truth(f"{{}}[{i}]", a.node)
        step = Node.line(f"{n} += {{}}", bit)
        if self.chance(0.4):
            step = Node.guarded(bit, Node.line(f"{n} = {n} + 1"))
        inside = scope.copy()
        inside.numbers = [int_value(Node.number(n), (start, start + a.width))]
        inside.targets = [each for each in scope.targets if not each.kind.truth]
        if not inside.targets:
            return None
        loop = Node.line(f"for {i} in range({a.width}):\n{{}}", Node.block(step))
        use = self.assignment(inside, self.dice.choice(inside.targets), 1)
        return Node.line(f"{n} = {start}\n{{}}\n{{}}", loop, use)

    def _range(self, count: int) -> str:
        """A range of indices below ``count``."""
        luck = self.dice.random()
        if luck < 0.6:
            return f"range({count})"
        if luck < 0.75:
            return f"range({count - 1}, -1, -1)"
        if luck < 0.9:
            return f"range({min(1, count - 1)}, {count})"
        return f"range(0, {count}, 2)"
