"""State machines."""

from random_designs.blocks.block import Block
from random_designs.blocks.processes import Processes
from random_designs.kinds import BIT
from random_designs.nodes import Node
from random_designs.scope import Named, Scope, States


class Machines(Processes):
    """Random state machines."""

    def new_machine(self, made: Block) -> None:
        """A state signal, the clocked process that steps it, and an output that shows a state."""
        members = tuple("IDLE WORK WAIT DONE LAST".split()[: self.dice.choice([2, 3, 4, 5])])
        states = States(self.fresh("state"), self.fresh("kinds"), members)
        names = ", ".join(f'"{member}"' for member in members)
        encoding = self.dice.choice(["", "", ', encoding="one_hot"', ', encoding="binary"'])
        first = self.dice.choice(members) if self.has("initial values") else members[0]
        made.units += [
            Node("unit", f"{states.enum} = enum({names}{encoding})"),
            Node("unit", f"{states.name} = Signal({states.enum}.{first})"),
        ]
        made.scope.states.append(states)
        targets = [self.new_target(made) for _ in range(self.dice.choice([1, 1, 2]))]
        for target in targets:
            made.scope.read(target, signal=True)
        self.register(made, targets, [], lambda scope: [self._transitions(scope, states)])
        output = Named(self.fresh("y"), BIT)
        made.outputs.append((output, 0))
        shows = Node.line(f"{output.name}.next = ({states.name} == {states.enum}.{members[-1]})")
        self.process(made, "@always_comb", Node.block(shows))
        made.scope.read(output, signal=True)

    def _transitions(self, scope: Scope, states: States) -> Node:
        bodies: list[Node] = []
        for _ in states.members:
            goes = Node.line(
                f"{states.name}.next = {states.enum}.{self.dice.choice(states.members)}"
            )
            step = Node.guarded(self.condition(scope, 1), goes)
            lines = [step if self.chance(0.7) else goes]
            if scope.targets and self.chance(0.5):
                lines.append(self.statement(scope, 0))
            bodies.append(Node.block(*lines))
        if self.has("match") and self.chance(0.5):
            arms = [
                Node("case", f"case {states.enum}.{member}:\n{{}}", (body,))
                for member, body in zip(states.members, bodies, strict=True)
            ]
            return Node("match", f"match {states.name}:\n{{}}", (Node.block(*arms),))
        conditions = [
            Node.truth(f"({states.name} == {states.enum}.{each})") for each in states.members
        ]
        arms_if = list(zip(conditions, bodies, strict=True))
        if self.chance(0.5) or len(arms_if) < 2:
            return Node.chain(arms_if, Node.block())
        return Node.chain(arms_if[:-1], arms_if[-1][1])
