"""Instances of entities, and the signals between them."""

from dataclasses import dataclass

from random_designs.blocks.block import Block
from random_designs.blocks.processes import Processes
from random_designs.kinds import Kind, settled
from random_designs.nodes import Node
from random_designs.scope import Named
from random_designs.values import int_value


@dataclass(frozen=True)
class Child:
    """An entity that can be instantiated.

    Attributes:
        values: of each parameter, one for each way to instantiate it.
        width: the parameter that is the width of ports with its symbol.
    """

    name: str
    inputs: tuple[Named, ...]
    outputs: tuple[Named, ...]
    values: dict[str, tuple[int, ...]]
    width: str
    has_clock: bool
    has_reset: bool


class Instances(Processes):
    """Random instances."""

    def new_instances(self, made: Block, child: Child) -> None:
        """Instances of a child: one by one, or as a list."""
        made.has_clock |= child.has_clock
        made.has_reset |= child.has_reset
        if self.has("instance lists") and self.chance(0.5):
            self._instance_list(made, child)
            return
        for way in self.dice.sample([0, 1], k=self.dice.choice([1, 2, 2])):
            width = child.values[child.width][way] if child.width else 0
            actuals: dict[str, Node] = {}
            for port in child.inputs:
                actuals[port.name] = self._actual_of(made, port, width)
            outputs: list[Named] = []
            for port in child.outputs:
                kind = settled(port.kind, width)
                output = self.new_target(made, kind)
                outputs.append(output)
                actuals[port.name] = Node.number(output.name)
            self._instantiate(made, child, actuals | _parameters(child, way))
            for output in outputs:
                made.scope.read(output, signal=True)

    def _instance_list(self, made: Block, child: Child) -> None:
        """Several instances between lists of signals; each input has one, or a signal for all."""
        way, size, i = self.dice.choice([0, 1]), self.dice.choice([2, 3, 4]), self.fresh("j")
        width = child.values[child.width][way] if child.width else 0
        actuals: dict[str, Node] = {}
        for at, port in enumerate(child.inputs):
            if at and self.chance(0.4):
                actuals[port.name] = self._actual_of(made, port, width)
            else:
                wires = self._wires(made, settled(port.kind, width), size, "w")
                self._drive_all(made, wires)
                actuals[port.name] = Node.number(f"{wires.name}[{i}]")
        for port in child.outputs:
            wires = self._wires(made, settled(port.kind, width), size, "mem")
            actuals[port.name] = Node.number(f"{wires.name}[{i}]")
            made.scope.memories.append(wires)
        actuals |= _parameters(child, way)
        self._instantiate(made, child, actuals, f" for {i} in range({size})")
        shown = self.new_target(made, made.scope.memories[-1].kind)
        self.drive(made, [shown], made.scope.memories[-1])

    def _wires(self, made: Block, kind: Kind, size: int, stem: str) -> Named:
        wires = Named(self.fresh(stem), kind, size=size)
        text = kind.text(kind.zero)
        made.units.append(Node("unit", f"{wires.name} = [Signal({text}) for _ in range({size})]"))
        return wires

    def _drive_all(self, made: Block, wires: Named) -> None:
        """A combinational process that assigns a list of signals."""
        scope, i = made.scope.copy(), self.fresh("i")
        signal = self.dice.choice([each for each in scope.numbers if each.width])
        if wires.kind.truth:
            value = Node.truth(f"({{}} > {i})", signal.node)
        else:
            index = Node.number(i)
            total = int_value(
                Node.number("({} + {})", signal.node, index), (signal.low, signal.high + 9)
            )
            value = self.fit_kind(total, wires.kind)
        line = Node.line(f"{wires.name}[{i}].next = {{}}", value)
        loop = Node.line(f"for {i} in range({wires.size}):\n{{}}", Node.block(line))
        self.process(made, "@always_comb", Node.block(loop))

    def _instantiate(
        self, made: Block, child: Child, actuals: dict[str, Node], loop: str = ""
    ) -> None:
        wires = [name for name, has in (("clk", child.has_clock), ("rst", child.has_reset)) if has]
        if self.chance(0.5):
            given = [*wires, *(f"{name}={{}}" for name in actuals)]
            given[: len(wires)] = [f"{wire}={wire}" for wire in wires]
        else:
            given = [*wires, *("{}" for _ in actuals)]
        name = self.fresh("inst")
        text = f"{child.name}({', '.join(given)})"
        text = f"{name} = [{text}{loop}]" if loop else f"{name} = {text}"
        made.units.append(Node("unit", text, tuple(actuals.values()), name))

    def _actual_of(self, made: Block, port: Named, width: int) -> Node:
        """What an input of a child is connected to."""
        kind = settled(port.kind, width)
        if port.bare and self.chance(0.5):
            value = (
                self.dice.randint(max(kind.low, -50), min(kind.high, 50))
                if kind.high <= 50
                else (
                    self.dice.choice([kind.low, kind.high, self.dice.randint(kind.low, kind.high)])
                )
            )
            return Node.truth(str(bool(value))) if kind.truth else Node.literal(value)
        wire = Named(self.fresh("w"), kind)
        text = f"{wire.name} = Signal({kind.text(kind.zero)})"
        made.units.append(Node("unit", text))
        self.drive(made, [wire])
        return Node.truth(wire.name) if kind.truth else Node.number(wire.name)


def _parameters(child: Child, way: int) -> dict[str, Node]:
    """The values of a child's parameters by name, in one of the two ways to instantiate it."""
    found: dict[str, Node] = {}
    for name, values in child.values.items():
        value = bool(values[way]) if name.startswith("flag") else values[way]
        found[name] = Node.number(str(value))
    return found
