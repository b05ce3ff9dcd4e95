"""Evaluate operators, comparisons and conditions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from typing import Any

from merp.hdl.conversion.base.internals import (
    AnySignal,
)
from merp.hdl.conversion.process import build
from merp.hdl.conversion.process.frame import Vector
from merp.hdl.conversion.process.meaning import (
    Const,
    Expr,
)
from merp.hdl.conversion.process.ranges import exactly
from merp.hdl.conversion.process.values import Values, as_integer, is_hardware, is_vector

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
    ast.Not: operator.not_,
}  # fmt: skip


class Operators(Values):
    """Values of operators."""

    def _BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        op = _OPERATORS.get(type(node.op))
        if not is_hardware(left) and not is_hardware(right):
            return self.computed(node, lambda: _apply(node.op, left, right))
        if op is None:
            if isinstance(node.op, ast.Pow):
                return self._power(node, left, right)
            self.refuse(node, "only whole numbers have hardware", "use // in place of /")
        found = build.binary(op, self.as_expr(node, left), self.as_expr(node, right))
        makes_vector = is_vector(left) and op in ("<<", ">>", "&", "|", "^")
        makes_vector = makes_vector or (is_vector(right) and op in ("&", "|", "^"))
        return Vector(found, None, False) if makes_vector else found

    def _power(self, node: ast.AST, left: Any, right: Any) -> Expr:
        if not is_hardware(left) and int(left) == 2:
            return build.binary("<<", build.const(1), self.as_expr(node, right))
        if is_hardware(right) or int(right) < 0:
            self.refuse(
                node, "a power has no hardware", "allowed are 2 ** n and n ** 2 with a constant"
            )
        base, found = self.as_expr(node, left), build.const(1)
        value: Expr = found
        for _ in range(int(right)):
            value = base if value is found else build.binary("*", value, base)
        return value

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        operand = self.value(node.operand)
        if not is_hardware(operand):
            return self.computed(node, lambda: _UNARY[type(node.op)](operand))
        value = self.as_expr(node, operand)
        if isinstance(node.op, ast.Not):
            return build.negated(build.truth(value))
        if isinstance(node.op, ast.Invert):
            if isinstance(operand, Vector) and operand.bounds and operand.bounds.is_signed:
                value = as_integer(value)  # also if it is currently known to be non-negative
            found = build.inverted(value)
            return Vector(found, None, False) if is_vector(operand) else found
        return build.negative(value) if isinstance(node.op, ast.USub) else value

    def _BoolOp(self, node: ast.BoolOp) -> Any:
        op = "and" if isinstance(node.op, ast.And) else "or"
        values: list[Any] = []
        for each in node.values:  # Python stops at the value that decides
            value = self.value(each)
            values.append(value)
            if not is_hardware(value) and bool(value) == (op == "or"):
                break
        if not any(is_hardware(each) for each in values):
            return values[-1]
        found = self.as_expr(node, values[-1])
        operands = [self.as_expr(node, each) for each in values[:-1] if is_hardware(each)]
        if found.is_bool and all(each.is_bool for each in operands):
            return build.logic(op, [*operands, found])
        for operand in reversed(operands):
            ways = (found, operand) if op == "and" else (operand, found)
            found = build.choice(build.truth(operand), *ways)
        return found

    def tests(self, node: ast.BoolOp) -> Expr:
        """Return ``and`` or ``or`` if only its truth matters."""
        op = "and" if isinstance(node.op, ast.And) else "or"
        operands: list[Expr] = []
        for each in node.values:
            operands.append(self.condition(each))
            found = build.logic(op, operands)
            if found.range == exactly(int(op == "or")):
                return found
        return build.logic(op, operands)

    def condition(self, node: ast.expr) -> Expr:
        """Return the truth of an expression."""
        if isinstance(node, ast.BoolOp):
            return self.tests(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return build.negated(self.condition(node.operand))
        return self.test(node)

    def _Compare(self, node: ast.Compare) -> Any:
        values = [self.value(each) for each in (node.left, *node.comparators)]
        found: list[Expr] = []
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            each = self._compared(node, op, left, right)
            if not isinstance(each, Expr) and not each:
                return False
            if isinstance(each, Expr):
                found.append(each)
        return build.logic("and", found) if found else True

    def _compared(self, node: ast.AST, op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(op, ast.Is | ast.IsNot):
            return (left is right) == isinstance(op, ast.Is)
        if isinstance(op, ast.In | ast.NotIn):
            if not is_hardware(left) and not is_hardware(right):
                return (left in right) == isinstance(op, ast.In)
            found = self._member(node, self.as_expr(node, left), right)
            return found if isinstance(op, ast.In) else build.negated(found)
        if not is_hardware(left) and not is_hardware(right):
            written = _OPERATORS[type(op)]
            return self.computed(node, lambda: build.COMPARE[written](left, right))
        return build.compare(
            _OPERATORS[type(op)], self.as_expr(node, left), self.as_expr(node, right)
        )

    def _member(self, node: ast.AST, value: Expr, members: Any) -> Expr:
        if isinstance(members, range) and members.step == 1 and len(members) > 1:
            return build.logic("and", [
                build.compare(">=", value, build.const(members.start)),
                build.compare("<", value, build.const(members.stop)),
            ])  # fmt: skip
        if not isinstance(members, Iterable) or isinstance(members, str | AnySignal):
            self.refuse(node, "in needs the members one by one", "write a tuple: x in (1, 2)")
        if isinstance(members, set | frozenset):
            members = sorted(members)
        return build.logic("or", [
            build.compare("==", value, self.as_expr(node, each)) for each in members
        ])  # fmt: skip

    def _IfExp(self, node: ast.IfExp) -> Any:
        test = self.condition(node.test)
        if not isinstance(test, Const):
            yes, no = self.value(node.body), self.value(node.orelse)
            return build.choice(test, self.as_expr(node, yes), self.as_expr(node, no))
        return self.value(node.body if test.value else node.orelse)


def _apply(op: ast.operator, left: Any, right: Any) -> Any:
    found: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
        ast.Div: operator.truediv, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    }  # fmt: skip
    written = _OPERATORS.get(type(op))
    return (build.PYTHON[written] if written else found[type(op)])(left, right)
