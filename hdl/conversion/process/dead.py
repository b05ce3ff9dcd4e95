"""Remove assignments to variables that the next statements overwrite, such as ``v = intbv(0)[8:]``.

Python needs them to give a variable its type. In hardware the declaration does that. If only some
branches overwrite an assignment, it stays: it keeps a combinational process from having a latch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from merp.hdl.conversion.process import meaning as m
from merp.hdl.conversion.process.meaning import Variable


def alive(
    statements: Sequence[m.Statement], behind: Sequence[Sequence[m.Statement]] = ()
) -> list[m.Statement]:
    """Return the statements without assignments that have no effect.

    Args:
        statements: of a process or a branch.
        behind: the following statements, the next ones first.
    """
    found: list[m.Statement] = []
    for place, each in enumerate(statements):
        rest = (statements[place + 1 :], *behind)
        variable = _whole(each)
        if variable is not None and variable.initial is None and _is_gone(variable, rest):
            continue
        if not isinstance(each, m.For):  # the next round may follow in a body
            each = m.changed_inside(each, partial(alive, behind=rest))
        found.append(each)
    return found


def _whole(each: m.Statement) -> Variable | None:
    """Return the variable to which an assignment gives a new value."""
    if not isinstance(each, m.Assign) or not isinstance(each.target.base, m.Local):
        return None
    part = each.target.high is not None or each.target.index is not None
    return None if part else each.target.base.variable


def _is_gone(variable: Variable, lists: Sequence[Sequence[m.Statement]]) -> bool:
    """Return whether the first statement that names a variable overwrites it, or none names it."""
    for statements in lists:
        for each in statements:
            if isinstance(each, m.Break | m.Continue):
                return False
            if _whole(each) is variable and not _names(variable, m.values_of(each)):
                return True
            if _mentions(variable, each):
                return False
    return True


def _mentions(variable: Variable, each: m.Statement) -> bool:
    if _names(variable, m.values_of(each)):
        return True
    if isinstance(each, m.Assign):
        return isinstance(each.target.base, m.Local) and each.target.base.variable is variable
    return any(_mentions(variable, inner) for body in m.bodies_of(each) for inner in body)


def _names(variable: Variable, values: Sequence[m.Expr]) -> bool:
    return any(
        isinstance(part, m.Local) and part.variable is variable
        for value in values
        for part in m.parts_of(value)
    )
