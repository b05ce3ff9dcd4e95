"""Read assignments to names, to bits of vectors, and to the next values of signals."""

from __future__ import annotations

import ast
from typing import Any

from myhdl import EnumItemType, intbv, modbv

from merp.hdl.conversion.base.internals import (
    AnySignal,
    OpenPort,
    enum_of,
    is_list_of_signals,
)
from merp.hdl.conversion.process import build
from merp.hdl.conversion.process.frame import (
    Known,
    Vector,
)
from merp.hdl.conversion.process.meaning import (
    Assign,
    Choice,
    Const,
    Element,
    EnumConst,
    Expr,
    Local,
    Read,
    Statement,
    Target,
    Variable,
)
from merp.hdl.conversion.process.ranges import Range, exactly, unsigned
from merp.hdl.conversion.process.reading import Reading
from merp.hdl.conversion.process.values import is_hardware, wrapped


class Assignments(Reading):
    """Reader of assignments."""

    def _Assign(self, node: ast.Assign) -> tuple[list[Statement], bool]:
        value = self.values.value(node.value)
        found: list[Statement] = []
        for target in node.targets:
            found += self._assigned(node, target, value)
        return found, True

    def _AnnAssign(self, node: ast.AnnAssign) -> tuple[list[Statement], bool]:
        if node.value is None:
            return [], True
        return self._assigned(node, node.target, self.values.value(node.value)), True

    def _AugAssign(self, node: ast.AugAssign) -> tuple[list[Statement], bool]:
        target = node.target
        if isinstance(target, ast.Attribute):
            self.frame.refuse(
                node,
                "the next value of a signal is read",
                "write s.next = s + 1, or keep the value in a variable",
            )
        load = ast.parse(ast.unparse(target), mode="eval").body
        for each in ast.walk(load):
            ast.copy_location(each, target)
        if isinstance(target, ast.Subscript) and _reads_next(target):
            self.frame.refuse(
                node, "the next value of a signal is read", "keep the value in a variable"
            )
        operation = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
        value = self.values.value(operation)
        if isinstance(target, ast.Name):
            variable = self.frame.variables.get(target.id)
            known = self.state.get(variable) if variable is not None else None
            if known is not None and known.is_vector:
                assert variable is not None
                return self._in_place(node, variable, known, self.values.as_expr(node, value)), True
        return self._assigned(node, target, value), True

    def _assigned(self, node: ast.stmt, target: ast.expr, value: Any) -> list[Statement]:
        if isinstance(target, ast.Name):
            return self._named(node, target.id, value)
        if isinstance(target, ast.Tuple | ast.List):
            return self._several(node, target, value)
        if isinstance(target, ast.Attribute):
            if target.attr != "next":
                self.frame.refuse(
                    node,
                    f"attribute {target.attr} is assigned",
                    "assign the next value of a signal",
                )
            return self._signal(node, self.values.value(target.value), value)
        if isinstance(target, ast.Subscript):
            return self._part(node, target, value)
        self.frame.refuse(node, "an assignment with a star", "write the targets one by one")

    def _several(self, node: ast.stmt, target: ast.Tuple | ast.List, value: Any) -> list[Statement]:
        if not isinstance(value, list | tuple) or len(value) != len(target.elts):
            self.frame.refuse(node, "targets and values differ in number", "assign one by one")
        held: list[Any] = []
        found: list[Statement] = []
        for each in value:  # Python computes all values before it assigns the first
            if is_hardware(each) and not isinstance(each, AnySignal):
                kept = Variable("value")
                found += self.store(kept, self.values.as_expr(node, each))
                read = self.values.of_variable(kept, self.state[kept])
                each = Vector(read, each.bounds, each.wraps) if isinstance(each, Vector) else read
            held.append(each)
        for part, each in zip(target.elts, held, strict=True):
            found += self._assigned(node, part, each)
        return found

    def _named(self, node: ast.stmt, name: str, value: Any) -> list[Statement]:
        """Bind a name to an object if it never has another meaning, otherwise to a value."""
        once = self.frame.stores[name] == 1 and name not in self.frame.changed
        if once and not is_hardware(value) and not isinstance(value, intbv):
            self.frame.bound[name] = value
            return []
        if once and isinstance(value, AnySignal):
            self.frame.bound[name] = value
            return []
        if isinstance(value, list | tuple):
            self.frame.refuse(
                node,
                f"variable {name} stands for several values",
                "use a variable for each, or a list of signals outside of the process",
            )
        if name in self.lasting and _is_signal(value):
            self.frame.refuse(
                node, f"{name} stands for a signal from run to run", "keep its value: int(...)"
            )
        variable = self.frame.variables.get(name)
        if variable is None:
            variable = self.frame.variables[name] = Variable(name)
        shared = isinstance(value, Vector) and isinstance(value.value, Local) and value.bounds
        if shared and name in self.frame.changed:
            self.frame.refuse(
                node,
                f"{name} is another name of a vector that is changed in place",
                f"copy it: {name} = intbv(int(...))[n:]",
            )
        return self.store(variable, self.values.as_expr(node, value), kind_of(value))

    def store(self, variable: Variable, value: Expr, kind: Known | None = None) -> list[Statement]:
        """Assign a value to a variable, and note the known properties of the value."""
        enum = enum_of_value(value)
        known = Known(value.range, value.length, value.is_bool, enum=enum)
        if kind is not None:
            known = Known(value.range, value.length, False, True, kind.bounds, kind.wraps)
        held = value.range if kind is None or kind.bounds is None else kind.bounds | value.range
        if variable.range is not None and variable.enum is not enum:
            self.frame.refuse(
                self.frame.tree,
                f"variable {variable.name} has values of two types",
                "use a variable for each",
            )
        variable.enum = enum
        variable.is_bool = variable.is_bool and value.is_bool
        variable.range = held if variable.range is None else variable.range | held
        self.state[variable] = known
        if variable not in self.meaning.variables:
            self.meaning.variables.append(variable)
        return [Assign(Target(Local(variable, range=variable.range)), value)]

    def _in_place(
        self, node: ast.AST, variable: Variable, known: Known, value: Expr
    ) -> list[Statement]:
        """Change a vector in place; it keeps its bounds."""
        if known.bounds is None:
            if not known.is_vector:
                self.frame.refuse(
                    node,
                    f"{variable.name} is no vector here",
                    f"make it one: {variable.name} = intbv(0)[n:]",
                )
            kept = value
        elif known.wraps:
            kept = wrapped(value, known.bounds)
        else:
            kept = value
        found = kept.range if known.bounds is None else kept.range.within(known.bounds)
        assert variable.range is not None
        variable.range = variable.range | found
        variable.is_bool = False
        self.state[variable] = Known(found, known.length, False, True, known.bounds, known.wraps)
        return [Assign(Target(Local(variable, range=variable.range)), kept)]

    def _part(self, node: ast.stmt, target: ast.Subscript, value: Any) -> list[Statement]:
        """Assign bits, or refuse the element of a list."""
        base = target.value
        if isinstance(base, ast.Attribute) and base.attr == "next":
            signal = self.values.value(base.value)
            if isinstance(signal, OpenPort):
                return []
            whole = self._target(node, signal)
            held = self._held(node, signal)
            if isinstance(target.slice, ast.Slice):
                high, low = self.values.bounds(target.slice)
                high, low = len(held) if high is None else high, low or 0
                if low == 0 and high == len(held) and target.slice.lower is None:
                    return self._signal(node, signal, value)
                self._check_slice(node, high, low, len(held))
                place = Target(whole.base, high, low)
            else:
                place = Target(whole.base, index=self.values.expr(target.slice))
            return [Assign(place, self.values.as_expr(node, value))]
        if isinstance(base, ast.Name) and base.id in self.frame.variables:
            variable = self.frame.variables[base.id]
            known = self.state.get(variable)
            if known is not None and known.is_vector:
                return self._bits(node, target, variable, known, self.values.as_expr(node, value))
        self.frame.refuse(
            node,
            "an element is assigned that is no bit of a vector",
            "assign bits of an intbv, or the next value of a signal",
        )

    def _check_slice(self, node: ast.AST, high: int, low: int, length: int) -> None:
        if not 0 <= low < high <= length:
            self.frame.refuse(
                node,
                f"slice [{high}:{low}] of {length} bits",
                "stay within the vector, the left bound is the larger one",
            )

    def _bits(
        self, node: ast.stmt, target: ast.Subscript, variable: Variable, known: Known, value: Expr
    ) -> list[Statement]:
        """Assign bits of a vector in a variable."""
        width = known.length or (known.bounds.width if known.bounds else None)
        bounds = known.bounds
        if isinstance(target.slice, ast.Slice):
            high, low = self.values.bounds(target.slice)
            if high is None and not low:
                return self._in_place(node, variable, known, value)
            if width is None or bounds is None:
                self.frame.refuse(
                    node,
                    "bits of a vector without a number of bits",
                    f"make it one: {variable.name} = intbv(0)[n:]",
                )
            high, low = width if high is None else high, low or 0
            self._check_slice(node, high, low, width)
            place = Target(Local(variable), high, low)
        else:
            if width is None or bounds is None:
                self.frame.refuse(
                    node,
                    "bits of a vector without a number of bits",
                    f"make it one: {variable.name} = intbv(0)[n:]",
                )
            place = Target(Local(variable), index=self.values.expr(target.slice))
        assert variable.range is not None
        variable.range = variable.range | bounds
        self.state[variable] = Known(bounds, known.length, False, True, bounds, known.wraps)
        return [Assign(place, value)]

    def _held(self, node: ast.AST, signal: Any) -> Any:
        if isinstance(signal, AnySignal):
            return signal
        if isinstance(signal, Element):
            return signal.memory.mem[0]
        self.frame.refuse(node, "the next value of an object that is no signal", "assign a signal")

    def _target(self, node: ast.AST, signal: Any) -> Target:
        """Return a signal as a target, and note that it is driven."""
        if isinstance(signal, Element):
            memory = signal.memory
            if id(memory) in self.apart and not isinstance(signal.index, Const):
                if build.is_counted(signal.index):
                    raise build.NeedsNumber
                self.frame.refuse(
                    node,
                    "a signal chooses an element of a list that other processes drive",
                    "drive the list in one process",
                )
            self.meaning.memories_driven.setdefault(id(memory), memory)
            return Target(signal)
        held = self._held(node, signal)
        self.meaning.drives.setdefault(id(held), held)
        if isinstance(held.val, bool):
            return Target(Read(held, is_bool=True))
        if isinstance(held.val, EnumItemType):
            return Target(Read(held))
        if not isinstance(held.val, intbv) or not len(held):
            self.frame.refuse(
                node, "a signal has no fixed number of bits", "give it one: Signal(intbv(0)[8:])"
            )
        return Target(Read(held, range=Range(held.min, held.max - 1)))

    def _signal(self, node: ast.stmt, signal: Any, value: Any) -> list[Statement]:
        if isinstance(signal, list | tuple) and not is_list_of_signals(signal):
            self.frame.refuse(node, "several signals are assigned", "assign one by one")
        if isinstance(signal, OpenPort):  # nothing depends on it, and MyHDL drops the value too
            return []
        target = self._target(node, signal)
        held = self._held(node, signal)
        found = self.values.as_expr(node, value)
        if isinstance(held.val, EnumItemType):
            if enum_of_value(found) is not enum_of(held.val):
                self.frame.refuse(
                    node,
                    "a signal of an enum is assigned another type",
                    "assign a member of its enum",
                )
        elif enum_of_value(found) is not None:
            self.frame.refuse(
                node,
                "a member of an enum is assigned to a vector",
                "assign a number, or declare the signal with the enum",
            )
        elif isinstance(held.val, modbv):
            found = wrapped(found, Range(held.min, held.max - 1))
        return [Assign(target, found)]


def kind_of(value: Any) -> Known | None:
    """Return the bounds of a vector that is bound to a name; None for anything else."""
    if isinstance(value, Vector):
        return Known(value.value.range, is_vector=True, bounds=value.bounds, wraps=value.wraps)
    if isinstance(value, intbv):
        bounds = Range(value.min, value.max - 1) if len(value) else None
        return Known(
            exactly(int(value)), is_vector=True, bounds=bounds, wraps=isinstance(value, modbv)
        )
    if isinstance(value, AnySignal) and isinstance(value.val, intbv):
        bounds = unsigned(len(value)) if value.min is None else Range(value.min, value.max - 1)
        return Known(bounds, is_vector=True, bounds=bounds)
    return None


def enum_of_value(value: Expr) -> Any:
    """Return the enumeration of a value, or None."""
    if isinstance(value, EnumConst):
        return enum_of(value.item)
    if isinstance(value, Read) and isinstance(value.signal.val, EnumItemType):
        return enum_of(value.signal.val)
    if isinstance(value, Element) and isinstance(value.memory.mem[0].val, EnumItemType):
        return enum_of(value.memory.mem[0].val)
    if isinstance(value, Local):
        return value.variable.enum
    if hasattr(value, "yes"):
        return enum_of_value(value.yes)
    return None


def _is_signal(value: Any) -> bool:
    """Return whether the value is a signal in Python, or a choice of two, and not its value."""
    if isinstance(value, Choice):
        return any(_is_read(each) or _is_signal(each) for each in (value.yes, value.no))
    return isinstance(value, AnySignal | Element)


def _is_read(value: Expr) -> bool:
    """Return whether a value is a signal's, with its bits or enumeration, which ``int`` lacks."""
    has_type = value.length is not None or enum_of_value(value) is not None
    return isinstance(value, Read) and has_type


def _reads_next(target: ast.Subscript) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == "next" for each in ast.walk(target))
