"""Rewrite the syntax tree of a process: inline code replaces method calls on signals."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from copy import copy
from typing import Any, TypeVar

from merp.hdl.fast_simulation import _quick_names
from merp.hdl.fast_simulation._quick_names import FreeNames
from merp.hdl.fast_simulation.quick_signals import (
    NEXT,
    NOW,
    NUMBER,
    SignalKind,
    ones,
    signal_kind,
)

_STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.If, ast.For, ast.While, ast.Expr, ast.Pass, ast.Break,
    ast.Continue, ast.Return, ast.Assert,
)  # fmt: skip
_SCOPES = (
    ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr,
    ast.Await, ast.Yield, ast.YieldFrom,
)  # fmt: skip
_SUMS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_ORDERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)

_VALUE, _TARGET = ".value", ".target"
"""Variables of a rewritten process; no name in a source can equal them."""

_Node = TypeVar("_Node", bound=ast.AST)


def rewritten(function: ast.FunctionDef, names: FreeNames) -> bool:
    """Rewrite the body of a process; return False if it holds an unsupported statement."""
    if not all(_is_known(node) for each in function.body for node in ast.walk(each)):
        return False
    numbers = _Numbers(names)
    numbers.find_variables(function)
    function.body = list(_Statements(numbers).all(function.body))
    return True


def _is_known(node: ast.AST) -> bool:
    if isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        return not name.startswith("__")  # a class might redefine it
    if isinstance(node, ast.stmt):
        return isinstance(node, _STATEMENTS)
    return not isinstance(node, _SCOPES)


def _at(new: _Node, old: ast.AST) -> _Node:
    """Return ``new``, with all its new nodes at the source position of ``old``."""
    for node in ast.walk(new):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            ast.copy_location(node, old)
    return new


class _Numbers:
    """Expressions as plain integers.

    There are three kinds of contexts, each less strict than the one before. ``exact`` keeps the
    value and the type of the expression. ``number`` returns an integer of the same value in place
    of a signal or an intbv. ``truth`` keeps only the truth value.
    """

    def __init__(self, names: FreeNames) -> None:
        self._names = names
        self._variables: set[str] = set()

    def find_variables(self, function: ast.FunctionDef) -> None:
        """Find the variables that hold plain integers from all of their assignments."""
        stored = [
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        ]
        bound = [each for node in ast.walk(function) for each in _bound(node)]
        counted = Counter(name for name, _ in bound)
        self._variables = {name for name in stored if counted[name] == stored.count(name)}
        wrong = self._variables
        while wrong:
            wrong = {
                name
                for name, value in bound
                if name in self._variables and not self._gives_number(value)
            }
            self._variables -= wrong

    def _gives_number(self, source: ast.expr | ast.For) -> bool:
        if isinstance(source, ast.For):
            return self._calls(source.iter, "range")
        return self.exact(source) is not None

    def _calls(self, node: ast.expr, *functions: str) -> bool:
        return (
            isinstance(node, ast.Call)
            and not node.keywords
            and self._names.ask(_quick_names.builtin, node.func) in functions
        )

    # Signals

    def signal(self, node: ast.expr) -> tuple[SignalKind, ast.expr] | None:
        """Return the kind of the signal that an expression denotes, and the expression."""
        if isinstance(node, ast.Name | ast.Attribute):
            kind = self._names.ask(signal_kind, node)
            return kind and (kind, node)
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            kind = self._names.ask(_quick_names.element_kind, node.value)
            index = kind and self.number(node.slice)
            if index:
                return kind, ast.Subscript(node.value, index, ast.Load())
        return None

    def held(self, node: ast.expr) -> ast.expr | None:
        """Return the integer that the intbv of a signal holds; None if there is no such signal."""
        found = self.signal(node)
        if found is None or not found[0].word:
            return None
        return _value_of(*found, NOW)

    # Contexts

    def truth(self, node: ast.expr) -> ast.expr:
        """Return an expression with the truth value of ``node``."""
        if isinstance(node, ast.BoolOp):
            return _at(ast.BoolOp(node.op, [self.truth(each) for each in node.values]), node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return _at(ast.UnaryOp(node.op, self.truth(node.operand)), node)
        found = self._bit(node) or self.number(node) or self.same(node)
        return _at(found, node)

    def number(self, node: ast.expr) -> ast.expr | None:
        """Return an integer expression with the value of ``node``; None if it may be no integer."""
        found = self.exact(node)
        if found is None:
            signal = self.signal(node)
            if signal is not None:
                found = _value_of(*signal, NOW)
            else:
                found = self._part(node) or self._composed(node, self.number)
        return found and _at(found, node)

    def exact(self, node: ast.expr) -> ast.expr | None:
        """Return an integer or bool with the value of ``node``; None if it may be neither."""
        found: ast.expr | None = None
        if isinstance(node, ast.Constant):
            found = node if _quick_names.is_number(node.value) else None
        elif isinstance(node, ast.Name) and node.id in self._variables:
            found = node
        elif isinstance(node, ast.Name | ast.Attribute):
            found = node if self._names.ask(_quick_names.is_number, node) else None
        elif isinstance(node, ast.Subscript):
            found = self._exact_element(node)
        elif isinstance(node, ast.Compare):
            found = self._order(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found = ast.UnaryOp(node.op, self.truth(node.operand))
        elif isinstance(node, ast.Call):
            found = self._call(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, _SUMS):
            found = self._binary(node, self.number)  # sums of MyHDL are plain integers
        else:
            found = self._composed(node, self.exact)
        return found and _at(found, node)

    # Expressions

    def _exact_element(self, node: ast.Subscript) -> ast.expr | None:
        bit = self._bit(node)
        if bit is not None:
            return ast.Compare(bit, [ast.NotEq()], [ast.Constant(0)])
        if not isinstance(node.slice, ast.Slice) and self._names.ask(
            _quick_names.is_table, node.value
        ):
            index = self.number(node.slice)
            return index and ast.Subscript(node.value, index, ast.Load())
        return None

    def _bit(self, node: ast.expr) -> ast.expr | None:
        """Return a bit of a word, 1 or 0."""
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
            return None
        word = self.held(node.value)
        index = word and self.number(node.slice)
        if not word or not index:
            return None
        shifted = ast.BinOp(word, ast.RShift(), index)
        return ast.BinOp(shifted, ast.BitAnd(), ast.Constant(1))

    def _part(self, node: ast.expr) -> ast.expr | None:
        """Return a slice of a word."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
            return None
        word = self.held(node.value)
        high, low = node.slice.lower, node.slice.upper  # order of MyHDL
        if word is None or node.slice.step is not None:
            return None
        first = 0 if low is None else self.constant(low)
        if first is None or first < 0:
            return None
        shifted = ast.BinOp(word, ast.RShift(), ast.Constant(first)) if first else word
        if high is None:
            return shifted
        end = self.constant(high)
        if end is None or end <= first:
            return None
        return ast.BinOp(shifted, ast.BitAnd(), ast.Constant((1 << end - first) - 1))

    def constant(self, node: ast.expr) -> int | None:
        """Return the value of an expression of constants of the block."""
        if isinstance(node, ast.Constant):
            return _quick_names.number(node.value)
        if isinstance(node, ast.Name | ast.Attribute):
            value: int | None = self._names.ask(_quick_names.number, node)
            return value
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
            left, right = self.constant(node.left), self.constant(node.right)
            if left is None or right is None:
                return None
            if isinstance(node.op, ast.Add):
                return left + right
            return left - right if isinstance(node.op, ast.Sub) else left * right
        return None

    def _order(self, node: ast.Compare) -> ast.expr | None:
        if not all(isinstance(op, _ORDERS) for op in node.ops):
            return None
        operands = [self.number(each) for each in (node.left, *node.comparators)]
        known = [each for each in operands if each is not None]
        if len(known) < len(operands):
            return None
        return ast.Compare(known[0], node.ops, known[1:])

    def _call(self, node: ast.Call) -> ast.expr | None:
        if len(node.args) != 1:
            return None
        if self._calls(node, "len"):
            return node if self.signal(node.args[0]) else None
        if self._calls(node, "int", "bool"):
            value = self.number(node.args[0])
            return value and ast.Call(node.func, [value], [])
        return None

    def _binary(self, node: ast.BinOp, operand: Any) -> ast.expr | None:
        left = operand(node.left)
        right = left and operand(node.right)
        return right and ast.BinOp(left, node.op, right)

    def _composed(self, node: ast.expr, part: Any) -> ast.expr | None:
        """Rewrite an expression whose value is one of its parts, or has the width of its parts."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, _SUMS + _BITWISE):
            return self._binary(node, part)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            operand = part(node.operand)
            return operand and ast.UnaryOp(node.op, operand)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            mask = self._names.ask(ones, node.operand)
            word = self.held(node.operand) if mask and part == self.number else None
            return word and ast.BinOp(word, ast.BitXor(), ast.Constant(mask))
        if isinstance(node, ast.BoolOp):
            values = [part(each) for each in node.values]
            return None if None in values else ast.BoolOp(node.op, values)
        if isinstance(node, ast.IfExp):
            body, other = part(node.body), part(node.orelse)
            return body and other and ast.IfExp(self.truth(node.test), body, other)
        return None

    # Everything else: its parts are rewritten if their type stays the same.

    def same(self, node: ast.expr) -> ast.expr:
        """Return an expression of the same value and type."""
        found = self.exact(node)
        if found is None and isinstance(node, ast.IfExp):
            test = self.truth(node.test)
            found = _at(ast.IfExp(test, self.same(node.body), self.same(node.orelse)), node)
        return found or self.within(node)

    def within(self, node: _Node) -> _Node:
        """Return a node like ``node`` whose parts have the same value and type."""
        new = copy(node)
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(new, name, [self._like(each) for each in value])
            else:
                setattr(new, name, self._like(value))
        return new

    def _like(self, value: Any) -> Any:
        if isinstance(value, ast.expr) and isinstance(getattr(value, "ctx", None), ast.Store):
            return self.within(value)
        if isinstance(value, ast.expr):
            return self.same(value)
        return self.within(value) if isinstance(value, ast.AST) else value


def _value_of(kind: SignalKind, signal: ast.expr, which: str) -> ast.expr:
    """Return the current or next value of a signal, as an integer or a bool."""
    value = ast.Attribute(signal, which, ast.Load())
    return ast.Attribute(value, NUMBER, ast.Load()) if kind.word else value


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.For]]:
    """Return the variable that a statement binds, and the source of its values."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, source = node.targets[0], node.value
        if isinstance(target, ast.Name):
            yield target.id, source
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        before = ast.Name(node.target.id, ast.Load())
        yield node.target.id, ast.BinOp(before, node.op, node.value)
    elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        yield node.target.id, node


class _Statements:
    """Rewritten statements."""

    def __init__(self, numbers: _Numbers) -> None:
        self._numbers = numbers

    def all(self, statements: list[ast.stmt]) -> Iterator[ast.stmt]:
        """Rewrite several statements."""
        for each in statements:
            yield from self._one(each)

    def _one(self, node: ast.stmt) -> Iterator[ast.stmt]:
        if isinstance(node, ast.If | ast.While):
            node.test = self._numbers.truth(node.test)
            node.body, node.orelse = list(self.all(node.body)), list(self.all(node.orelse))
            yield node
        elif isinstance(node, ast.For):
            node.iter = self._numbers.same(node.iter)
            node.body, node.orelse = list(self.all(node.body)), list(self.all(node.orelse))
            yield node
        elif isinstance(node, ast.Assign):
            yield from self._assignment(node)
        else:
            yield self._numbers.within(node)

    def _assignment(self, node: ast.Assign) -> Iterator[ast.stmt]:
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Attribute) and target.attr == "next":
            found = self._numbers.signal(target.value)
            if found is not None and found[0].assignable:
                yield from self._to_signal(node, *found)
                return
        yield self._numbers.within(node)

    def _to_signal(
        self, node: ast.Assign, kind: SignalKind, signal: ast.expr
    ) -> Iterator[ast.stmt]:
        """Assign ``next`` only if the value changes."""
        value = self._numbers.number(node.value)
        if value is None:
            target = ast.Attribute(signal, "next", ast.Store())
            yield _at(ast.Assign([target], self._numbers.same(node.value)), node)
            return
        if not isinstance(value, ast.Constant):
            yield _at(ast.Assign([ast.Name(_VALUE, ast.Store())], value), node)
            value = ast.Name(_VALUE, ast.Load())
        if isinstance(signal, ast.Subscript):
            yield _at(ast.Assign([ast.Name(_TARGET, ast.Store())], signal), node)
            signal = ast.Name(_TARGET, ast.Load())
        changes = ast.Compare(_value_of(kind, signal, NEXT), [ast.NotEq()], [value])
        assign = ast.Assign([ast.Attribute(signal, "next", ast.Store())], value)
        yield _at(ast.If(changes, [assign], []), node)
