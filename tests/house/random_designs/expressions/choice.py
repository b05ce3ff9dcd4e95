"""The choice among all kinds of numbers and truths."""

from collections.abc import Callable

from random_designs.expressions.arithmetic import Arithmetic
from random_designs.expressions.built_ins import BuiltIns
from random_designs.expressions.reads import Reads
from random_designs.expressions.truths import Truths
from random_designs.expressions.vectors import Vectors
from random_designs.nodes import Node
from random_designs.scope import Scope
from random_designs.values import Value

LIMIT = 1 << 100
"""Intermediate values stay below."""


class Expressions(Arithmetic, BuiltIns, Reads, Truths):
    """Random numbers and truths."""

    def number(self, scope: Scope, depth: int) -> Value:
        """A random number."""
        if depth > 0 and not self.chance(0.15):
            makers = [make for name, make in self._NUMBERS if not name or self.has(name)]
            for _ in range(4):
                made = self.dice.choice(makers)(self, scope, depth - 1)
                if made is None or made.low < -LIMIT or made.high > LIMIT:
                    continue
                if made.low < made.high or self.chance(0.1):  # few are constants
                    return made
        return self.atom(scope)

    def truth(self, scope: Scope, depth: int) -> Node:
        """A random truth."""
        if depth <= 0:
            simple = self.dice.choice(scope.truths) if scope.truths else None
            if simple is None and self.has("bits"):
                simple = self.bit(scope, 0)
            return simple if simple is not None and self.chance(0.7) else self.compare(scope, 0)
        makers = [make for name, make in self._TRUTHS if not name or self.has(name)]
        for _ in range(4):
            made = self.dice.choice(makers)(self, scope, depth - 1)
            if made is not None:
                return made
        return self.compare(scope, 0)

    def condition(self, scope: Scope, depth: int) -> Node:
        """A truth, or a number in the place of one."""
        if self.has("vectors as truths") and self.chance(0.15):
            number = self.subject(scope).node
            return Node.truth("not {}" if self.has("logic") and self.chance(0.3) else "{}", number)
        return self.truth(scope, depth)

    _NUMBERS: tuple[tuple[str, Callable[["Expressions", Scope, int], Value | None]], ...] = (
        ("", Arithmetic.sum), ("", Arithmetic.bitwise), ("multiply", Arithmetic.product),
        ("divide", Arithmetic.quotient), ("divide by signals", Arithmetic.quotient_by_number),
        ("negative divisors", Arithmetic.negative_quotient),
        ("shift left", Arithmetic.shift_left), ("shift right", Arithmetic.shift_right),
        ("shift by signals", Arithmetic.shift_by_number), ("invert", Arithmetic.invert),
        ("minus", Arithmetic.minus), ("conditional", BuiltIns.conditional),
        ("int()", BuiltIns.to_int), ("len", BuiltIns.length), ("abs", BuiltIns.absolute),
        ("min max", BuiltIns.min_max), ("slices", Vectors.slice), ("concat", Vectors.concat),
        ("signed()", Vectors.signed), ("tuples", Reads.table), ("memories", Reads.memory),
        ("functions", Reads.call),
    )  # fmt: skip
    _TRUTHS: tuple[tuple[str, Callable[["Expressions", Scope, int], Node | None]], ...] = (
        ("", Truths.compare), ("", Truths.compare), ("", Truths.flag),
        ("chained", Truths.chained), ("in", Truths.contained), ("logic", Truths.logic),
        ("logic", Truths.logic), ("bitwise truths", Truths.bitwise_truths),
        ("bool()", Truths.boolean), ("bits", Truths.bit), ("dynamic bits", Truths.dynamic_bit),
        ("conditional", Truths.truth_if), ("functions", Reads.truth_call),
        ("memories", Reads.truth_memory), ("state machines", Reads.state),
        ("truths as numbers", Truths.as_number),
    )  # fmt: skip
