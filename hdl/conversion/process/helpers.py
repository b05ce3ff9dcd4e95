"""Read helper functions at each of their calls, as if the call were their statements."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType, MethodType
from typing import Any

from myhdl import intbv

from merp.hdl.conversion.base.internals import AnySignal
from merp.hdl.conversion.process import build
from merp.hdl.conversion.process.assignments import kind_of
from merp.hdl.conversion.process.frame import (
    Frame,
    LocalFunction,
    Vector,
    frame_of,
    joined,
    outer_names,
)
from merp.hdl.conversion.process.loops import Loops
from merp.hdl.conversion.process.meaning import (
    Const,
    Element,
    EnumConst,
    Expr,
    Index,
    Local,
    Read,
    Statement,
    Variable,
    parts_of,
)
from merp.hdl.conversion.process.values import is_hardware

_DEEPEST = 32
"""Depth limit of helper calls; a deeper call is a recursion."""


class Helpers(Loops):
    """Reader of helper functions."""

    def _Return(self, node: ast.Return) -> tuple[list[Statement], bool]:
        frame = self.frame
        found: list[Statement] = []
        if node.value is not None and not (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            value = self.values.value(node.value)
            if isinstance(value, list | tuple):
                frame.refuse(node, "a function returns several values", "write one for each")
            if frame.result is None:
                frame.refuse(node, "a process returns a value", "assign a signal")
            found = self.store(frame.result, self.values.as_expr(node, value), kind_of(value))
        if self.loops and frame.done is not None:
            found += self.store(frame.done, build.const(True))
            self.returned.append(dict(self.state))
            found += self.leave()
        else:
            self.returned.append(dict(self.state))
        return found, False

    def inline(self, node: ast.Call, function: Any, arguments: Sequence[Any]) -> Any:
        """Return the value of a helper; its statements precede the statement that calls it."""
        bound: list[Any] = [*arguments]
        if isinstance(function, MethodType):
            bound, function = [function.__self__, *bound], function.__func__
        if self.depth >= _DEEPEST:
            self.frame.refuse(node, "a function calls itself", "write a loop")
        caller, outer_before = self.frame, self.before
        if isinstance(function, LocalFunction):
            frame = function.frame()
            if function.tree.args.defaults or function.tree.args.kw_defaults:
                self.frame.refuse(
                    node, "a default of a function within a process", "give the argument"
                )
        else:
            assert isinstance(function, FunctionType)
            frame = frame_of(caller.block, function.__code__, outer_names(function))
        self.adopt(frame)
        named = {str(each.arg): self.values.value(each.value) for each in node.keywords}
        given = self._arguments(node, function, frame, bound, named)
        kept, self.returned = self.returned, []
        loops, self.loops = self.loops, []
        self.depth += 1
        prologue: list[Statement] = []
        try:
            for name, value in given.items():
                prologue += self._bind(node, caller, frame, name, value)
            self.values.frame = frame
            nodes = without_docstring(frame.tree.body)
            returns = [
                each
                for each in ast.walk(frame.tree)
                if isinstance(each, ast.Return) and each.value is not None
            ]
            if len(returns) == 1 and nodes and nodes[-1] is returns[0]:
                return self._straight(outer_before, prologue, nodes, returns[0])
            if returns:
                frame.result = Variable(frame.tree.name)
            statements, goes_on = self.block(nodes)
            ends = [*self.returned, *([self.state] if goes_on else [])]
            state = joined(ends)
            if state is not None:
                self.state = state
            outer_before += [*prologue, *statements]
            if frame.result is None:
                return None
            if frame.result not in self.state:
                frame.refuse(
                    frame.tree,
                    f"{frame.tree.name} may return nothing",
                    "return a value on every path",
                )
            return self.values.of_variable(frame.result, self.state[frame.result])
        finally:
            self.depth -= 1
            self.values.frame = caller
            self.before = outer_before
            self.loops, self.returned = loops, kept

    def _straight(
        self,
        before: list[Statement],
        prologue: list[Statement],
        nodes: Sequence[ast.stmt],
        last: ast.Return,
    ) -> Any:
        """Return the value of a helper that only returns at its end; it needs no variable."""
        statements, _ = self.block(nodes[:-1])
        before += [*prologue, *statements]
        self.before = before
        assert last.value is not None
        return self.values.value(last.value)

    def _arguments(
        self,
        node: ast.Call,
        function: Any,
        frame: Frame,
        arguments: Sequence[Any],
        named: dict[str, Any],
    ) -> dict[str, Any]:
        names = [each.arg for each in (*frame.tree.args.posonlyargs, *frame.tree.args.args)]
        only = [each.arg for each in frame.tree.args.kwonlyargs]
        defaults = dict(
            zip(names[::-1], (getattr(function, "__defaults__", None) or ())[::-1], strict=False)
        )
        given = defaults | (getattr(function, "__kwdefaults__", None) or {})
        given |= dict(zip(names, arguments, strict=False)) | named
        missing = [each for each in (*names, *only) if each not in given]
        if missing or len(arguments) > len(names) or set(given) - {*names, *only}:
            self.frame.refuse(
                node,
                f"{frame.tree.name}() is called with other arguments than it has",
                "give each of them once",
            )
        return {each: given[each] for each in (*names, *only)}

    def _bind(
        self, node: ast.Call, caller: Frame, frame: Frame, name: str, value: Any
    ) -> list[Statement]:
        """Pass an argument to a helper: the object itself, or a copy of a value."""
        rebound = frame.stores[name] > 0
        changed = name in frame.changed
        if not rebound and not is_hardware(value) and not (changed and isinstance(value, intbv)):
            frame.bound[name] = value
            return []
        if isinstance(value, AnySignal | Element | list | tuple) and not rebound:
            frame.bound[name] = value
            return []
        if changed and isinstance(value, Vector) and isinstance(value.value, Local):
            if rebound and frame.stores[name]:
                self.frame.refuse(
                    node,
                    f"{name} is both changed in place and assigned",
                    "use another variable in the helper",
                )
            frame.variables[name] = value.value.variable
            return []
        found = self.values.as_expr(node, value)
        simple = isinstance(found, Const | Read | Index | EnumConst)
        if (
            not rebound
            and not changed
            and (simple or (_uses(frame.tree, name) <= 1 and not _has_local(found)))
        ):
            frame.bound[name] = value
            return []
        variable = frame.variables[name] = Variable(name)
        return self.store(variable, found, kind_of(value))


def _has_local(value: Expr) -> bool:
    """Return whether a value reads a variable, which may have another value later."""
    return any(isinstance(each, Local) for each in parts_of(value))


def _uses(tree: ast.AST, name: str) -> int:
    loops = any(isinstance(each, ast.For) for each in ast.walk(tree))
    uses = sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(tree))
    return uses * (2 if loops else 1)


def without_docstring(nodes: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Return the statements without their docstring."""
    first = nodes[0] if nodes else None
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return nodes[1:] if text else nodes
