"""Combinational and clocked processes, and the signals that they drive."""

import re
from collections.abc import Callable, Sequence
from random import Random

from random_designs.blocks.block import Block
from random_designs.blocks.functions import Functions
from random_designs.kinds import BIT, Kind
from random_designs.nodes import Node, whole_word
from random_designs.scope import Named, Scope


class Processes(Functions):
    """Random processes.

    Attributes:
        reset: the constructor of the reset that all of them share.
    """

    def __init__(self, dice: Random, features: frozenset[str]) -> None:
        super().__init__(dice, features)
        active = self.dice.choice([0, 1])
        isasync = self.has("async") and self.chance(0.5)
        self.reset = f"ResetSignal({1 - active}, active={active}, isasync={isasync})"

    def new_target(self, made: Block, kind: Kind | None = None) -> Named:
        """A new signal that something drives: an output, or inside."""
        if kind is None:
            if made.kinds and self.chance(0.7):
                kind = self.dice.choice(made.kinds)
            else:
                kind = BIT if self.chance(0.25) else self.kind()
        initial = self.initial(kind)
        if self.chance(0.8):
            named = Named(self.fresh("y"), kind)
            made.outputs.append((named, initial))
        else:
            named = Named(self.fresh("s"), kind)
            made.units.append(Node("unit", f"{named.name} = Signal({kind.text(initial)})"))
        return named

    def combinational(self, made: Block) -> None:
        """A combinational process with new targets."""
        targets = [self.new_target(made) for _ in range(self.dice.choice([1, 1, 2]))]
        self.drive(made, targets)

    def drive(self, made: Block, targets: Sequence[Named], shown: Named | None = None) -> None:
        """A combinational process that assigns all targets; ``shown``: a memory that it reads."""
        scope = made.scope.copy()
        scope.targets = list(targets)
        scope.written, scope.procedures = [], []
        lines = self.variables(scope)
        if shown is None:
            lines += [self.assignment(scope, target) for target in targets]
        else:
            index = self.fit(self.subject(scope), 0, shown.size - 1).node
            read = f"{targets[0].name}.next = {shown.name}[{{}}]"
            lines.append(Node.line(read, index))
        if shown is None and self.chance(0.7):
            lines += self.statements(scope, self.dice.choice([1, 1, 2]), 2).kids
        text = re.sub(r"len\(\w+\)", "", str(Node.block(*lines)))  # MyHDL does not count it
        signals = [str(each.node) for each in made.scope.numbers if each.width]
        if not any(whole_word(name).search(text) for name in signals):  # MyHDL wants one
            lines.append(self._first(made, targets[0]))
        self.process(made, "@always_comb", Node.block(*lines))
        for target in targets:
            made.scope.read(target, signal=True)

    def _first(self, made: Block, target: Named) -> Node:
        """An assignment that certainly reads a signal."""
        signals = [each for each in made.scope.numbers if each.width]
        value = self.dice.choice(signals)
        if target.kind.truth:
            return Node.line(f"{target.name}.next = {{}}", Node.truth("({} != 0)", value.node))
        return Node.line(f"{target.name}.next = {{}}", self.fit_kind(value, target.kind))

    def clocked(self, made: Block) -> None:
        """A clocked process with new targets."""
        targets = [self.new_target(made) for _ in range(self.dice.choice([1, 1, 2, 3]))]
        for target in targets:
            made.scope.read(target, signal=True)
        self.register(made, targets, [], None)

    def register(
        self,
        made: Block,
        targets: Sequence[Named],
        written: Sequence[Named],
        first: Callable[[Scope], list[Node]] | None,
    ) -> None:
        """A clocked process; ``first`` are statements that it begins with."""
        scope = made.scope.copy()
        scope.targets, scope.written = list(targets), list(written)
        numbers = [each for each in targets if not each.kind.truth]
        if self.has("procedures") and numbers and self.chance(0.5):
            self.new_procedure(made, scope, self.dice.choice(numbers))
        lines = self.variables(scope)
        if first is not None:
            lines += first(scope)
        lines += self.statements(scope, self.dice.choice([1, 1, 2]), 3).kids
        text = str(Node.block(*lines))
        lines += [
            self.assignment(scope, each) for each in targets if f"{each.name}.next" not in text
        ]
        head, body = self._clocking(made, targets, Node.block(*lines), bool(written))
        made.has_clock = True
        self.process(made, head, body)

    def process(self, made: Block, head: str, body: Node) -> None:
        """Add a process: its decorator and its statements."""
        name = self.fresh("comb" if head == "@always_comb" else "clocked")
        made.units.append(Node("unit", f"{head}\ndef {name}():\n{{}}", (body,), name))

    def _clocking(
        self, made: Block, targets: Sequence[Named], body: Node, writes: bool
    ) -> tuple[str, Node]:
        if not writes and self.has("always_seq") and self.chance(0.6):
            made.has_reset = True
            return "@always_seq(clk.posedge, reset=rst)", body
        numbers = [each for each in targets if not each.kind.truth]
        if self.has("explicit reset") and targets and self.chance(0.4):
            made.has_reset = True
            resets = [
                Node.line(f"{each.name}.next = {{}}", Node.literal(each.kind.zero))
                for each in (numbers or targets)
            ]
            active = "rst" if "active=1" in self.reset else "not rst"
            chain = Node.chain([(Node.truth(active), Node.block(*resets))], body)
            return "@always(clk.posedge)", Node.block(chain)
        return "@always(clk.posedge)", body
