"""Print statements with bits in VHDL-2008.

Each text has the level of its outermost operator, so that parentheses are only written where VHDL
needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from merp.hdl.conversion.process import bits
from merp.hdl.conversion.process.meaning import Variable
from merp.hdl.conversion.process.printer import Printer, cases, chain, indented

_LOGICAL, _RELATION, _SUM, _SIGN, _PRODUCT, _FACTOR, _PRIMARY = range(7)
_INTEGERS = 1 << 30  # of a literal: GHDL 2.0 refuses some of the largest, such as 2147483628
_INTEGER_BITS = 30  # of a vector whose values are literals
_RELATIONS = {"==": "=", "!=": "/=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_GATES = {"&": "and", "|": "or", "^": "xor"}


class Text(NamedTuple):
    """A text, the level of its outermost operator, and that operator if it is a logical one."""

    text: str
    level: int = _PRIMARY
    gate: str = ""


def within(text: Text, level: int, gate: str = "") -> str:
    """Return a text as an operand of an operator of a level."""
    if text.level > level or (gate and text.gate == gate):
        return text.text
    return f"({text.text})"


class Vhdl(Printer):
    """Printer of the statements of one process."""

    element = "%s(%s)"
    empty = ("null;",)

    def count(self, value: bits.Integer | bits.Vector) -> str:
        """Print a vector, or an expression of loop variables, as an integer."""
        if isinstance(value, bits.Integer):
            return self.integer(value).text
        if isinstance(value, bits.OfInteger):
            return self.integer(value.integer).text
        if isinstance(value, bits.OfFlag):
            return f"to_integer({self.flag_vector(value.flag, 1)})"
        return f"to_integer({self.vector(value).text})"

    def integer(self, value: bits.Integer) -> Text:
        """Print an integer of numbers and loop variables."""
        if value.variable is not None:
            return Text(self.variables[value.variable])
        if not value.op:
            return Text(str(value.value), _PRIMARY if value.value >= 0 else _SUM)
        assert value.left is not None
        assert value.right is not None
        left, right = self.integer(value.left), self.integer(value.right)
        if value.op == "**":
            return Text(f"{within(left, _FACTOR)} ** {within(right, _FACTOR)}", _FACTOR)
        level = _SUM if value.op in "+-" else _PRODUCT
        op = {"//": "/", "%": "mod"}.get(value.op, value.op)
        return Text(f"{within(left, level - 1)} {op} {within(right, level)}", level)

    # Vectors

    def vector(self, value: bits.Vector) -> Text:
        """A vector."""
        method: Callable[[bits.Vector], Text] = getattr(self, f"_{type(value).__name__}")
        return method(value)

    def _Literal(self, value: bits.Literal) -> Text:
        kind = "signed" if value.signed else "unsigned"
        if -_INTEGERS < value.value < _INTEGERS:
            return Text(f"to_{kind}({value.value}, {value.width})")
        pattern = value.value & (1 << value.width) - 1
        return Text(f'{kind}\'("{pattern:0{value.width}b}")')

    def _Name(self, value: bits.Name) -> Text:
        return Text(self.place(value.place))

    def _Part(self, value: bits.Part) -> Text:
        high = value.low + value.width - 1
        return Text(f"{self.place(value.place)}({high} downto {value.low})")

    def _Resized(self, value: bits.Resized) -> Text:
        inner = value.value
        if isinstance(inner, bits.OfFlag):
            return Text(self.flag_vector(inner.flag, value.width))
        if value.signed and value.width < inner.width:
            return Text(f"signed(resize(unsigned({self.vector(inner).text}), {value.width}))")
        return Text(f"resize({self.vector(inner).text}, {value.width})")

    def _Cast(self, value: bits.Cast) -> Text:
        kind = "signed" if value.signed else "unsigned"
        return Text(f"{kind}({self.vector(value.value).text})")

    def _Operation(self, value: bits.Operation) -> Text:
        if value.op in _GATES:
            gate = _GATES[value.op]
            left, right = self.vector(value.left), self.vector(value.right)
            text = f"{within(left, _LOGICAL, gate)} {gate} {within(right, _LOGICAL)}"
            return Text(text, _LOGICAL, gate)
        left, right = self._operands(value.left, value.right)
        return Text(f"{within(left, _SUM - 1)} {value.op} {within(right, _SUM)}", _SUM)

    def _operands(self, left: bits.Vector, right: bits.Vector) -> tuple[Text, Text]:
        """Print operands of a sum: VHDL extends the shorter one; integers stay integers."""
        one, other = self._plain(left), self._plain(right)
        if other is not None and one is None:
            return self.vector(left), other
        if one is not None and other is None:
            return one, self.vector(right)
        if _is_filled(right):
            assert isinstance(right, bits.Resized)
            return self.vector(left), self.vector(right.value)
        if _is_filled(left):
            assert isinstance(left, bits.Resized)
            return self.vector(left.value), self.vector(right)
        return self.vector(left), self.vector(right)

    def _plain(self, value: bits.Vector, negative: bool = False) -> Text | None:
        """Print a number or an expression of loop variables as an integer; None for others."""
        inner = _unfilled(value)
        if isinstance(inner, bits.OfInteger) and (negative or not inner.signed):
            return self.integer(inner.integer)
        if not isinstance(value, bits.Literal) or not -_INTEGERS < value.value < _INTEGERS:
            return None
        if value.value < 0:
            return Text(str(value.value), _SUM) if negative else None
        return Text(str(value.value))

    def _Product(self, value: bits.Product) -> Text:
        left, right = self.vector(value.left), self.vector(value.right)
        if value.left.width == value.right.width:
            left = self._plain(value.left) or left
            right = (
                right if isinstance(value.left, bits.Literal) else self._plain(value.right) or right
            )
        return Text(f"{within(left, _PRODUCT - 1)} * {within(right, _PRODUCT)}", _PRODUCT)

    def _Quotient(self, value: bits.Quotient) -> Text:
        left, right = self.vector(value.left), self.vector(value.right)
        if isinstance(value.right, bits.Literal) and value.right.value < _INTEGERS:
            right = Text(str(value.right.value))
        op = "mod" if value.op == "%" else "/"
        return Text(f"{within(left, _PRODUCT - 1)} {op} {within(right, _PRODUCT)}", _PRODUCT)

    def _Shift(self, value: bits.Shift) -> Text:
        name = "shift_left" if value.op == "<<" else "shift_right"
        return Text(f"{name}({self.vector(value.value).text}, {self.index(value.count)})")

    def _Inverse(self, value: bits.Inverse) -> Text:
        inner = self.vector(value.value)
        if value.op == "~":
            return Text(f"not {within(inner, _FACTOR)}", _FACTOR)
        if value.signed:
            return Text(f"-{within(inner, _SIGN)}", _SUM)
        return Text(f"0 - {within(inner, _SUM)}", _SUM)

    def _Either(self, value: bits.Either) -> Text:
        yes, no = self.vector(value.yes).text, self.vector(value.no).text
        return Text(f"choose({self.condition(value.test).text}, {yes}, {no})")

    def _Joined(self, value: bits.Joined) -> Text:
        return Text(f"unsigned'({self.joined(value)})")

    def joined(self, value: bits.Joined) -> str:
        """Print concatenated parts, whose type follows from the context."""
        parts = []
        for each in value.parts:
            if isinstance(each, bits.Literal):
                parts.append(f'"{each.value & (1 << each.width) - 1:0{each.width}b}"')
            elif isinstance(each, bits.Vector):
                parts.append(within(self.vector(each), _SUM))
            else:
                parts.append(within(self.bit(each), _SUM))
        return " & ".join(parts)

    def _OfFlag(self, value: bits.OfFlag) -> Text:
        return Text(self.flag_vector(value.flag, 1))

    def flag_vector(self, flag: bits.Flag, width: int) -> str:
        """Print a flag as an unsigned vector."""
        return f"to_unsigned({self.bit(flag).text}, {width})"

    def _OfInteger(self, value: bits.OfInteger) -> Text:
        kind = "signed" if value.signed else "unsigned"
        return Text(f"to_{kind}({self.integer(value.integer).text}, {value.width})")

    def _Entry(self, value: bits.Entry) -> Text:
        return Text(f"{self.tables[value.table]}({self.count(value.index)})")

    # Flags

    def bit(self, flag: bits.Flag) -> Text:
        """A flag as std_logic."""
        if isinstance(flag, bits.Bool):
            return Text(f"'{int(flag.value)}'")
        if isinstance(flag, bits.Wire):
            return Text(self.place(flag.place))
        if isinstance(flag, bits.At):
            return Text(f"{self.place(flag.place)}({self.index(flag.index)})")
        if isinstance(flag, bits.Inverted):
            return Text(f"not {within(self.bit(flag.flag), _FACTOR)}", _FACTOR)
        if isinstance(flag, bits.Gate):
            return _gate(flag.op, [self.bit(each) for each in flag.operands])
        if isinstance(flag, bits.EitherFlag):
            yes, no = self.bit(flag.yes).text, self.bit(flag.no).text
            return Text(f"choose({self.condition(flag.test).text}, {yes}, {no})")
        assert isinstance(flag, bits.Compared)
        if isinstance(flag.left, bits.Vector) and isinstance(flag.right, bits.Vector):
            if self._plain(flag.left, True) and self._plain(flag.right, True):  # integers
                return Text(f"to_std_logic({self.condition(flag).text})")
        if isinstance(flag.left, bits.Vector):
            assert isinstance(flag.right, bits.Vector)
            return self._relation(f"?{_RELATIONS[flag.op]}", flag.left, flag.right)
        if isinstance(flag.left, bits.Flag):
            assert isinstance(flag.right, bits.Flag)
            gate = "xor" if flag.op == "!=" else "xnor"
            left, right = self.bit(flag.left), self.bit(flag.right)
            text = f"{within(left, _LOGICAL)} {gate} {within(right, _LOGICAL)}"
            return Text(text, _LOGICAL, gate)
        return Text(f"to_std_logic({self.condition(flag).text})")

    def _relation(self, op: str, left: bits.Vector, right: bits.Vector) -> Text:
        one, other = self._plain(left, True), self._plain(right, True)
        if one is None and other is None:
            one, other = (self.vector(_unfilled(each)) for each in (left, right))
        one = one or self.vector(left)
        other = other or self.vector(right)
        return Text(f"{within(one, _RELATION)} {op} {within(other, _RELATION)}", _RELATION)

    def condition(self, flag: bits.Flag) -> Text:
        """A flag as a boolean."""
        if isinstance(flag, bits.Bool):
            return Text(str(flag.value).lower())
        if isinstance(flag, bits.Wire | bits.At | bits.EitherFlag):
            return Text(f"{self.bit(flag).text} = '1'", _RELATION)
        if isinstance(flag, bits.Inverted):
            if isinstance(flag.flag, bits.Wire | bits.At):
                return Text(f"{self.bit(flag.flag).text} = '0'", _RELATION)
            return Text(f"not {within(self.condition(flag.flag), _FACTOR)}", _FACTOR)
        if isinstance(flag, bits.Gate):
            return _gate(flag.op, [self.condition(each) for each in flag.operands])
        assert isinstance(flag, bits.Compared)
        op = _RELATIONS[flag.op]
        if isinstance(flag.left, bits.Vector):
            assert isinstance(flag.right, bits.Vector)
            return self._relation(op, flag.left, flag.right)
        if isinstance(flag.left, bits.Flag):
            assert isinstance(flag.right, bits.Flag)
            left, right = self.bit(flag.left), self.bit(flag.right)
        else:
            assert isinstance(flag.right, bits.Member)
            left, right = self.member(flag.left), self.member(flag.right)
        return Text(f"{within(left, _RELATION)} {op} {within(right, _RELATION)}", _RELATION)

    def member(self, value: bits.Member) -> Text:
        """A value of an enumeration."""
        if isinstance(value, bits.MemberConst):
            return Text(self.members(value.item))
        assert isinstance(value, bits.MemberName)
        return Text(self.place(value.place))

    # Statements

    def value(self, value: bits.Value) -> str:
        """A value on the right of an assignment."""
        if isinstance(value, bits.Joined):
            return self.joined(value)
        if isinstance(value, bits.Either):
            return self._chosen(value.test, value.yes, value.no)
        if isinstance(value, bits.EitherFlag):
            return self._chosen(value.test, value.yes, value.no)
        if isinstance(value, bits.EitherMember):
            return self._chosen(value.test, value.yes, value.no)
        if isinstance(value, bits.Vector):
            return self.vector(value).text
        if isinstance(value, bits.Flag):
            return self.bit(value).text
        return self.member(value).text

    def _chosen(self, test: bits.Flag, yes: bits.Value, no: bits.Value) -> str:
        """Print ``a when t else b``; ``b`` may be another choice."""
        if isinstance(yes, bits.Vector):
            first = self.vector(yes).text
        elif isinstance(yes, bits.Flag):
            first = self.bit(yes).text
        else:
            first = self.member(yes).text
        return f"{first} when {self.condition(test).text} else {self.value(no)}"

    def target(self, target: bits.Target) -> str:
        """The left side of an assignment."""
        place = self.place(target.place)
        if target.index is not None:
            return f"{place}({self.index(target.index)})"
        if target.high is not None:
            return f"{place}({target.high - 1} downto {target.low})"
        return place

    def assignment(self, each: bits.Assignment) -> str:
        """Print an assignment.

        GHDL 2.0 cannot compile ``v := a when t else b``; a variable gets a function's value
        instead.
        """
        value = each.value
        if not isinstance(each.target.place.what, Variable):
            return f"{self.target(each.target)} <= {self.value(value)};"
        if isinstance(value, bits.Either):
            return f"{self.target(each.target)} := {self.vector(value).text};"
        if isinstance(value, bits.EitherFlag):
            return f"{self.target(each.target)} := {self.bit(value).text};"
        return f"{self.target(each.target)} := {self.value(value)};"

    def leave(self, each: bits.Leave) -> str:
        """``next`` or ``exit``."""
        return "next;" if each.goes_on else "exit;"

    def branches(self, each: bits.Branches) -> list[str]:
        """An if."""
        found: list[str] = []
        ways, otherwise = chain(each)
        for test, body in ways:
            word = "elsif" if found else "if"
            found += [f"{word} {self.condition(test).text} then", *indented(self.statements(body))]
        if otherwise:
            found += ["else", *indented(self.statements(otherwise))]
        return [*found, "end if;"]

    def selection(self, each: bits.Selection) -> list[str]:
        """Print a case; a short vector by its number, so that labels of each width are equal."""
        if isinstance(each.subject, bits.Member):
            subject = self.member(each.subject).text
        elif each.subject.width <= _INTEGER_BITS:
            subject = f"to_integer({self.vector(each.subject).text})"
        else:
            subject = self.vector(each.subject).text
        found = [f"case {subject} is"]
        branches, others = cases(each)
        for labels, body in branches:
            written = " | ".join(self._label(label) for label in labels)
            found += indented([f"when {written} =>", *indented(self.statements(body))])
        found += indented(["when others =>", *indented(self.statements(others))])
        return [*found, "end case;"]

    def _label(self, label: bits.Literal | bits.MemberConst) -> str:
        if isinstance(label, bits.MemberConst):
            return self.members(label.item)
        if label.width <= _INTEGER_BITS:
            return str(label.value)
        return f'"{label.value & (1 << label.width) - 1:0{label.width}b}"'

    def loop(self, each: bits.Loop) -> list[str]:
        """A loop."""
        last = each.start + each.step * (each.count - 1)
        way = "to" if each.step > 0 else "downto"
        name = self.variables[each.variable]
        head = f"for {name} in {each.start} {way} {last} loop"
        return [head, *indented(self.statements(each.body)), "end loop;"]


def _gate(op: str, operands: Sequence[Text]) -> Text:
    return Text(f" {op} ".join(within(each, _LOGICAL, op) for each in operands), _LOGICAL, op)


def _is_filled(value: bits.Vector) -> bool:
    """Return whether a vector is a shorter one that is extended."""
    return isinstance(value, bits.Resized) and value.width > value.value.width


def _unfilled(value: bits.Vector) -> bits.Vector:
    """Return a vector without its extension, because a comparison extends it itself."""
    return value.value if isinstance(value, bits.Resized) and _is_filled(value) else value
