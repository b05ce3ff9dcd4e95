"""Random designs: a top, and the entities that it may instantiate."""

from collections.abc import Collection, Sequence
from random import Random

from hypothesis import strategies as st

from random_designs.blocks.block import Block
from random_designs.blocks.instances import Child, Instances
from random_designs.blocks.machines import Machines
from random_designs.blocks.memories import Memories
from random_designs.features import EVERYTHING
from random_designs.kinds import BIT, Kind
from random_designs.nodes import Node
from random_designs.scope import Named, Scope
from random_designs.source import Program
from random_designs.values import int_value


class Designs(Memories, Machines, Instances):
    """A random design.

    Attributes:
        above: what stands in front of the top.
        common: what can be read in every block.
        children: the entities that the top may instantiate.
    """

    def __init__(self, dice: Random, features: frozenset[str]) -> None:
        super().__init__(dice, features)
        self.above: list[Node] = []
        self.common = Scope()
        self.children: list[Child] = []

    def program(self) -> Program:
        """A random design."""
        for _ in range(self.dice.choice([0, 1]) if self.has("functions") else 0):
            self.new_function(self.above, self.common)
        self.new_table(self.above, self.common)
        if self.has("children"):
            for _ in range(self.dice.choice([0, 1])):
                self._child()
        inputs = [Named(self.fresh("a"), self.kind()) for _ in range(self.dice.choice([2, 3]))]
        inputs += [Named(self.fresh("b"), BIT) for _ in range(self.dice.choice([0, 1, 2]))]
        made = self._fill(Block(self.common.copy(), 0), inputs, self.dice.choice([1, 1, 2]))
        return Program(
            Node("items", "", tuple(self.above)),
            Node("body", "", tuple(made.units)),
            tuple(inputs),
            tuple(made.outputs),
            self.reset if made.has_reset else "",
            self.features,
        )

    def _fill(self, made: Block, inputs: Sequence[Named], count: int) -> Block:
        """Put things into a block."""
        for port in inputs:
            made.scope.read(port, signal=True)
        if self.has("names"):
            name, value = self.fresh("K"), self.constant()
            made.units.append(Node("unit", f"{name} = {value}"))
            made.scope.numbers.append(int_value(Node.number(name), (value, value)))
        self.new_table(made.units, made.scope)
        if self.has("functions") and self.chance(0.4):
            self.new_function(made.units, made.scope)
        rate = 0.3 if made.level == 0 else 0.1
        if self.has("state machines") and self.chance(rate):
            self.new_machine(made)
        if self.has("memories") and self.chance(rate):
            self.new_memory(made)
        if made.level == 0:
            for child in self.children:
                self.new_instances(made, child)
        for _ in range(count):
            self.dice.choice([self.combinational, self.clocked])(made)
        while not made.outputs:
            self.combinational(made)
        return made

    def new_table(self, units: list[Node], scope: Scope) -> None:
        """A tuple of constants, if there may be one."""
        if self.has("tuples") and self.chance(0.5):
            name = self.fresh("rom")
            values = tuple(self.constant() for _ in range(self.dice.choice([2, 3, 4, 5, 8, 16])))
            units.append(Node("unit", f"{name} = {values!r}"))
            scope.tables.append((name, values))

    def _child(self) -> None:
        """An entity with parameters."""
        name = self.fresh("child")
        width = ""
        values: dict[str, tuple[int, ...]] = {}
        made = Block(self.common.copy(), 1)
        if self.has("generic widths") and self.chance(0.5):
            width = "W"
            values["W"] = tuple(self.dice.sample([2, 3, 4, 5, 8, 11, 16], k=2))
            made.kinds = [Kind(0, (1 << max(values["W"])) - 1, symbol="W", narrow=min(values["W"]))]
        for _ in range(self.dice.choice([0, 1, 2])):
            values[self.fresh("k")] = tuple(self.constant() for _ in "12")
        if self.chance(0.3):
            values[self.fresh("flag")] = tuple(self.dice.choice([0, 1]) for _ in "12")
        bare = self.has("constant actuals")
        inputs = [Named(self.fresh("a"), made.kinds[0] if width else self.kind())]
        for _ in range(self.dice.choice([0, 1, 2])):
            kind = self.dice.choice([BIT, self.kind()])
            inputs.append(Named(self.fresh("a"), kind, bare=bare and self.chance(0.6)))
        for param, each in values.items():
            if param.startswith("flag"):
                made.scope.truths.append(Node.truth(param))
            else:
                made.scope.numbers.append(int_value(Node.number(param), (min(each), max(each))))
        self._fill(made, inputs, 1)
        self._write_child(name, made, inputs, values, width)

    def _write_child(
        self,
        name: str,
        made: Block,
        inputs: Sequence[Named],
        values: dict[str, tuple[int, ...]],
        width: str,
    ) -> None:
        outputs = [output for output, _ in made.outputs]
        signature = [
            *(["clk"] if made.has_clock else []),
            *(["rst"] if made.has_reset else []),
            *(port.name for port in (*inputs, *outputs)),
            *values,
        ]
        plain = self.has("plain blocks") and not width and self.chance(0.4)
        text = (
            f"@{'block' if plain else 'merp.entity'}\ndef {name}({', '.join(signature)}):\n{{}}\n"
        )
        self.above.append(Node("unit", text, (Node("body", "", tuple(made.units)),)))
        self.children.append(
            Child(
                name, tuple(inputs), tuple(outputs), values, width, made.has_clock, made.has_reset
            )
        )


def program(dice: Random, features: Collection[str] = EVERYTHING) -> Program:
    """A random design.

    Args:
        dice: decides everything.
        features: names in ``FEATURES``.

    Raises:
        ValueError: there is no such feature.
    """
    if unknown := sorted(set(features) - EVERYTHING):
        raise ValueError(f"no such feature: {', '.join(unknown)}")
    return Designs(dice, frozenset(features)).program()


def programs(features: Collection[str] = EVERYTHING) -> st.SearchStrategy[Program]:
    """Random designs as a strategy of hypothesis, which shrinks them, too."""
    return st.randoms(use_true_random=False).map(lambda dice: program(dice, features))
