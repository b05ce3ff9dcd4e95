"""A block function while it is made."""

from dataclasses import dataclass, field

from random_designs.kinds import Kind
from random_designs.nodes import Node
from random_designs.scope import Named, Scope


@dataclass
class Block:
    """A block function while it is made.

    Attributes:
        units: what stands in it.
        has_clock, has_reset: whether anything in it needs these.
        level: 0 of the top.
    """

    scope: Scope
    level: int
    kinds: list[Kind] = field(default_factory=list)
    units: list[Node] = field(default_factory=list)
    outputs: list[tuple[Named, int]] = field(default_factory=list)
    has_clock: bool = False
    has_reset: bool = False
