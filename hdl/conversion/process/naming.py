"""Name the local objects of processes: variables, tables, loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from merp.hdl.conversion.base.names import Names
from merp.hdl.conversion.process import bits
from merp.hdl.conversion.process.meaning import Table, Variable
from merp.hdl.conversion.process.ranges import Range
from merp.hdl.conversion.process.sizing import Sized


@dataclass(frozen=True)
class TableText:
    """A table of an entity.

    Attributes:
        name: in the text.
        values: extended with the last one to the full range of the index.
        range: of the values.
        index_width: bits of an index.
    """

    name: str
    values: tuple[int, ...]
    range: Range
    index_width: int


@dataclass
class LocalNames:
    """Names within one process.

    Attributes:
        variables: of the process.
        loops: variables of its loops.
        names: more of them.
        printed: the name of each.
    """

    variables: list[Variable]
    loops: list[Variable]
    names: Names
    printed: dict[Variable, str] = field(default_factory=dict)


def local_names(process: Sized, names: Names) -> LocalNames:
    """Name the variables of a process; they hide no name of the entity."""
    inside = names.inside()
    used = _used(process.statements)
    variables = [each for each in process.variables if each in used]
    loops = list(dict.fromkeys(_loops(process.statements)))
    printed = {each: inside.unique(each.name) for each in variables}
    _name_loops(process.statements, inside, printed, {}, ())
    return LocalNames(variables, loops, inside, printed)


def _name_loops(
    statements: Sequence[bits.Statement],
    names: Names,
    printed: dict[Variable, str],
    known: dict[str, list[str]],
    around: tuple[str, ...],
) -> None:
    """Name the variables of loops; consecutive loops may share a name."""
    for each in statements:
        inner = around
        if isinstance(each, bits.Loop):
            variable = each.variable
            if variable not in printed:
                of_name = known.setdefault(variable.name, [])
                free = [name for name in of_name if name not in around]
                if not free:
                    free = [names.unique(variable.name)]
                    of_name += free
                printed[variable] = free[0]
            inner = (*around, printed[variable])
        for body in bodies(each):
            _name_loops(body, names, printed, known, inner)


def _loops(statements: Sequence[bits.Statement]) -> Iterator[Variable]:
    for each in statements:
        if isinstance(each, bits.Loop):
            yield each.variable
        for body in bodies(each):
            yield from _loops(body)


def _used(statements: Sequence[bits.Statement]) -> set[Variable]:
    """Return the variables that are assigned."""
    found: set[Variable] = set()
    for each in statements:
        if isinstance(each, bits.Assignment) and isinstance(each.target.place.what, Variable):
            found.add(each.target.place.what)
        for body in bodies(each):
            found |= _used(body)
    return found


def bodies(each: bits.Statement) -> list[Sequence[bits.Statement]]:
    """Return the statements inside of a statement."""
    if isinstance(each, bits.Branches | bits.Selection):
        return [*(body for _, body in each.branches), each.otherwise]
    return [each.body] if isinstance(each, bits.Loop) else []


def tables_of(processes: Iterable[Sized], names: Names) -> tuple[list[TableText], dict[Table, str]]:
    """Return the tables of an entity, equal ones once, and the name of each."""
    tables = [table for process in processes for table in process.tables]
    known: dict[tuple[int, ...], TableText] = {}
    for table in tables:
        values, width = table.values, table.index_width
        if values not in known:
            filled = (*values, *(values[-1:] * ((1 << width) - len(values))))
            bounds = Range(min(values), max(values))
            known[values] = TableText(names.unique(table.name, "table"), filled, bounds, width)
    return list(known.values()), {table: known[table.values].name for table in tables}
