"""What can be read and assigned at a place in a design."""

from dataclasses import dataclass, field

from random_designs.kinds import Kind
from random_designs.nodes import Node
from random_designs.values import Value, named_value


@dataclass(frozen=True)
class Named:
    """What has a name and a kind: a target, a variable, a port, a memory.

    Attributes:
        sort: of variables ``int``, ``intbv`` or ``bool``.
        size: of a memory.
        bare: an input that may be an int.
    """

    name: str
    kind: Kind
    sort: str = ""
    size: int = 0
    bare: bool = False


@dataclass(frozen=True)
class Function:
    """A function: its parameters, and what it returns."""

    name: str
    params: tuple[Kind, ...]
    result: Kind
    is_sized: bool


@dataclass(frozen=True)
class States:
    """A state signal, its enum and the members of that."""

    name: str
    enum: str
    members: tuple[str, ...]


@dataclass
class Scope:
    """What can be read and assigned at a place."""

    numbers: list[Value] = field(default_factory=list)
    truths: list[Node] = field(default_factory=list)
    bits: list[Node] = field(default_factory=list)
    targets: list[Named] = field(default_factory=list)
    variables: list[Named] = field(default_factory=list)
    memories: list[Named] = field(default_factory=list)
    written: list[Named] = field(default_factory=list)
    tables: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    procedures: list[tuple[str, Kind]] = field(default_factory=list)  # how a call begins
    states: list[States] = field(default_factory=list)

    def copy(self) -> "Scope":
        """The same, to be added to."""
        return Scope(**{name: list(value) for name, value in vars(self).items()})

    def read(self, named: Named, *, signal: bool) -> None:
        """Add a signal or variable to what can be read."""
        if named.kind.truth:
            self.truths.append(Node.truth(named.name))
            if signal and not named.bare:
                self.bits.append(Node.truth(named.name))
        else:
            self.numbers.append(named_value(named.name, named.kind, signal=signal, bare=named.bare))
