"""Lists of signals that a process writes."""

from random_designs.blocks.block import Block
from random_designs.blocks.processes import Processes
from random_designs.kinds import BIT
from random_designs.nodes import Node
from random_designs.scope import Named


class Memories(Processes):
    """Random memories."""

    def new_memory(self, made: Block) -> None:
        """A list of signals, and the clocked process that writes it."""
        kind = BIT if self.chance(0.15) else self.kind()
        memory = Named(self.fresh("mem"), kind, size=self.dice.choice([2, 3, 4, 5, 8]))
        initial = self.initial(kind)
        text = f"{memory.name} = [Signal({kind.text(initial)}) for _ in range({memory.size})]"
        made.units.append(Node("unit", text))
        targets = [self.new_target(made) for _ in range(self.dice.choice([0, 1]))]
        for target in targets:
            made.scope.read(target, signal=True)
        made.scope.memories.append(memory)
        self.register(
            made, targets, [memory], lambda scope: [self.store(scope, 1) or Node.line("pass")]
        )
