"""Evaluate expressions of Python: calls, and everything that the modules below read."""

from __future__ import annotations

import ast
import operator
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any

from myhdl import concat, intbv, modbv

from merp.hdl.conversion.base.internals import (
    AnySignal,
)
from merp.hdl.conversion.process import build
from merp.hdl.conversion.process.frame import LocalFunction, Vector
from merp.hdl.conversion.process.lists import Lists
from merp.hdl.conversion.process.meaning import Const, Expr
from merp.hdl.conversion.process.ranges import Range, signed, unsigned
from merp.hdl.conversion.process.values import Method, as_integer, is_hardware, within, wrapped


class Evaluator(Lists):
    """Values of the expressions of one process."""

    def _Call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        if any(isinstance(each, ast.Starred) for each in node.args) or any(
            each.arg is None for each in node.keywords
        ):
            self.refuse(node, "arguments with a star", "write them one by one")
        arguments = [self.value(each) for each in node.args]
        named = {str(each.arg): self.value(each.value) for each in node.keywords}
        if isinstance(function, Method):
            return self._reinterpreted(node, function)
        special = self._special(node, function, arguments, named)
        if special is not None:
            return special
        if isinstance(function, LocalFunction):
            return self.inline(node, function, arguments)
        known = not any(map(is_hardware, (*arguments, *named.values())))
        if known and not isinstance(function, FunctionType | MethodType):
            return self.computed(node, lambda: function(*arguments, **named))
        if isinstance(function, FunctionType | MethodType):
            return self.inline(node, function, arguments)
        if any(isinstance(each, Expr) and build.is_counted(each) for each in arguments):
            raise build.NeedsNumber
        name = getattr(function, "__name__", type(function).__name__)
        self.refuse(node, f"{name}() has no hardware", "compute it outside of the process")

    def _special(
        self, node: ast.Call, function: Any, arguments: list[Any], named: dict[str, Any]
    ) -> Any:
        """Return the result of a function with special hardware; None for any other function."""
        if function is print:
            self.refuse(node, "print has no hardware", "print in the bench")
        if function is len and arguments and isinstance(arguments[0], Expr | Vector | AnySignal):
            if isinstance(arguments[0], AnySignal):
                return len(arguments[0])
            length = self.as_expr(node, arguments[0]).length
            if length is None:
                self.refuse(node, "len of an integer of Python", "give it bits: intbv(...)[n:]")
            return length
        if function is len and arguments and isinstance(arguments[0], list | tuple):
            return len(arguments[0])
        if function is concat:
            return self._concat(node, arguments)
        if not any(map(is_hardware, (*arguments, *named.values()))):
            return None
        if isinstance(function, type) and issubclass(function, intbv):
            return self._vector(node, function, arguments, named)
        if function is bool:
            return build.truth(self.as_expr(node, arguments[0]))
        if function is int or function is operator.index:
            value = self.as_expr(node, arguments[0])
            return as_integer(value)
        if function is abs:
            value = self.as_expr(node, arguments[0])
            if not value.range.is_signed:
                return as_integer(value)
            found = build.choice(
                build.compare("<", value, build.const(0)), build.negative(value), as_integer(value)
            )
            return within(found, Range(0, max(-value.range.low, value.range.high)))
        if function in (max, min) and not named:
            return self._extreme(node, function, arguments)
        if function in (any, all) and isinstance(arguments[0], list | tuple):
            truths = [build.truth(self.as_expr(node, each)) for each in arguments[0]]
            return build.logic("or" if function is any else "and", truths)
        if function is sum and len(arguments) == 1 and isinstance(arguments[0], list | tuple):
            first, *rest = [self.as_expr(node, each) for each in arguments[0]]
            value = as_integer(first)
            for each in rest:
                value = build.binary("+", value, each)
            return value
        return None

    def _extreme(self, node: ast.AST, function: Any, arguments: list[Any]) -> Expr:
        if len(arguments) == 1 and isinstance(arguments[0], list | tuple):
            arguments = list(arguments[0])
        values = [self.as_expr(node, each) for each in arguments]
        found, *rest = values
        op = ">" if function is max else "<"
        for each in rest:
            # An undefined signal makes a test false in VHDL; then the number is within the bounds.
            one, other = (found, each) if isinstance(each, Const) else (each, found)
            test = build.compare(op, one, other)
            low = function(found.range.low, each.range.low)
            high = function(found.range.high, each.range.high)
            found = within(build.choice(test, one, other), Range(low, high))
        return found

    def _reinterpreted(self, node: ast.AST, method: Method) -> Any:
        if isinstance(method.value, intbv):
            return getattr(method.value, method.name)()
        value = self.as_expr(node, method.value)
        if value.length is None:
            return Vector(value, None, False)
        if method.name == "signed":
            return Vector(build.as_signed(value), signed(value.length), False)
        found = build.part(value, value.length, 0)
        return Vector(found, unsigned(value.length), False)

    def _concat(self, node: ast.AST, arguments: list[Any]) -> Any:
        parts: list[tuple[Expr, int]] = []
        has_length = True
        for place, each in enumerate(arguments):
            if isinstance(each, str):
                bits = each.replace("_", "")
                parts.append((build.const(int(bits, 2)), len(bits)))
                continue
            value = self.as_expr(node, each)
            length = 1 if value.is_bool else value.length
            if length is None and place == 0:
                has_length = False
                length = value.range.width
            if length is None:
                self.refuse(
                    node,
                    f"operand {place + 1} of concat has no number of bits",
                    "give it one: intbv(...)[n:]",
                )
            parts.append((value, length))
        found = build.concatenation(parts, has_length)
        if not has_length and parts[0][0].range.is_signed:
            found = build.as_signed(build.concatenation(parts, True))
        width = sum(bits for _, bits in parts)
        return Vector(found, unsigned(width) if has_length else None, False)

    def _vector(
        self, node: ast.AST, kind: Any, arguments: list[Any], named: dict[str, Any]
    ) -> Vector:
        """Return ``intbv(...)`` or ``modbv(...)`` of a value."""
        given = dict(zip(("val", "min", "max"), arguments, strict=False)) | named
        value = self.as_expr(node, given.pop("val"))
        wraps = issubclass(kind, modbv)
        low, high = given.get("min"), given.get("max")
        if is_hardware(low) or is_hardware(high):
            self.refuse(node, "bounds that change while the hardware runs", "use constants")
        if low is None or high is None:
            length = (
                value.length if isinstance(arguments[0] if arguments else None, Vector) else None
            )
            bounds = arguments[0].bounds if length is not None else None
            return Vector(value if length is not None else as_integer(value), bounds, wraps)
        bounds = Range(int(low), int(high) - 1)
        found = wrapped(value, bounds) if wraps else value
        return Vector(within(_with_length(found, bounds.width), bounds), bounds, wraps)


def _with_length(value: Expr, length: int) -> Expr:
    return replace(value, length=length, is_bool=False)
