"""Numbers out of bits: slices, ``concat`` and ``signed``."""

from random_designs.expressions.operands import Operands
from random_designs.nodes import Node
from random_designs.scope import Scope
from random_designs.values import Value, bits_of


class Vectors(Operands):
    """Numbers that are vectors of bits."""

    def slice(self, scope: Scope, depth: int) -> Value | None:
        """A slice of a signal or variable."""
        a = self.sized(scope)
        return self.slice_of(a) if a else None

    def slice_of(self, a: Value) -> Value:
        """A random slice of a number."""
        low = self.dice.randrange(a.width)
        high = self.dice.randint(low + 1, a.width)
        ends = f"{high}:" if low == 0 and self.chance(0.7) else f"{high}:{low}"
        node = Node.number(f"{{}}[{ends}]", a.node)
        return Value(node, 0, (1 << (high - low)) - 1, high - low, unsigned=True)

    def concat(self, scope: Scope, depth: int) -> Value | None:
        """``concat`` of numbers, slices and bits."""
        parts: list[Node] = []
        width = 0
        for _ in range(self.dice.choice([2, 2, 3, 4])):
            number = self.sized(scope, unsigned=not parts)  # the first one must not be negative
            if number is not None and number.width < bits_of(number.low, number.high):
                number = None  # its width is a parameter
            bits = [*scope.bits, Node.truth("True"), Node.truth("False")]
            if number is None or self.chance(0.3):
                parts.append(self.dice.choice(bits))
                width += 1
                continue
            if self.has("slices") and self.chance(0.4):
                number = self.slice_of(number)
            parts.append(number.node)
            width += number.width
        node = Node.number(f"concat({', '.join('{}' for _ in parts)})", *parts)
        return Value(node, 0, (1 << width) - 1, width, unsigned=True)

    def signed(self, scope: Scope, depth: int) -> Value | None:
        """``a.signed()``, also of a slice or a ``concat``."""
        a = self.sized(scope, unsigned=True)
        if a is not None and self.has("slices") and self.chance(0.4):
            a = self.slice_of(a)
        elif a is not None and self.has("concat") and self.chance(0.2):
            a = self.concat(scope, depth)
        if a is None:
            return None
        wide = 1 << (max(a.width, bits_of(a.high)) - 1)
        width = 0 if wide >> (a.width - 1) > 1 else a.width
        return Value(Node.number("{}.signed()", a.node), -wide, wide - 1, width)
