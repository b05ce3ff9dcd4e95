"""Print statements with bits in Verilog-2001.

Every operand has the width of its operator. Therefore the rules for operands of different widths
are
not used, and the type of an operand only matters in comparisons, quotients and shifts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from merp.hdl.conversion.process import bits
from merp.hdl.conversion.process.meaning import Table, Variable
from merp.hdl.conversion.process.printer import MemberNames, Printer, cases, chain, indented

_CHOICE, _OR, _AND, _BIT_OR, _BIT_XOR, _BIT_AND, _EQUAL, _ORDER, _SHIFT, _SUM, _PRODUCT, _UNARY = (
    range(12)
)
_PRIMARY = 12
_LEVELS = {
    "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT,
    "&": _BIT_AND, "|": _BIT_OR, "^": _BIT_XOR,
    "==": _EQUAL, "!=": _EQUAL, "<": _ORDER, "<=": _ORDER, ">": _ORDER, ">=": _ORDER,
    "and": _AND, "or": _OR, "xor": _BIT_XOR,
}  # fmt: skip
_DECIMAL = 1 << 16  # from here on, a number is written in base 16
_GATES = {"and": "&&", "or": "||", "xor": "^"}


class Text(NamedTuple):
    """A text, the level of its outermost operator, and whether Verilog treats it as signed."""

    text: str
    level: int = _PRIMARY
    signed: bool = False


def within(text: Text, level: int) -> str:
    """Return a text as an operand of an operator of a level."""
    return text.text if text.level > level else f"({text.text})"


class Verilog(Printer):
    """Printer of the statements of one process.

    Args:
        variables, tables, members: as in ``Printer``.
        blocking: whether signals are assigned immediately.
        labels: makes a unique label from a wish.
    """

    element = "%s[%s]"

    def __init__(
        self,
        variables: dict[Variable, str],
        tables: dict[Table, str],
        members: MemberNames,
        blocking: bool,
        labels: Callable[[str], str],
    ) -> None:
        super().__init__(variables, tables, members)
        self.sign = "=" if blocking else "<="
        self.labels = labels
        self.leaving: list[tuple[str, str]] = []

    def count(self, value: bits.Integer | bits.Vector) -> str:
        """Print a vector, or an expression of loop variables, as an index."""
        return (self.integer(value) if isinstance(value, bits.Integer) else self.vector(value)).text

    def integer(self, value: bits.Integer) -> Text:
        """Print an integer of numbers and loop variables."""
        if value.variable is not None:
            return Text(self.variables[value.variable], signed=True)
        if not value.op:
            return Text(str(value.value), _PRIMARY if value.value >= 0 else _UNARY, True)
        assert value.left is not None
        assert value.right is not None
        if value.op == "**":  # of two
            return Text(f"1 << {within(self.integer(value.right), _SHIFT)}", _SHIFT, True)
        op = "/" if value.op == "//" else value.op
        return _binary(op, _LEVELS[op], self.integer(value.left), self.integer(value.right))

    # Vectors

    def vector(self, value: bits.Vector) -> Text:
        """A vector."""
        method: Callable[[bits.Vector], Text] = getattr(self, f"_{type(value).__name__}")
        return method(value)

    def typed(self, value: bits.Vector, is_signed: bool) -> Text:
        """Print a vector that Verilog treats as signed, or as unsigned."""
        text = self.vector(value)
        if text.signed == is_signed:
            return text
        return Text(f"{'$signed' if is_signed else '$unsigned'}({text.text})", signed=is_signed)

    def _Literal(self, value: bits.Literal) -> Text:
        if not value.signed:
            return Text(_number(value.value, value.width))
        if abs(value.value) >= _DECIMAL or value.value == -(1 << value.width - 1):
            pattern = value.value & (1 << value.width) - 1
            return Text(f"{value.width}'sh{pattern:x}", signed=True)
        if value.value >= 0:
            return Text(f"{value.width}'sd{value.value}", signed=True)
        return Text(f"-{value.width}'sd{-value.value}", _UNARY, True)

    def _Name(self, value: bits.Name) -> Text:
        return Text(self.place(value.place), signed=value.signed)

    def _Part(self, value: bits.Part) -> Text:
        return Text(self.part(value.place, value.low + value.width - 1, value.low))

    def part(self, place: bits.Place, high: int, low: int) -> str:
        """Bits ``high`` to ``low`` of a place."""
        return f"{self.place(place)}[{high}:{low}]" if high > low else f"{self.place(place)}[{low}]"

    def _Resized(self, value: bits.Resized) -> Text:
        inner = value.value
        assert value.width > inner.width, "the sizer holds a value that is cut"
        more = value.width - inner.width
        text = self.vector(inner).text
        if not value.signed:
            return Text(f"{{{more}'d0, {text}}}")
        while isinstance(inner, bits.Cast):
            inner = inner.value
        assert isinstance(inner, bits.Name | bits.Part), (
            "the sizer holds a value with a copied sign"
        )
        low = inner.low if isinstance(inner, bits.Part) else 0
        top = self.part(inner.place, low + inner.width - 1, low + inner.width - 1)
        copies = f"{{{more}{{{top}}}}}" if more > 1 else top
        return Text(f"{{{copies}, {text}}}")

    def _Cast(self, value: bits.Cast) -> Text:
        return self.vector(value.value)

    def _Operation(self, value: bits.Operation) -> Text:
        return _binary(
            value.op, _LEVELS[value.op], self.vector(value.left), self.vector(value.right)
        )

    def _Quotient(self, value: bits.Quotient) -> Text:
        left, right = self.typed(value.left, False), self.typed(value.right, False)
        return _binary(value.op, _PRODUCT, left, right)

    def _Shift(self, value: bits.Shift) -> Text:
        if isinstance(value.count, int):
            count = Text(str(value.count))
        elif isinstance(value.count, bits.OfInteger):
            count = self.integer(value.count.integer)
        else:
            count = self.vector(value.count)
        if value.op == ">>" and value.signed:
            operand, op = self.typed(value.value, True), ">>>"
        else:
            operand, op = self.vector(value.value), value.op
        text = f"{within(operand, _SHIFT - 1)} {op} {within(count, _SHIFT)}"
        return Text(text, _SHIFT, operand.signed)

    def _Inverse(self, value: bits.Inverse) -> Text:
        inner = self.vector(value.value)
        return Text(f"{value.op}{within(inner, _UNARY)}", _UNARY, inner.signed)

    def _Either(self, value: bits.Either) -> Text:
        return self._choice(value.test, self.vector(value.yes), self.vector(value.no))

    def _choice(self, test: bits.Flag, yes: Text, no: Text) -> Text:
        asked = within(self.flag(test), _OR - 1)
        text = f"{asked} ? {within(yes, _CHOICE)} : {within(no, _CHOICE - 1)}"
        return Text(text, _CHOICE, yes.signed and no.signed)

    def _Joined(self, value: bits.Joined) -> Text:
        parts = [
            self.vector(each).text if isinstance(each, bits.Vector) else self.flag(each).text
            for each in value.parts
        ]
        return Text(f"{{{', '.join(parts)}}}")

    def _OfFlag(self, value: bits.OfFlag) -> Text:
        return self.flag(value.flag)

    def _OfInteger(self, value: bits.OfInteger) -> Text:
        assert value.integer.variable is not None, "only the variable itself is a vector"
        name = self.variables[value.integer.variable]
        return Text(f"{name}[{value.width - 1}:0]" if value.width > 1 else f"{name}[0]")

    def _Entry(self, value: bits.Entry) -> Text:
        return Text(
            f"{self.tables[value.table]}({self.vector(value.index).text})", signed=value.signed
        )

    # Flags

    def flag(self, flag: bits.Flag) -> Text:
        """A flag, one bit."""
        if isinstance(flag, bits.Bool):
            return Text(f"1'b{int(flag.value)}")
        if isinstance(flag, bits.Wire):
            return Text(self.place(flag.place))
        if isinstance(flag, bits.At):
            return Text(f"{self.place(flag.place)}[{self.index(flag.index)}]")
        if isinstance(flag, bits.Inverted):
            return Text(f"!{within(self.flag(flag.flag), _UNARY)}", _UNARY)
        if isinstance(flag, bits.Gate):
            level = _LEVELS[flag.op]
            operands = [self.flag(each) for each in flag.operands]
            first, *rest = (within(each, level) for each in operands)
            return Text(f" {_GATES[flag.op]} ".join([first, *rest]), level)
        if isinstance(flag, bits.EitherFlag):
            return self._choice(flag.test, self.flag(flag.yes), self.flag(flag.no))
        assert isinstance(flag, bits.Compared)
        level = _LEVELS[flag.op]
        if isinstance(flag.left, bits.Vector):
            assert isinstance(flag.right, bits.Vector)
            if flag.op in ("==", "!="):
                left, right = self.vector(flag.left), self.vector(flag.right)
            else:
                left, right = (
                    self.typed(each, flag.left.signed) for each in (flag.left, flag.right)
                )
        elif isinstance(flag.left, bits.Flag):
            assert isinstance(flag.right, bits.Flag)
            left, right = self.flag(flag.left), self.flag(flag.right)
        else:
            assert isinstance(flag.right, bits.Member)
            left, right = self.member(flag.left), self.member(flag.right)
        return Text(f"{within(left, level)} {flag.op} {within(right, level)}", level)

    def member(self, value: bits.Member) -> Text:
        """A value of an enumeration."""
        if isinstance(value, bits.MemberConst):
            return Text(self.members(value.item))
        if isinstance(value, bits.EitherMember):
            return self._choice(value.test, self.member(value.yes), self.member(value.no))
        assert isinstance(value, bits.MemberName)
        return Text(self.place(value.place))

    # Statements

    def value(self, value: bits.Value) -> str:
        """A value on the right of an assignment."""
        if isinstance(value, bits.Vector):
            return self.vector(value).text
        if isinstance(value, bits.Flag):
            return self.flag(value).text
        return self.member(value).text

    def target(self, target: bits.Target) -> str:
        """The left side of an assignment."""
        if target.index is not None:
            return f"{self.place(target.place)}[{self.index(target.index)}]"
        if target.high is not None:
            assert target.low is not None
            return self.part(target.place, target.high - 1, target.low)
        return self.place(target.place)

    def assignment(self, each: bits.Assignment) -> str:
        """An assignment."""
        sign = "=" if isinstance(each.target.place.what, Variable) else self.sign
        return f"{self.target(each.target)} {sign} {self.value(each.value)};"

    def leave(self, each: bits.Leave) -> str:
        """Print the end of the block around the loop, or of the block around its body."""
        leave, on = self.leaving[-1]
        return f"disable {on if each.goes_on else leave};"

    def branches(self, each: bits.Branches) -> list[str]:
        """An if."""
        found: list[str] = []
        ways, otherwise = chain(each)
        for test, body in ways:
            word = "end else if" if found else "if"
            found += [f"{word} ({self.flag(test).text}) begin", *indented(self.statements(body))]
        if otherwise:
            found += ["end else begin", *indented(self.statements(otherwise))]
        return [*found, "end"]

    def selection(self, each: bits.Selection) -> list[str]:
        """A case."""
        subject = each.subject
        whole = self.member(subject) if isinstance(subject, bits.Member) else self.vector(subject)
        found = [f"case ({whole.text})"]
        branches, others = cases(each)
        for labels, body in branches:
            written = ", ".join(self._label(label) for label in labels)
            found += indented([f"{written}: begin", *indented(self.statements(body)), "end"])
        found += indented(["default: begin", *indented(self.statements(others)), "end"])
        return [*found, "endcase"]

    def _label(self, label: bits.Literal | bits.MemberConst) -> str:
        if isinstance(label, bits.MemberConst):
            return self.members(label.item)
        return _number(label.value & (1 << label.width) - 1, label.width)

    def loop(self, each: bits.Loop) -> list[str]:
        """Print a loop; if it is left, it is a named block, and so is its body."""
        name = self.variables[each.variable]
        last = each.start + each.step * (each.count - 1)
        if each.step > 0:
            head = f"for ({name} = {each.start}; {name} <= {last}; {name} = {name} + {each.step})"
        else:
            head = f"for ({name} = {each.start}; {name} >= {last}; {name} = {name} - {-each.step})"
        leaves = _leaves(each.body)
        label = self.labels(f"{name}_loop") if leaves else ""
        on = self.labels(f"{name}_round") if leaves else ""
        self.leaving.append((label, on))
        body = indented(self.statements(each.body))
        self.leaving.pop()
        if not leaves:
            return [f"{head} begin", *body, "end"]
        inner = [f"{head} begin : {on}", *body, "end"]
        return [f"begin : {label}", *indented(inner), "end"]


def _leaves(statements: Sequence[bits.Statement]) -> bool:
    """Return whether statements leave the surrounding loop."""
    for each in statements:
        if isinstance(each, bits.Leave):
            return True
        if isinstance(each, bits.Branches | bits.Selection):
            bodies = [body for _, body in each.branches]
            if any(_leaves(body) for body in (*bodies, each.otherwise)):
                return True
    return False


def _number(value: int, width: int) -> str:
    return f"{width}'d{value}" if value < _DECIMAL else f"{width}'h{value:x}"


def _binary(op: str, level: int, left: Text, right: Text) -> Text:
    text = f"{within(left, level - 1)} {op} {within(right, level)}"
    return Text(text, level, left.signed and right.signed)
