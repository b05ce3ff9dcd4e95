"""Read the source of a process with Python's semantics.

The reader follows the statements as Python would. At each of them it knows the range of each
variable. It repeats a loop until the ranges do not change. It reads helper functions at each call,
as if the call were their statements.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from merp.hdl.conversion.base.internals import literal_name
from merp.hdl.conversion.process import build
from merp.hdl.conversion.process.frame import (
    LocalFunction,
    State,
    joined,
)
from merp.hdl.conversion.process.helpers import Helpers
from merp.hdl.conversion.process.loops import leaves, returns
from merp.hdl.conversion.process.meaning import (
    Case,
    Compare,
    Const,
    EnumConst,
    Expr,
    If,
    Local,
    Logic,
    Read,
    Statement,
    Variable,
)
from merp.hdl.conversion.process.values import is_hardware

_Way = tuple[Callable[[], Expr], Sequence[ast.stmt]]
"""A branch: a function for its test, and its statements."""


class Reader(Helpers):
    """Reader of one process; ``meaning`` is the result."""

    def block(self, nodes: Sequence[ast.stmt]) -> tuple[list[Statement], bool]:
        """Read statements; return them, and whether the following statements are reached."""
        found: list[Statement] = []
        for place, node in enumerate(nodes):
            if isinstance(node, ast.If | ast.Match) and returns(node):
                found += self._branches(node, nodes[place + 1 :])
                return found, self._reached
            statements, goes_on = self.statement(node)
            found += statements
            if not goes_on:
                return found, False
            guard = self._guard(node)
            if guard is not None:
                rest, goes_on = self.block(nodes[place + 1 :])
                if rest:
                    found.append(If(((build.negated(Local(guard, is_bool=True)), rest),), ()))
                return found, goes_on
        return found, True

    def _guard(self, node: ast.stmt) -> Variable | None:
        """Return the flag that skips the statements after this one; None if nothing skips them."""
        if isinstance(node, ast.For | ast.While):
            return self.frame.done if returns(node) else None
        loop = self.loops[-1] if self.loops else None
        if loop is None or loop.skips is None or not isinstance(node, ast.If | ast.Match):
            return None
        return loop.skips if leaves(node) else None

    def statement(self, node: ast.stmt) -> tuple[list[Statement], bool]:
        """Read one statement and its computations; return whether the next one is reached."""
        outside, self.before = self.before, []
        try:
            method = getattr(self, f"_{type(node).__name__}", None)
            if method is None:
                kind = type(node).__name__
                self.frame.refuse(
                    node,
                    f"a {kind} statement has no hardware",
                    "use assignments, if, match, for and helper functions",
                )
            try:
                statements, goes_on = method(node)
            except build.TooWide:
                self.frame.refuse(
                    node, "no finite range follows for a value", "keep it in an intbv with bounds"
                )
            return [*self.before, *statements], goes_on
        finally:
            self.before = outside

    def _FunctionDef(self, node: ast.FunctionDef) -> tuple[list[Statement], bool]:
        self.frame.bound[node.name] = LocalFunction(node, self.frame)
        return [], True

    def _Pass(self, node: ast.Pass) -> tuple[list[Statement], bool]:
        return [], True

    def _Assert(self, node: ast.Assert) -> tuple[list[Statement], bool]:
        return [], True

    def _Import(self, node: ast.Import) -> tuple[list[Statement], bool]:
        for each in node.names:
            found = self.values.computed(node, partial(import_module, each.name))
            name = each.asname or each.name.partition(".")[0]
            self.frame.bound[name] = found if each.asname else sys.modules[name]
        return [], True

    def _ImportFrom(self, node: ast.ImportFrom) -> tuple[list[Statement], bool]:
        if node.level or any(each.name == "*" for each in node.names):
            self.frame.refuse(
                node, "an import of no fixed name", "import it at the top of the file"
            )
        module = self.values.computed(node, partial(import_module, str(node.module)))
        for each in node.names:
            value = self.values.computed(node, partial(getattr, module, each.name))
            self.frame.bound[each.asname or each.name] = value
        return [], True

    def _Raise(self, node: ast.Raise) -> tuple[list[Statement], bool]:
        """End a branch: a simulation stops there, so the behaviour of the hardware is free."""
        if node.exc is not None and "StopSimulation" in ast.unparse(node.exc):
            self.frame.refuse(node, "a process ends the simulation", "end it in the bench")
        if node in self.frame.tree.body:
            self.frame.refuse(node, "an error is always raised", "raise it under an if")
        return [], False

    def _Nonlocal(self, node: ast.Nonlocal) -> tuple[list[Statement], bool]:
        self.frame.refuse(
            node,
            "a nonlocal variable keeps its value between runs",
            "use a signal, or an intbv that is changed in place",
        )

    def _Expr(self, node: ast.Expr) -> tuple[list[Statement], bool]:
        if isinstance(node.value, ast.Constant):
            return [], True
        if isinstance(node.value, ast.Yield):
            self.frame.refuse(
                node,
                "a process waits in one place only",
                "begin the loop with its yield and have no other",
            )
        if not isinstance(node.value, ast.Call):
            self.frame.refuse(node, "a statement without effect", "assign the value")
        self.values.value(node.value)
        return [], True

    def _If(self, node: ast.If) -> tuple[list[Statement], bool]:
        return self._branches(node, ()), self._reached

    def _Match(self, node: ast.Match) -> tuple[list[Statement], bool]:
        return self._branches(node, ()), self._reached

    _reached = True

    def _branches(self, node: ast.If | ast.Match, rest: Sequence[ast.stmt]) -> list[Statement]:
        """Return a chain of branches, each followed by ``rest`` if its end is reached."""
        ways = self._ways_of_if(node) if isinstance(node, ast.If) else self._ways_of_match(node)
        ends: list[State] = []
        found = self._chain([*ways, (_true, ())], rest, ends)
        state = joined(ends)
        self._reached = state is not None
        if state is not None:
            self.state = state
        return found

    def _chain(
        self, ways: list[_Way], rest: Sequence[ast.stmt], ends: list[State]
    ) -> list[Statement]:
        """Return branches by their tests; computations for a test precede it."""
        branches: list[tuple[Expr, list[Statement]]] = []
        prologue: list[Statement] = []
        for place, (test_of, nodes) in enumerate(ways):
            outside, self.before = self.before, []
            try:
                test = test_of()
                hoisted = self.before
            finally:
                self.before = outside
            start = dict(self.state)
            if hoisted and branches:
                known = partial(build.truth, test)
                others = self._chain([(known, nodes), *ways[place + 1 :]], rest, ends)
                return [*prologue, _chain(branches, [*hoisted, *others])]
            prologue += hoisted
            if isinstance(test, Const) and not test.value:
                continue
            body, goes_on = self.block([*nodes, *rest])
            if goes_on:
                ends.append(self.state)
            self.state = start
            if isinstance(test, Const):
                return [*prologue, *([_chain(branches, body)] if branches else body)]
            branches.append((test, body))
        raise AssertionError("the last way has no test")

    def _ways_of_if(self, node: ast.If) -> list[_Way]:
        """Return tests and bodies of a chain."""
        condition = self.values.condition
        found = _ways_of_if(node)
        ways: list[_Way] = [(partial(condition, test), body) for test, body in found]
        last = found[-1][0] if found else None
        is_whole = isinstance(last, ast.Constant) and bool(last.value)
        return self._without_errors(ways, is_whole)

    def _ways_of_match(self, node: ast.Match) -> list[_Way]:
        subject = self.values.value(node.subject)
        ways: list[_Way] = [
            (partial(self._matches, case, subject), case.body) for case in node.cases
        ]
        return self._without_errors(ways, _takes_all(node.cases[-1]))

    def _without_errors(self, ways: list[_Way], is_whole: bool) -> list[_Way]:
        """Return the branches without those that only raise an error.

        A simulation ends there. If the last one of them covers all remaining cases (``is_whole``),
        the
        branch before it needs no test. With the test there would be latches for signals that the
        others
        assign.
        """
        kept: list[_Way] = []
        raises = False
        for way in ways:
            raises = len(way[1]) == 1 and isinstance(way[1][0], ast.Raise)
            if raises:
                self.statement(way[1][0])  # it may be refused
            else:
                kept.append(way)
        if is_whole and kept and raises:
            kept[-1] = (_true, kept[-1][1])
        return kept

    def _matches(self, case: ast.match_case, subject: Any) -> Expr:
        found = self._pattern(case.pattern, subject)
        if case.guard is not None:
            found = build.logic("and", [found, self.values.condition(case.guard)])
        return found

    def _pattern(self, pattern: ast.pattern, subject: Any) -> Expr:
        if isinstance(pattern, ast.MatchOr):
            return build.logic("or", [self._pattern(each, subject) for each in pattern.patterns])
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
            return build.const(True)
        if isinstance(pattern, ast.MatchValue | ast.MatchSingleton):
            value = pattern.value
            wanted = self.values.value(value) if isinstance(value, ast.expr) else value
            if not is_hardware(subject) and not is_hardware(wanted):
                return build.const(bool(subject == wanted))
            return build.compare(
                "==", self.values.as_expr(pattern, subject), self.values.as_expr(pattern, wanted)
            )
        self.frame.refuse(
            pattern, "a pattern that is no constant", "match numbers, members of an enum and _"
        )


def _true() -> Expr:
    return build.const(True)


def _takes_all(case: ast.match_case) -> bool:
    """Return whether a case is ``case _``."""
    pattern = case.pattern
    named = isinstance(pattern, ast.MatchAs) and (pattern.pattern or pattern.name)
    return isinstance(pattern, ast.MatchAs) and not named and case.guard is None


def _ways_of_if(node: ast.If) -> list[tuple[ast.expr, Sequence[ast.stmt]]]:
    """Return tests and bodies of a chain, without parts under ``__debug__``, as in MyHDL."""
    found: list[tuple[ast.expr, Sequence[ast.stmt]]] = []
    rest: Sequence[ast.stmt] = [node]
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        each = rest[0]
        if not (isinstance(each.test, ast.Name) and each.test.id == "__debug__"):
            found.append((each.test, each.body))
        rest = each.orelse
    if rest:
        found.append((ast.copy_location(ast.Constant(True), node), rest))
    return found


def _chain(branches: list[tuple[Expr, list[Statement]]], otherwise: list[Statement]) -> Statement:
    """Return branches as a case if each test compares one subject with other constants."""
    labelled = [_labels(test) for test, _ in branches]
    subjects = {subject for subject, *_ in labelled}
    keys = [key for _, found, _ in labelled for key in found]
    one = len(subjects) == 1 and None not in subjects and len(set(keys)) == len(keys)
    if not one or len(branches) < 2:
        return If(tuple(branches), otherwise)
    cases = [
        (tuple(found.values()), body)
        for (_, found, _), (_, body) in zip(labelled, branches, strict=True)
    ]
    first = labelled[0][2]
    assert first is not None
    return Case(first, tuple(cases), otherwise)


def _labels(test: Expr) -> tuple[int | None, dict[object, Expr], Expr | None]:
    """Return identity of the subject, constants by key, and subject of ``x == 1 or x == 2``.

    The identity is None if the test is not such a comparison, or is a comparison of a bool.
    """
    nothing: tuple[int | None, dict[object, Expr], Expr | None] = (None, {}, None)
    tests = test.operands if isinstance(test, Logic) and test.op == "or" else (test,)
    subjects: dict[int, Expr] = {}
    found: dict[object, Expr] = {}
    for each in tests:
        if not isinstance(each, Compare) or each.op != "==" or each.left.is_bool:
            return nothing
        left, right = each.left, each.right
        if isinstance(left, Read):
            subjects[id(left.signal)] = left
        elif isinstance(left, Local):
            subjects[id(left.variable)] = left
        else:
            return nothing
        if isinstance(right, EnumConst):
            found[literal_name(right.item)] = right
        elif isinstance(right, Const):
            found[right.value] = right
        else:
            return nothing
    if len(subjects) != 1 or len(found) != len(tests):
        return nothing
    ((identity, subject),) = subjects.items()
    return identity, found, subject
