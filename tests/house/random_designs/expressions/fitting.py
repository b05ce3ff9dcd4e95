"""What makes a number fit: it is masked, cut, taken modulo, clamped or guarded by a condition."""

from random_designs.expressions.operands import Operands
from random_designs.kinds import Kind
from random_designs.nodes import Node
from random_designs.values import Value, int_value


class Fitting(Operands):
    """Numbers within given bounds."""

    def fit(self, value: Value, low: int, high: int) -> Value:
        """The number, or something of it that is within bounds."""
        if value.within(low, high) and not self.chance(0.05):
            return value
        if value.node.sort == "number" and value.low == value.high and not value.node.kids:
            other = min(max(self.constant(), low), high)
            return int_value(Node.literal(other), (other, other))
        count = high - low + 1
        full = count & (count - 1) == 0
        width = (count - 1).bit_length()
        e = value.node
        made: list[Node] = []
        ints: list[Node] = []
        if full and low == 0 and width:
            made.append(Node.number(f"({{}} & {high})", e))
            if self.has("casts"):
                made.append(self.cut(value, width).node)
            if self.has("modbv", "casts"):
                made.append(self.cut(value, width, "modbv").node)
        if full and low == -high - 1 and width and self.has("signed()", "casts"):
            made.append(Node.number("{}.signed()", self.cut(value, width).node))
        if self.has("modulo"):
            by = f"2**{width}" if full and self.chance(0.5) else str(count)
            offset = f" + {low}" if low > 0 else f" - {-low}" if low < 0 else ""
            ints.append(Node.number(f"({{}} % {by}{offset})", e))
        if self.has("min max") and self.chance(0.5):
            made.append(Node.number(f"min(max({{}}, {low}), {high})", e))
        if self.has("conditional", "chained") and self.chance(0.5):
            other = self.dice.choice([low, high])
            made.append(Node.number(f"({{}} if {low} <= {{}} <= {high} else {other})", e, e))
        if not made and not ints:
            mask = (1 << count.bit_length() - 1) - 1
            made.append(Node.number(f"(({{}} & {mask}) + {low})" if low else f"({{}} & {mask})", e))
        chosen = self.dice.choice(made + ints)
        return Value(chosen, low, high, is_object=chosen not in ints, is_int=chosen in ints)

    def fit_kind(self, value: Value, kind: Kind) -> Node:
        """The number, or something of it that a signal of this kind can hold."""
        if kind.symbol:
            if value.within(0, (1 << kind.narrow) - 1):
                return value.node
            w = kind.symbol
            made = [Node.number(f"({{}} & (2**{w} - 1))", value.node)]
            if self.has("casts"):
                made.append(self.cut(value, w).node)
            if self.has("modulo"):
                made.append(Node.number(f"({{}} % 2**{w})", value.node))
            return self.dice.choice(made)
        if kind.modular:
            return value.node
        return self.fit(value, kind.low, kind.high).node

    def cut(self, value: Value, width: int | str, maker: str = "intbv") -> Value:
        """The lowest bits of a number: a slice, or a new vector."""
        node = value.node
        if isinstance(width, int) and value.width >= width:
            return Value(Node.number(f"{{}}[{width}:]", node), 0, (1 << width) - 1, width, True)
        if value.is_object:  # intbv takes no signals
            node = Node.number("({} + 0)", node)
        high = (1 << width) - 1 if isinstance(width, int) else value.high
        made = Node.number(f"{maker}({{}})[{width}:]", node)
        return Value(made, 0, high, width if isinstance(width, int) else 0, unsigned=True)
