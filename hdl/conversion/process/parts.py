"""Evaluate parts of vectors, elements of lists, entries of tuples."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from myhdl import EnumItemType, intbv, modbv

from merp.hdl.conversion.base.internals import (
    ALL_MEMORIES,
    AnySignal,
    is_list_of_signals,
)
from merp.hdl.conversion.process import build
from merp.hdl.conversion.process.frame import Vector
from merp.hdl.conversion.process.meaning import (
    Const,
    Element,
    Expr,
    Lookup,
    Table,
)
from merp.hdl.conversion.process.operators import Operators
from merp.hdl.conversion.process.ranges import Range, unsigned
from merp.hdl.conversion.process.values import is_hardware, within


class Parts(Operators):
    """Reader of indices and slices."""

    def _Subscript(self, node: ast.Subscript) -> Any:
        base = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            return self._sliced(node, base, node.slice)
        index = self.value(node.slice)
        if isinstance(base, list | tuple | dict | range | str):
            return self._item(node, base, index)
        value = self.as_expr(node, base)
        if value.length is None and not isinstance(base, Vector | intbv | AnySignal):
            self.refuse(node, "an integer of Python has no bits", "write intbv(...)[n:] around it")
        return build.bit(value, self.as_expr(node, index))

    def _sliced(self, node: ast.Subscript, base: Any, bounds: ast.Slice) -> Any:
        if isinstance(base, Vector | intbv | AnySignal):
            moving = self._moving(bounds, self.as_expr(node, base))
            if moving is not None:
                return moving
        high, low = self.bounds(bounds)
        if isinstance(base, list | tuple | str):
            return base[high:low]
        if not isinstance(base, Vector | intbv | AnySignal) and not (
            isinstance(base, Expr) and base.length is not None
        ):
            self.refuse(node, "an integer of Python has no bits", "write intbv(...)[n:] around it")
        if isinstance(base, intbv):
            return self.computed(node, lambda: base[high:low])
        value = self.as_expr(node, base)
        wraps = isinstance(base, Vector) and base.wraps
        wraps = wraps or (isinstance(base, AnySignal) and isinstance(base.val, modbv))
        low = low or 0
        if high is None:
            return Vector(build.binary(">>", value, build.const(low)), None, wraps)
        if high <= low:
            self.refuse(
                node, f"slice [{high}:{low}] has no bits", "the left bound is the larger one"
            )
        return Vector(build.part(value, high, low), unsigned(high - low), wraps)

    def bounds(self, node: ast.Slice) -> tuple[int | None, int | None]:
        """Return the bounds of a slice, which are constants."""
        found: list[int | None] = []
        for each in (node.lower, node.upper):
            value = None if each is None else self.value(each)
            if is_hardware(value):
                assert each is not None
                if isinstance(value, Expr) and build.is_counted(value):
                    raise build.NeedsNumber
                self.refuse(
                    each,
                    "the bound of a slice changes while the hardware runs",
                    "read the whole vector, and shift and mask it",
                )
            found.append(None if value is None else int(value))
        if node.step is not None:
            self.refuse(node, "a slice has no step", "use single bits")
        return found[0], found[1]

    def _moving(self, node: ast.Slice, value: Expr) -> Vector | None:
        """Return a slice whose bounds are signals; None if they are constants."""
        high, low = (
            None if each is None else self.value(each) for each in (node.lower, node.upper)
        )
        moving = [each for each in (high, low) if is_hardware(each)]
        if not moving or any(isinstance(each, Expr) and build.is_counted(each) for each in moving):
            return None
        start = build.const(0) if low is None else self.as_expr(node, low)
        shifted = build.binary(">>", value, start)
        if high is None:
            return Vector(shifted, None, False)
        length = self._distance(node)
        if length is not None:
            return Vector(build.part(shifted, length, 0), None, False)
        size = build.binary("-", self.as_expr(node, high), start)
        size = within(size, Range(0, max(size.range.high, 0)))
        mask = build.binary("-", build.binary("<<", build.const(1), size), build.const(1))
        return Vector(build.binary("&", shifted, mask), None, False)

    def _distance(self, node: ast.Slice) -> int | None:
        """Return the number of bits of ``x[s + 4:s]``; None if the text does not show it."""
        upper, lower = node.lower, node.upper
        if not isinstance(upper, ast.BinOp) or not isinstance(upper.op, ast.Add) or lower is None:
            return None
        for one, other in ((upper.left, upper.right), (upper.right, upper.left)):
            same = ast.unparse(one) == ast.unparse(lower)
            if same and isinstance(other, ast.Constant | ast.Name | ast.Attribute):
                length = self.value(other)
                return length if isinstance(length, int) else None
        return None

    def _item(self, node: ast.expr, base: Any, index: Any) -> Any:
        if is_list_of_signals(base) and id(base) in ALL_MEMORIES:
            return self.element(node, base, self.as_expr(node, index))
        if not is_hardware(index):
            return self.computed(node, lambda: base[index])
        if isinstance(base, range):
            base = tuple(base)
        if isinstance(base, list | tuple) and base:
            if all(isinstance(each, int) for each in base):
                return self._lookup(node, base, self.as_expr(node, index))
            if build.is_counted(self.as_expr(node, index)):
                raise build.NeedsNumber
            return self._chosen(node, base, self.as_expr(node, index))
        self.refuse(
            node,
            f"a {type(base).__name__} is indexed by a signal",
            "index a tuple of numbers or a list of signals",
        )

    def element(self, node: ast.AST, base: Any, index: Expr) -> Element:
        """Return the element of a list of signals."""
        memory = ALL_MEMORIES[id(base)]
        first = memory.mem[0]
        if isinstance(index, Const) and not -len(base) <= index.value < len(base):
            self.refuse(
                node,
                f"index {build.shown(index.value)} of a list of {len(base)}",
                "stay within the list",
            )
        index = _from_start(index, len(base))
        kinds = {(type(each.val), len(each)) for each in memory.mem}
        if len(kinds) > 1:
            self.refuse(node, "a list has signals of different kinds", "give all the same type")
        if isinstance(first.val, bool):
            return Element(memory, index, is_bool=True, length=1)
        if isinstance(first.val, EnumItemType):
            self._note_enum(first.val)
            return Element(memory, index)
        if not len(first):
            self.refuse(
                node, "a signal has no fixed number of bits", "give it one: Signal(intbv(0)[8:])"
            )
        bounds = Range(
            min(each.val.min for each in memory.mem), max(each.val.max for each in memory.mem) - 1
        )
        return Element(memory, index, range=bounds, length=len(first))

    def _lookup(self, node: ast.expr, base: Sequence[int], index: Expr) -> Expr:
        values = tuple(int(each) for each in base)
        index = _from_start(index, len(base))
        name = "table"
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute):
            name = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
        is_bool = all(isinstance(each, bool) for each in base)
        known = next(
            (t for t in self.meaning.tables if t.values == values and t.name == name), None
        )
        if known is None:
            known = Table(name, values)
            self.meaning.tables.append(known)
        return Lookup(known, index, range=Range(min(values), max(values)), is_bool=is_bool)

    def _chosen(self, node: ast.AST, base: Sequence[Any], index: Expr) -> Expr:
        """Return the element of a tuple of signals or other values."""
        index = _from_start(index, len(base))
        values = [self.as_expr(node, each) for each in base]
        found = values[-1]
        for place in range(len(values) - 2, -1, -1):
            test = build.compare("==", index, build.const(place))
            found = build.choice(test, values[place], found)
        return found


def _from_start(index: Expr, length: int) -> Expr:
    """Return an index that counts from the start; in Python a negative one counts from the end."""
    if not index.range.is_signed:
        return index
    behind = within(build.binary("+", index, build.const(length)), Range(0, length - 1))
    if index.range.high < 0:
        return behind
    return within(
        build.choice(build.compare("<", index, build.const(0)), behind, index), Range(0, length - 1)
    )
