"""``a if c else b``, and numbers that functions of Python give."""

from random_designs.expressions.operands import Operands
from random_designs.nodes import Node
from random_designs.scope import Scope
from random_designs.values import Value, bits_of, int_value


class BuiltIns(Operands):
    """Numbers out of conditional expressions and built-in functions."""

    def conditional(self, scope: Scope, depth: int) -> Value | None:
        """``a if c else b``."""
        a, b = self.number(scope, depth), self.number(scope, depth)
        node = Node.number("({} if {} else {})", a.node, self.condition(scope, depth), b.node)
        return Value(node, min(a.low, b.low), max(a.high, b.high), is_object=True)

    def to_int(self, scope: Scope, depth: int) -> Value | None:
        """``int(a)``."""
        a = self.number(scope, depth)
        return int_value(Node.number("int({})", a.node), (a.low, a.high))

    def length(self, scope: Scope, depth: int) -> Value | None:
        """``len(a)``."""
        a = self.sized(scope)
        if a is None:
            return None
        return int_value(
            Node.number("len({})", a.node), (a.width, max(a.width, bits_of(a.low, a.high) + 1))
        )

    def absolute(self, scope: Scope, depth: int) -> Value | None:
        """``abs(a)``."""
        a = self.number(scope, depth)
        least = 0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
        return int_value(Node.number("abs({})", a.node), (least, max(abs(a.low), abs(a.high))))

    def min_max(self, scope: Scope, depth: int) -> Value | None:
        """``min`` or ``max`` of two or three numbers."""
        these = [self.number(scope, depth) for _ in range(self.dice.choice([2, 2, 2, 3]))]
        which = self.dice.choice([min, max])
        gaps = ", ".join("{}" for _ in these)
        node = Node.number(f"{which.__name__}({gaps})", *(each.node for each in these))
        low, high = which(each.low for each in these), which(each.high for each in these)
        return Value(node, low, high, is_object=True)
