"""A design as a tree, and the source of the module that it is written to."""

from dataclasses import dataclass

from random_designs.nodes import Node
from random_designs.scope import Named

_HEAD = """from myhdl import (
    ResetSignal, Signal, always, always_comb, always_seq, block, concat, enum, intbv, modbv,
)

import merp
"""


@dataclass(frozen=True, repr=False)
class Program:
    """A design.

    Attributes:
        above: what stands in front of the top: functions, children.
        body: of the top.
        inputs, outputs: its ports, with the initial values of these.
        reset: the constructor of its reset, if it has one.
        features: what it may have.
    """

    above: Node
    body: Node
    inputs: tuple[Named, ...]
    outputs: tuple[tuple[Named, int], ...]
    reset: str
    features: frozenset[str]

    def __str__(self) -> str:
        """The source of a module with ``top``, ``make`` and ``INPUTS``."""
        inputs = [*(["rst"] if self.reset else []), *(port.name for port in self.inputs)]
        made = {"clk": "Signal(bool(0))"} | ({"rst": self.reset} if self.reset else {})
        for port in self.inputs:
            kind = port.kind
            made[port.name] = f"Signal({kind.text(kind.zero)})"
        for port, initial in self.outputs:
            made[port.name] = f"Signal({port.kind.text(initial)})"
        fields = "".join(f"        {name}={value},\n" for name, value in made.items())
        above = f"\n{self.above}\n" if self.above.kids else ""
        return (
            f"{_HEAD}{above}\n@merp.entity\ndef top({', '.join(made)}):\n{self.body}\n\n"
            f"def make():\n    return dict(\n{fields}    )\n\nINPUTS = {tuple(inputs)!r}\n"
        )

    def __repr__(self) -> str:
        """The source, as hypothesis shows it."""
        return f"\n{self}"

    def size(self) -> int:
        """How large it is; ``shrunk`` makes it smaller."""
        ports = len(self.inputs) + len(self.outputs) + bool(self.reset)
        return 10 * ports + 3 * self.above.size() + 3 * self.body.size() + len(str(self)) // 40
