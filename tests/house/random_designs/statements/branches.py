"""``if``, ``elif`` and ``match``."""

from random_designs.nodes import Node
from random_designs.scope import Scope
from random_designs.statements.assignments import Assignments


class Branches(Assignments):
    """Statements that choose among others."""

    def branch(self, scope: Scope, depth: int) -> Node | None:
        """``if``, perhaps with ``elif`` and ``else``."""
        arms = [(self.condition(scope, 2), self.statements(scope, depth, 2))]
        while self.has("elif") and self.chance(0.3) and len(arms) < 4:
            arms.append((self.condition(scope, 2), self.statements(scope, depth, 2)))
        otherwise = self.statements(scope, depth, 2) if self.chance(0.5) else Node.block()
        return Node.chain(arms, otherwise)

    def elif_of_constants(self, scope: Scope, depth: int) -> Node | None:
        """What converters write as a case."""
        subject = self.subject(scope)
        span = range(subject.low, min(subject.high, subject.low + 20) + 1)
        labels = self.dice.sample(span, k=min(len(span), self.dice.choice([2, 2, 3])))
        conditions = [Node.truth("({} == {})", subject.node, Node.literal(each)) for each in labels]
        arms = [(condition, self.statements(scope, depth, 1)) for condition in conditions]
        otherwise = self.statements(scope, depth, 1) if self.chance(0.6) else Node.block()
        return Node.chain(arms, otherwise)

    def match(self, scope: Scope, depth: int) -> Node | None:
        """``match`` of a number."""
        subject = self.subject(scope)
        span = range(subject.low, min(subject.high, subject.low + 20) + 1)
        labels = self.dice.sample(span, k=min(len(span), self.dice.choice([2, 2, 3, 4])))
        arms: list[Node] = []
        while labels:
            patterns = [
                str(labels.pop()) for _ in range(min(len(labels), self.dice.choice([1, 1, 2])))
            ]
            head = f"case {' | '.join(patterns)}:\n{{}}"
            arms.append(Node("case", head, (self.statements(scope, depth, 1),)))
        if self.chance(0.8):
            arms.append(Node("case", "case _:\n{}", (self.statements(scope, depth, 1),)))
        return Node("match", "match {}:\n{}", (subject.node, Node.block(*arms)))

    def saturate(self, scope: Scope, depth: int) -> Node | None:
        """Assign a number to a signal, or the bound that it is beyond."""
        targets = [each for each in scope.targets if not (each.kind.truth or each.kind.symbol)]
        if not targets:
            return None
        target = self.dice.choice(targets)
        value = self.number(scope, 2).node
        set_to = f"{target.name}.next = {{}}"
        arms = [
            (
                Node.truth(f"({{}} {sign} {bound})", value),
                Node.block(Node.line(set_to, Node.literal(bound))),
            )
            for sign, bound in ((">", target.kind.high), ("<", target.kind.low))
        ]
        self.dice.shuffle(arms)
        return Node.chain(arms, Node.block(Node.line(set_to, value)))
