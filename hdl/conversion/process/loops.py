"""Read loops: keep them, or unroll them if the variable must be a number."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from myhdl import downrange

from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.process import build
from merp.hdl.conversion.process.assignments import Assignments
from merp.hdl.conversion.process.frame import (
    MISSING,
    State,
    joined,
)
from merp.hdl.conversion.process.meaning import (
    NOTES,
    Assign,
    Break,
    Compare,
    Const,
    Continue,
    Expr,
    For,
    If,
    Index,
    Local,
    Logic,
    Not,
    Statement,
    Target,
    Variable,
)
from merp.hdl.conversion.process.ranges import BIT, Range
from merp.hdl.conversion.process.reading import LoopEnds
from merp.hdl.conversion.process.values import is_hardware

_LONGEST = 1 << 10
"""Largest number of rounds of an unrolled loop."""

_ROUNDS = 1 << 14
"""Largest number of iterations to find the ranges of a loop."""


class Loops(Assignments):
    """Reader of loops."""

    def _For(self, node: ast.For) -> tuple[list[Statement], bool]:
        if node.orelse:
            self.frame.refuse(node, "a for with an else", "keep a flag in a variable")
        if not isinstance(node.target, ast.Name):
            self.frame.refuse(node, "a loop over several variables", "loop over one index")
        values = self._values_of(node)
        if not len(values):
            return self._never(node, node.target.id, values), True
        prologue = self._may_return(node)
        kept = dict(self.state), dict(self.frame.bound), dict(self.frame.variables), [*self.loops]
        try:
            if isinstance(values, tuple):
                raise build.NeedsNumber
            found, goes_on = self._looped(node, node.target.id, values)
        except build.NeedsNumber:
            self.state, self.frame.bound, self.frame.variables, self.loops = kept
            found, goes_on = self._unrolled(node, node.target.id, values)
        return [*prologue, *found, *self._leave_too(node)], goes_on

    def _never(self, node: ast.For, name: str, values: Any) -> list[Statement]:
        """Read a loop without a round, which may have rounds in other configurations.

        It is omitted if its body has no meaning without a round. Signals that the body reads and
        drives do not count.
        """
        if not isinstance(values, range) or leaves(node):
            return []
        kept = dict(self.state), dict(self.frame.bound), dict(self.frame.variables), [*self.loops]
        notes = {each: dict(getattr(self.meaning, each)) for each in NOTES}
        try:
            found, _ = self._looped(node, name, range(values.start, values.start + 1))
        except (build.NeedsNumber, ExportError):
            return []
        finally:
            self.state, self.frame.bound, self.frame.variables, self.loops = kept
            for each, before in notes.items():
                setattr(self.meaning, each, before)
        (loop,) = found
        assert isinstance(loop, For)
        return [replace(loop, step=1 if values.step > 0 else -1, count=0)]

    def _may_return(self, node: ast.For | ast.While) -> list[Statement]:
        """Make a flag for a loop from which a function returns."""
        if not returns(node):
            return []
        if self.frame.done is None:
            self.frame.done = Variable(f"{self.frame.tree.name}_done")
        return self.store(self.frame.done, build.const(False))

    def _leave_too(self, node: ast.For | ast.While) -> list[Statement]:
        """Leave the surrounding loop after a loop from which a function has returned."""
        if self.frame.done is None or not returns(node) or not self.loops:
            return []
        state = dict(self.state)
        statements = self.leave()
        self.state = state
        return [If(((Local(self.frame.done, is_bool=True), statements),), ())]

    def leave(self) -> list[Statement]:
        """Leave the innermost loop, by a flag if it is unrolled."""
        loop = self.loops[-1]
        found: list[Statement] = [Break()]
        if loop.left is not None and loop.skips is not None:
            found = [
                *self.store(loop.left, build.const(True)),
                *self.store(loop.skips, build.const(True)),
            ]
        loop.breaks.append(dict(self.state))
        return found

    def _Break(self, node: ast.Break) -> tuple[list[Statement], bool]:
        return self.leave(), False

    def _Continue(self, node: ast.Continue) -> tuple[list[Statement], bool]:
        loop = self.loops[-1]
        found: list[Statement] = [Continue()]
        if loop.skips is not None:
            found = self.store(loop.skips, build.const(True))
        loop.continues.append(dict(self.state))
        return found, False

    def _looped(self, node: ast.For, name: str, values: range) -> tuple[list[Statement], bool]:
        """Read a loop that remains a loop."""
        whole = Range(min(values[0], values[-1]), max(values[0], values[-1]))
        variable = Variable(name, whole, False)
        before = self.frame.bound.get(name, MISSING)
        self.frame.bound[name] = Index(variable, range=whole)
        shadowed = self.frame.variables.pop(name, None)
        state = self._settled(node.body, len(values))
        self.state = dict(state)
        loop = LoopEnds()
        self.loops.append(loop)
        body, goes_on = self.block(node.body)
        self.loops.pop()
        self._unbind(name, before, shadowed)
        ends = [*loop.breaks, *loop.continues, *([self.state] if goes_on else [])]
        found = joined(ends)
        self.state = found if found is not None else state
        return [For(variable, values[0], values.step, len(values), body)], found is not None

    def _unbind(self, name: str, before: Any, shadowed: Variable | None) -> None:
        """Restore the meaning that the name of a loop's variable had before the loop."""
        self.frame.bound.pop(name, None)
        if before is not MISSING:
            self.frame.bound[name] = before
        if shadowed is not None:
            self.frame.variables[name] = shadowed

    def _settled(self, nodes: Sequence[ast.stmt], count: int) -> State:
        """Return the state at the head of a loop that holds in every round."""
        head = dict(self.state)
        for _ in range(min(count - 1, _ROUNDS)):
            self.state = dict(head)
            loop = LoopEnds()
            self.loops.append(loop)
            _, goes_on = self.block(nodes)
            self.loops.pop()
            ends = [head, *loop.continues, *([self.state] if goes_on else [])]
            wider = joined(ends)
            assert wider is not None
            if wider == head:
                break
            if any(known.range.width > build.MOST for known in wider.values()):
                raise build.TooWide
            head = wider
        return head

    def _values_of(self, node: ast.For) -> Any:
        """Return the values of a loop: a range, or a tuple of objects."""
        call = node.iter
        if isinstance(call, ast.Call):
            function = self.values.value(call.func)
            if function in (range, downrange):
                bounds = [self.values.value(each) for each in call.args]
                if any(isinstance(each, Expr) and build.is_counted(each) for each in bounds):
                    raise build.NeedsNumber
                if any(map(is_hardware, bounds)):
                    self.frame.refuse(
                        node,
                        "the bound of a loop changes while the hardware runs",
                        "loop to the largest bound and test in the body",
                    )
                if function is downrange:
                    high, low, step = (*map(int, bounds), *(0, 1)[len(bounds) - 1 :])[:3]
                    return range(high - 1, low - 1, -step)
                return range(*map(int, bounds))
        found = self.values.value(node.iter)
        if isinstance(found, range):
            return found
        if isinstance(found, list | tuple):
            return tuple(found)
        self.frame.refuse(node, "a loop over an object that is no range", "loop over range(...)")

    def _unrolled(
        self, node: ast.For, name: str, values: Iterable[Any]
    ) -> tuple[list[Statement], bool]:
        """Repeat the body for each value or object."""
        shadowed = self.frame.variables.pop(name, None)
        before = self.frame.bound.get(name, MISSING)

        def rounds() -> Iterator[None]:
            for each in values:
                self.frame.bound[name] = each
                yield None

        found = self._rounds(node.body, rounds())
        self._unbind(name, before, shadowed)
        return found

    def _rounds(
        self, nodes: Sequence[ast.stmt], rounds: Iterable[Expr | None]
    ) -> tuple[list[Statement], bool]:
        """Repeat a body.

        Args:
            nodes: the body.
            rounds: the test at the beginning of each round, or None. Statements before the test are
                in
                ``before``.
        """
        is_left = any(leaves(node) for node in nodes)
        left, skips = Variable("left"), Variable("skips")
        found: list[Statement] = []
        outs: list[State] = []
        guarded = False
        for test in rounds:
            tested, self.before = self.before, []
            loop = LoopEnds(left, skips) if is_left or test is not None else LoopEnds()
            if not found and loop.left is not None:
                found += self.store(left, build.const(False))
            if test is not None:
                outs.append(dict(self.state))
            self.loops.append(loop)
            body = self.store(skips, build.const(False)) if is_left else []
            statements, goes_on = self.block(nodes)
            self.loops.pop()
            body += statements
            if test is not None:
                leave = Assign(Target(Local(left, range=BIT)), build.const(True))
                body = [If(((test, body),), [leave])]
            body = [*tested, *body]
            if guarded:
                body = [If(((build.negated(Local(left, is_bool=True)), body),), ())]
            found += body
            guarded = guarded or loop.left is not None
            outs += loop.breaks
            state = joined([*loop.continues, *([self.state] if goes_on else [])])
            if state is None:
                final = joined(outs)
                self.state = final if final is not None else self.state
                return found, final is not None
            self.state = state
        final = joined([*outs, self.state])
        assert final is not None
        self.state = final
        return found, True

    def _While(self, node: ast.While) -> tuple[list[Statement], bool]:
        if node.orelse:
            self.frame.refuse(node, "a while with an else", "keep a flag in a variable")
        prologue = self._may_return(node)

        def rounds() -> Iterator[Expr | None]:
            for _ in range(_LONGEST):
                self.before = []
                test = self.values.condition(node.test)
                known = truth_of(test)
                if known is False:
                    return
                yield None if known else test
            self.frame.refuse(
                node,
                "a while loop without a fixed number of rounds",
                "write for ... in range(most) and break",
            )

        outside, self.before = self.before, []
        try:
            found, goes_on = self._rounds(node.body, rounds())
        finally:
            self.before = outside
        return [*prologue, *found, *self._leave_too(node)], goes_on


def truth_of(test: Expr) -> bool | None:
    """Return the result of a condition if it is the same for all values, or None."""
    if isinstance(test, Const):
        return bool(test.value)
    if isinstance(test, Compare):
        return build.decided(test.op, test.left.range, test.right.range)
    if isinstance(test, Not):
        inner = truth_of(test.operand)
        return None if inner is None else not inner
    if isinstance(test, Logic):
        found = [truth_of(each) for each in test.operands]
        deciding = test.op == "or"
        if deciding in found:
            return deciding
        return None if None in found else not deciding
    if isinstance(test, Local) and test.range.low == test.range.high:
        return bool(test.range.low)
    return None


def returns(node: ast.AST) -> bool:
    """Return whether a statement contains a return."""
    return any(isinstance(each, ast.Return) for each in ast.walk(node))


def leaves(node: ast.AST) -> bool:
    """Return whether a statement leaves the surrounding loop, or ends its round."""
    if isinstance(node, ast.Break | ast.Continue | ast.Return):
        return True
    if isinstance(node, ast.For | ast.While | ast.FunctionDef):
        return returns(node)
    return any(leaves(each) for each in ast.iter_child_nodes(node))
