"""Find out whether a combinational process reads a signal before it assigns it."""

from __future__ import annotations

from collections.abc import Sequence

from merp.hdl.conversion.process import meaning as m
from merp.hdl.conversion.process.meaning import Expr, Meaning


def reads_ahead(meaning: Meaning) -> bool:
    """Return whether a signal is read before every path of the process has assigned all of it.

    Such a process needs another run to see its own result. Any other process gives the same values
    with immediate assignments of signals.
    """
    driven = set(meaning.drives) | set(meaning.memories_driven)
    if not driven & {*meaning.reads, *meaning.memories_read}:
        return False
    return _ahead(meaning.statements, set(), driven)


def _ahead(statements: Sequence[m.Statement], assigned: set[int], driven: set[int]) -> bool:
    """Do the same for some statements, and add the signals that they assign to ``assigned``."""
    for each in statements:
        if any(_reads(value) & driven - assigned for value in m.values_of(each)):
            return True
        if isinstance(each, m.Assign):
            whole = each.target.high is None and each.target.index is None
            if whole and isinstance(each.target.base, m.Read):
                assigned.add(id(each.target.base.signal))
        elif isinstance(each, m.If | m.Case):
            ends = []
            for body in (*(body for _, body in each.branches), each.otherwise):
                end = set(assigned)
                if _ahead(body, end, driven):
                    return True
                ends.append(end)
            assigned |= set.intersection(*ends)
        elif isinstance(each, m.For) and _ahead(each.body, set(assigned), driven):
            return True
    return False


def _reads(value: Expr) -> set[int]:
    """Return the signals and lists that an expression reads, by ``id``."""
    found = {id(each.signal) for each in m.parts_of(value) if isinstance(each, m.Read)}
    return found | {id(each.memory) for each in m.parts_of(value) if isinstance(each, m.Element)}
