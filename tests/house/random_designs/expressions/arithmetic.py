"""Sums, products, quotients, shifts, and logic on the bits of numbers."""

from random_designs.expressions.fitting import Fitting
from random_designs.nodes import Node
from random_designs.scope import Scope
from random_designs.values import Value, bits_of, corners, int_value, plain_value


class Arithmetic(Fitting):
    """Numbers out of operators."""

    def sum(self, scope: Scope, depth: int) -> Value | None:
        """``a + b`` or ``a - b``."""
        a, b = self.number(scope, depth), self.number(scope, depth)
        if self.chance(0.6):
            return int_value(
                Node.number("({} + {})", a.node, b.node), (a.low + b.low, a.high + b.high)
            )
        return int_value(Node.number("({} - {})", a.node, b.node), (a.low - b.high, a.high - b.low))

    def bitwise(self, scope: Scope, depth: int) -> Value | None:
        """``a & b``, ``a | b`` or ``a ^ b``."""
        a, b = self.number(scope, depth), self.number(scope, depth)
        if a.node.sort == b.node.sort == "truth":
            return None
        sign = self.dice.choice("&|^")
        wide = (1 << bits_of(a.low, a.high, b.low, b.high)) - 1
        bounds = (0 if a.low >= 0 and b.low >= 0 else ~wide, wide)
        if sign == "&" and (a.low >= 0 or b.low >= 0):
            bounds = (0, min(each.high for each in (a, b) if each.low >= 0))
        return plain_value(Node.number(f"({{}} {sign} {{}})", a.node, b.node), bounds)

    def product(self, scope: Scope, depth: int) -> Value | None:
        """``a * b``."""
        a, b = self.number(scope, depth), self.number(scope, depth)
        bounds = corners(lambda x, y: x * y, (a.low, a.high), (b.low, b.high))
        return int_value(Node.number("({} * {})", a.node, b.node), bounds)

    def quotient(self, scope: Scope, depth: int) -> Value | None:
        """A quotient by a positive constant, or the remainder."""
        by = self.dice.choice([1, 2, 3, 4, 5, 7, 8, 10, 16, 100])
        return self._divided(self.number(scope, depth), int_value(Node.literal(by), (by, by)))

    def negative_quotient(self, scope: Scope, depth: int) -> Value | None:
        """A quotient by a negative constant, or the remainder."""
        by = -self.dice.choice([1, 2, 3, 4, 7, 10])
        return self._divided(self.number(scope, depth), int_value(Node.literal(by), (by, by)))

    def quotient_by_number(self, scope: Scope, depth: int) -> Value | None:
        """A quotient by a signal or variable, or the remainder; ``| 1`` keeps it from 0."""
        by = self.number(scope, 0)
        if by.node.sort == "truth":
            return None
        wide = (1 << bits_of(by.low, by.high, 1)) - 1
        odd = plain_value(Node.number("({} | 1)", by.node), (1 if by.low >= 0 else ~wide, wide))
        return self._divided(self.number(scope, depth), odd)

    def _divided(self, a: Value, b: Value) -> Value:
        divisors = {each for each in (b.low, b.high, 1, -1) if each and b.low <= each <= b.high}
        if self.chance(0.5):
            bounds = corners(lambda x, y: x // y, (a.low, a.high), (min(divisors), max(divisors)))
            if b.low < 0 < b.high:
                most = max(abs(a.low), abs(a.high))
                bounds = -most, most
            return int_value(Node.number("({} // {})", a.node, b.node), bounds)
        bounds = (b.low + 1 if b.low < 0 else 0, b.high - 1 if b.high > 0 else 0)
        return int_value(Node.number("({} % {})", a.node, b.node), bounds)

    def shift_left(self, scope: Scope, depth: int) -> Value | None:
        """``a << 3``."""
        a, by = self.number(scope, depth), self.dice.randint(0, 9)
        bounds = (a.low << by, a.high << by)
        return plain_value(Node.number("({} << {})", a.node, Node.literal(by)), bounds)

    def shift_right(self, scope: Scope, depth: int) -> Value | None:
        """``a >> 3``."""
        a, by = self.number(scope, depth), self.dice.randint(0, 9)
        bounds = (a.low >> by, a.high >> by)
        return plain_value(Node.number("({} >> {})", a.node, Node.literal(by)), bounds)

    def shift_by_number(self, scope: Scope, depth: int) -> Value | None:
        """``a << b`` or ``a >> b``."""
        a, by = self.number(scope, depth), self.number(scope, 0)
        most = self.dice.choice([3, 7, 15, 40])
        if not by.within(0, most):
            by = self.fit(by, 0, most)
        if self.chance(0.5):
            bounds = corners(lambda x, y: x >> y, (a.low, a.high), (by.low, by.high))
            return plain_value(Node.number("({} >> {})", a.node, by.node), bounds)
        bounds = corners(lambda x, y: x << y, (a.low, a.high), (by.low, by.high))
        return plain_value(Node.number("({} << {})", a.node, by.node), bounds)

    def invert(self, scope: Scope, depth: int) -> Value | None:
        """``~a``."""
        a = self.number(scope, depth)
        node = Node.number("(~{})", a.node)
        if a.is_plain or (a.width and not a.unsigned):
            return plain_value(node, (~a.high, ~a.low))
        if a.width and a.node.sort == "number":
            return plain_value(node, (0, (1 << max(a.width, bits_of(a.high))) - 1))
        return None

    def minus(self, scope: Scope, depth: int) -> Value | None:
        """``-a``."""
        a = self.number(scope, depth)
        return int_value(Node.number("(-{})", a.node), (-a.high, -a.low))
