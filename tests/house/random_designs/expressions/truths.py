"""Comparisons, logic, and bits of numbers."""

import re

from random_designs.expressions.fitting import Fitting
from random_designs.nodes import Node
from random_designs.scope import Scope


class Truths(Fitting):
    """Truths out of numbers and other truths."""

    def flag(self, scope: Scope, depth: int) -> Node | None:
        """A signal or variable that is a truth."""
        return self.dice.choice(scope.truths) if scope.truths else None

    def compare(self, scope: Scope, depth: int) -> Node:
        """``a < b`` and the like."""
        sign = self.dice.choice(["<", "<=", ">", ">=", "==", "!="])
        a, b = self.proper(scope, depth), self.proper(scope, depth)
        if a.low == a.high:
            a = self.subject(scope)
        return Node.truth(f"({{}} {sign} {{}})", a.node, b.node)

    def chained(self, scope: Scope, depth: int) -> Node:
        """``a < b <= c`` and the like."""
        one, two = (self.dice.choice(["<", "<=", ">", ">=", "=="]) for _ in "12")
        kids = [self.proper(scope, depth).node for _ in "123"]
        return Node.truth(f"({{}} {one} {{}} {two} {{}})", *kids)

    def contained(self, scope: Scope, depth: int) -> Node:
        """``a in (1, 2, 3)``, or ``not in``."""
        values = sorted({self.constant() for _ in range(self.dice.randint(2, 4))})
        word = self.dice.choice(["in", "in", "not in"])
        each = f"{', '.join(map(str, values))}{',' if len(values) == 1 else ''}"
        return Node.truth(f"({{}} {word} ({each}))", self.proper(scope, depth).node)

    def logic(self, scope: Scope, depth: int) -> Node:
        """``a and b``, ``a or b`` or ``not a``."""
        a = self.truth(scope, depth)
        word = self.dice.choice(["and", "or", "not"])
        if word == "not":
            return Node.truth("(not {})", a)
        return Node.truth(f"({{}} {word} {{}})", a, self.truth(scope, depth))

    def bitwise_truths(self, scope: Scope, depth: int) -> Node:
        """Truths joined by bits, or compared."""
        sign = self.dice.choice(["&", "|", "^", "==", "!="])
        return Node.truth(f"({{}} {sign} {{}})", self.truth(scope, depth), self.truth(scope, depth))

    def as_number(self, scope: Scope, depth: int) -> Node:
        """A truth that is compared with 0 or 1."""
        sign, value = self.dice.choice(["==", "!="]), self.dice.choice(["0", "1", "True", "False"])
        return Node.truth(f"({{}} {sign} {value})", self.truth(scope, 0))

    def boolean(self, scope: Scope, depth: int) -> Node:
        """``bool(a)``."""
        return Node.truth("bool({})", self.proper(scope, depth).node)

    def bit(self, scope: Scope, depth: int) -> Node | None:
        """``a[3]``."""
        a = self.sized(scope)
        return Node.truth(f"{{}}[{self.dice.randrange(a.width)}]", a.node) if a else None

    def dynamic_bit(self, scope: Scope, depth: int) -> Node | None:
        """``a[b]``."""
        a = self.sized(scope)
        if a is None or a.width < 2:
            return None
        index = self.fit(self.number(scope, depth), 0, a.width - 1)
        return Node.truth("{}[{}]", a.node, index.node)

    def truth_if(self, scope: Scope, depth: int) -> Node:
        """``p if c else q``."""
        kids = [self.truth(scope, depth) for _ in "12"]
        return Node.truth("({} if {} else {})", kids[0], self.condition(scope, depth), kids[1])


def as_bool(truth: Node) -> Node:
    """What makes a variable a bool: neither a signal nor one of the operands of ``and``."""
    certain = truth.text.startswith(("bool(", "(not ")) or re.search(r"[<=>]|\]$", truth.text)
    return truth if certain else Node.truth("bool({})", truth)
