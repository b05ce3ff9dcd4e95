"""Functions that processes call."""

from dataclasses import replace

from random_designs.blocks.block import Block
from random_designs.kinds import BIT, Kind
from random_designs.nodes import Node, renamed
from random_designs.scope import Function, Named, Scope
from random_designs.statements.choice import Statements
from random_designs.values import named_value


class Functions(Statements):
    """Random functions."""

    def new_function(self, units: list[Node], scope: Scope) -> None:
        """A function that returns a number or a truth, out of its parameters alone."""
        name = self.fresh("fn")
        sized = self.chance(0.4)
        kinds = [
            Kind(0, (1 << self.dice.choice([3, 4, 8])) - 1) for _ in range(self.dice.choice([1, 2]))
        ]
        if not sized and self.has("signed") and self.chance(0.4):
            kinds = [Kind(-(kind.high + 1) // 2, kind.high // 2) for kind in kinds]
        params = [self.fresh("p") for _ in kinds]
        result = BIT if self.chance(0.3) else replace(self.kind(), modular=False)
        inside = Scope()
        for param, kind in zip(params, kinds, strict=True):
            value = named_value(param, kind, signal=True, bare=not sized)
            inside.numbers.append(value)
        lines: list[Node] = []
        for _ in range(self.dice.choice([0, 1, 1, 2])):
            stop = self._return(inside, result)
            lines.append(Node.guarded(self.condition(inside, 1), stop))
        lines.append(self._return(inside, result))
        text = f"def {name}({', '.join(params)}):\n{{}}"
        units.append(Node("unit", text, (Node.block(*lines),)))
        scope.functions.append(Function(name, tuple(kinds), result, sized))

    def _return(self, scope: Scope, result: Kind) -> Node:
        if result.truth:
            return Node.line("return {}", self.truth(scope, 2))
        value = self.number(scope, 2)
        if result.low == 0 and result.is_full and self.has("casts") and self.chance(0.5):
            return Node.line("return {}", self.cut(value, result.width).node)
        return Node.line("return {}", self.fit(value, result.low, result.high).node)

    def new_procedure(self, made: Block, scope: Scope, target: Named) -> None:
        """A function in the block that assigns a signal."""
        name, param = self.fresh("put"), self.fresh("p")
        kind = Kind(0, (1 << self.dice.choice([3, 4, 8])) - 1)
        inside = Scope(numbers=[named_value(param, kind, signal=True, bare=True)])
        inside.targets = [target]
        line = self.assignment(inside, target, 2)
        if self.chance(0.5):
            line = Node.guarded(self.condition(inside, 1), line)
        if self.chance(0.3):  # the signal is a parameter, too
            formal = self.fresh("q")
            line = renamed(line, target.name, formal)
            param, name = f"{formal}, {param}", f"{name}({target.name}, "
        text = f"def {name.partition('(')[0]}({param}):\n{{}}"
        made.units.append(Node("unit", text, (Node.block(line),)))
        scope.procedures.append((name if name.endswith(" ") else f"{name}(", kind))
