"""Variables: their first values, and what is assigned to them later."""

from dataclasses import replace

from random_designs.expressions.truths import as_bool
from random_designs.kinds import BIT, Kind
from random_designs.nodes import Node
from random_designs.scope import Named, Scope
from random_designs.statements.assignments import Assignments
from random_designs.values import as_int, int_value, named_value


class Variables(Assignments):
    """Statements that assign to variables, and to parts of variables and signals."""

    def variables(self, scope: Scope) -> list[Node]:
        """New variables with their first values; they are in the scope from here on."""
        sorts = [sort for sort in ("int", "intbv", "bool") if self.has(f"{sort} variables")]
        made: list[Node] = []
        for _ in range(self.dice.choice([0, 0, 1, 2]) if sorts else 0):
            made.append(self._variable(scope, self.dice.choice(sorts)))
        return made

    def _variable(self, scope: Scope, sort: str) -> Node:
        name = self.fresh({"int": "n", "intbv": "v", "bool": "f"}[sort])
        if sort == "bool":
            node = Node.line(f"{name} = {{}}", as_bool(self.truth(scope, 2)))
            scope.variables.append(Named(name, BIT, sort))
            scope.truths.append(Node.truth(name))
            return node
        kind = self.kind()
        if sort == "int":
            kind = replace(kind, modular=False)
            value = self.fit(self.number(scope, 2), kind.low, kind.high)
            node = Node.line(f"{name} = {{}}", as_int(value))
            scope.numbers.append(int_value(Node.number(name), (kind.low, kind.high)))
        else:
            node = Node.line(f"{name} = {{}}", self._new_intbv(scope, kind))
            scope.numbers.append(named_value(name, kind, signal=False))
        scope.variables.append(Named(name, kind, sort))
        return node

    def _new_intbv(self, scope: Scope, kind: Kind) -> Node:
        maker = "modbv" if kind.modular else "intbv"
        value = self.number(scope, 2)
        if kind.low == 0 and kind.is_full and not kind.modular and self.chance(0.5):
            return self.cut(value, kind.width).node
        if self.chance(0.5):
            initial = Node.literal(self.initial(kind))
        else:
            # An intbv that is made of another one takes the bounds of that.
            initial = as_int(self.fit(value, kind.low, kind.high))
        if kind.low == 0 and kind.is_full:
            return Node.number(f"{maker}({{}})[{kind.width}:]", initial)
        return Node.number(f"{maker}({{}}, min={kind.low}, max={kind.high + 1})", initial)

    def set_variable(self, scope: Scope, depth: int) -> Node | None:
        """Assign something to a variable."""
        if not scope.variables:
            return None
        variable = self.dice.choice(scope.variables)
        if variable.sort == "bool":
            return Node.line(f"{variable.name} = {{}}", as_bool(self.truth(scope, 2)))
        value = self.number(scope, 3)
        if variable.sort == "int":
            fitted = self.fit(value, variable.kind.low, variable.kind.high)
            return Node.line(f"{variable.name} = {{}}", as_int(fitted))
        return Node.line(f"{variable.name}[:] = {{}}", self.fit_kind(value, variable.kind))

    def in_place(self, scope: Scope, depth: int) -> Node | None:
        """Assign to a part of a variable."""
        found = [each for each in scope.variables if each.sort == "intbv" and each.kind.is_full]
        return self._part(scope, self.dice.choice(found), "") if found else None

    def signal_in_place(self, scope: Scope, depth: int) -> Node | None:
        """Assign to a part of a signal."""
        found = [each for each in scope.targets if each.kind.is_full and not each.kind.truth]
        return self._part(scope, self.dice.choice(found), ".next") if found else None

    def _part(self, scope: Scope, target: Named, suffix: str) -> Node | None:
        """Assign to a bit or a slice; never to a sign bit."""
        width = target.kind.width - (target.kind.low < 0)
        if width < 1:
            return None
        if self.chance(0.3) and width > 1 and self.has("dynamic bits"):
            index = self.fit(self.number(scope, 1), 0, width - 1).node
            return Node.line(f"{target.name}{suffix}[{{}}] = {{}}", index, self.truth(scope, 2))
        low = self.dice.randrange(width)
        if self.chance(0.4):
            return Node.line(f"{target.name}{suffix}[{low}] = {{}}", self.truth(scope, 2))
        high = self.dice.randint(low + 1, width)
        value = self.fit(self.number(scope, 2), 0, (1 << (high - low)) - 1).node
        return Node.line(f"{target.name}{suffix}[{high}:{low}] = {{}}", value)

    def augmented(self, scope: Scope, depth: int) -> Node | None:
        """``n += a`` and the like, within the bounds of the variable."""
        found = [each for each in scope.variables if each.sort != "bool"]
        if not found:
            return None
        variable = self.dice.choice(found)
        kind = variable.kind
        options: list[str] = []
        if kind.low <= 0 <= kind.high:
            options += [">>= 1", ">>= 3"] if self.has("shift right") else []
            options += ["//= 3", "//= 2"] if self.has("divide") else []
            options += ["%= 3"] if self.has("divide") and kind.high >= 2 else []
        if kind.modular and self.chance(0.6):
            sign = self.dice.choice(["+", "-", "&", "|", "^"] + ["*"] * self.has("multiply"))
            return Node.line(f"{variable.name} {sign}= {{}}", self.number(scope, 2).node)
        if kind.low == 0 and kind.is_full and self.chance(0.5):
            sign = self.dice.choice("&|^")
            value = self.fit(self.number(scope, 2), 0, kind.high)
            node = as_int(value) if variable.sort == "int" else value.node
            return Node.line(f"{variable.name} {sign}= {{}}", node)
        if kind.low <= 0 and kind.high >= 3 and self.chance(0.6):
            return self._sum_up(scope, variable)
        if not options:
            return self._sum_up(scope, variable) if kind.low <= 0 and kind.high >= 3 else None
        return Node.line(f"{variable.name} {self.dice.choice(options)}")

    def _sum_up(self, scope: Scope, variable: Named) -> Node:
        """Assign half of what is possible, and add another half, or subtract it again."""
        half = variable.kind.high // 2
        first = self.fit(self.number(scope, 1), 0, half)
        second = self.fit(self.number(scope, 1), 0, half).node
        if variable.sort == "int":
            start = Node.line(f"{variable.name} = {{}}", as_int(first))
        else:
            start = Node.line(f"{variable.name}[:] = {{}}", first.node)
        return Node.line(f"{{}}\n{variable.name} += {{}}", start, second)
