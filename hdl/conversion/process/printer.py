"""Common parts of the printers of both languages: places, and the order of statements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from merp.hdl.conversion.base.internals import AnySignal, name_of
from merp.hdl.conversion.process import bits
from merp.hdl.conversion.process.meaning import Table, Variable

_STEP = "    "

MemberNames = Callable[[object], str]


class Printer(ABC):
    """Printer of the statements of one process.

    Args:
        variables: names of variables.
        tables: names of tables.
        members: names of members of enumerations.
    """

    element: str
    """The notation for an element of a list: its name and the index."""

    empty: tuple[str, ...] = ()
    """The text for no statement."""

    def __init__(
        self,
        variables: dict[Variable, str],
        tables: dict[Table, str],
        members: MemberNames,
    ) -> None:
        self.variables, self.tables, self.members = variables, tables, members

    def place(self, place: bits.Place) -> str:
        """Print a signal, a variable, or an element of a list."""
        what = place.what
        if isinstance(what, Variable):
            return self.variables[what]
        if isinstance(what, AnySignal):
            return str(name_of(what))
        assert place.index is not None
        return self.element % (what.name, self.index(place.index))

    def index(self, index: int | bits.Integer | bits.Vector) -> str:
        """Print the content of the parentheses of an index."""
        if isinstance(index, int):
            return str(index)
        return self.count(index)

    @abstractmethod
    def count(self, value: bits.Integer | bits.Vector) -> str:
        """Print a vector, or an expression of loop variables, as an index."""

    def statements(self, statements: Sequence[bits.Statement]) -> list[str]:
        """Print the lines of statements."""
        found: list[str] = []
        for each in statements:
            if isinstance(each, bits.Assignment):
                found.append(self.assignment(each))
            elif isinstance(each, bits.Branches):
                found += self.branches(each)
            elif isinstance(each, bits.Selection):
                found += self.selection(each)
            elif isinstance(each, bits.Loop):
                found += self.loop(each)
            else:
                found.append(self.leave(each))
        return found or [*self.empty]

    @abstractmethod
    def assignment(self, each: bits.Assignment) -> str:
        """An assignment."""

    @abstractmethod
    def branches(self, each: bits.Branches) -> list[str]:
        """An if."""

    @abstractmethod
    def selection(self, each: bits.Selection) -> list[str]:
        """A case."""

    @abstractmethod
    def loop(self, each: bits.Loop) -> list[str]:
        """A loop."""

    @abstractmethod
    def leave(self, each: bits.Leave) -> str:
        """Print the end of a loop, or of one of its rounds."""


def chain(
    each: bits.Branches,
) -> tuple[list[tuple[bits.Flag, Sequence[bits.Statement]]], Sequence[bits.Statement]]:
    """Return the branches of an if and of a nested if alone under its else; the last else."""
    found: list[tuple[bits.Flag, Sequence[bits.Statement]]] = []
    otherwise: Sequence[bits.Statement] = [each]
    while len(otherwise) == 1 and isinstance(otherwise[0], bits.Branches):
        found += otherwise[0].branches
        otherwise = otherwise[0].otherwise
    return found, otherwise


def cases(
    each: bits.Selection,
) -> tuple[
    list[tuple[tuple[bits.Literal | bits.MemberConst, ...], Sequence[bits.Statement]]],
    Sequence[bits.Statement],
]:
    """Return the branches of a case, and the statements for all other values: if full, the last."""
    branches = list(each.branches)
    if each.is_full:
        return branches[:-1], branches[-1][1]
    return branches, each.otherwise


def indented(lines: Sequence[str], steps: int = 1) -> list[str]:
    """Indent lines further."""
    return [f"{_STEP * steps}{line}" for line in lines]
