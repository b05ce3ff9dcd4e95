"""Form flags: bools, conditions, single bits of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from merp.hdl.conversion.process import bits, build
from merp.hdl.conversion.process import meaning as m
from merp.hdl.conversion.process.meaning import Expr
from merp.hdl.conversion.process.places import enum_type, name_for, storage
from merp.hdl.conversion.process.vectors import Vectors

_TURNED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class Flags(Vectors):
    """Builder of bools and conditions."""

    def flag(self, value: Expr) -> bits.Flag:
        """Return a bool; for a number its lowest bit."""
        if isinstance(value, m.Const):
            return bits.Bool(bool(value.value & 1))
        if isinstance(value, m.Read | m.Local | m.Element):
            width, _ = storage(value)
            place = self.place(value)
            return bits.Wire(place) if width is None else bits.At(place, width, 0)
        if isinstance(value, m.Compare):
            return self._compared(value)
        if isinstance(value, m.Logic):
            return gate(value.op, [self.flag(each) for each in value.operands])
        if isinstance(value, m.Not):
            return inverse(self.flag(value.operand))
        if isinstance(value, m.Choice):
            return bits.EitherFlag(self.flag(value.test), self.flag(value.yes), self.flag(value.no))
        if isinstance(value, m.Bit):
            return self._bit(value)
        return self._lowest(value)

    def _lowest(self, value: Expr) -> bits.Flag:
        """Return the lowest bit of a number."""
        gates = {"&": "and", "*": "and", "|": "or", "^": "xor", "+": "xor", "-": "xor"}
        if isinstance(value, m.Binary) and value.op in gates:
            return gate(gates[value.op], [self.flag(value.left), self.flag(value.right)])
        if isinstance(value, m.Unary):
            inner = self.flag(value.operand)
            return inverse(inner) if value.op == "~" else inner
        if isinstance(value, m.Slice):
            return self.flag(build.bit(value.value, build.const(value.low)))
        if isinstance(value, m.Signed):
            return self.flag(value.value)
        if isinstance(value, m.Binary) and value.op == ">>" and isinstance(value.right, m.Const):
            return self.flag(build.bit(value.left, value.right))
        if isinstance(value, m.Concat):
            return self.flag(value.parts[-1][0])
        node = self.natural(value)
        if isinstance(node, bits.Name):
            return bits.At(node.place, node.width, 0)
        return bits.At(self.hold(node, name_for(value)), node.width, 0)

    def _bit(self, value: m.Bit) -> bits.Flag:
        if isinstance(value.index, m.Const):
            return self._numbered(value.value, value.index.value)
        reach = value.index.range.high
        whole = value.value.range.width
        node = self.natural(value.value)
        if (
            isinstance(value.value, m.Read | m.Local | m.Element)
            and storage(value.value)[0] is None
        ):
            return self.flag(build.logic("and", [
                replace(value.value, is_bool=True), build.compare("==", value.index, build.const(0))
            ]))  # fmt: skip
        if reach >= max(whole, node.width):  # the sign follows the bits
            shifted = build.binary(">>", value.value, value.index)
            return self._lowest(shifted)
        index = self.index(value.index, node.width)
        assert not isinstance(index, int)
        place = (
            node.place if isinstance(node, bits.Name) else self.hold(node, name_for(value.value))
        )
        return bits.At(place, node.width, index)

    def _numbered(self, value: Expr, index: int) -> bits.Flag:
        if value.is_bool:
            return self.flag(value) if index == 0 else bits.Bool(False)
        if isinstance(value, m.Read | m.Local | m.Element):
            width, is_signed = storage(value)
            place = self.place(value)
            if width is None:
                return bits.Wire(place) if index == 0 else bits.Bool(False)
            if index < width:
                return bits.At(place, width, index)
            return bits.At(place, width, width - 1) if is_signed else bits.Bool(False)
        if index == 0:
            return self._lowest(value)
        if index >= value.range.width:
            if not value.range.is_signed:
                return bits.Bool(False)
            index = value.range.width - 1
        node = self.low_bits(value, index + 1)
        return bits.At(self.hold(node, name_for(value)), node.width, index)

    def _compared(self, value: m.Compare) -> bits.Flag:
        if enum_type(value.left) is not None:
            for one, other in ((value.left, value.right), (value.right, value.left)):
                if isinstance(one, m.Choice):
                    yes, no = (build.compare(value.op, each, other) for each in (one.yes, one.no))
                    return self.flag(build.choice(one.test, yes, no))
            return bits.Compared(value.op, self.member(value.left), self.member(value.right))
        if value.left.is_bool and value.right.is_bool:
            return self._bools(value)
        for one, other, op in (
            (value.left, value.right, value.op), (value.right, value.left, _TURNED[value.op]),
        ):  # fmt: skip
            known = one.is_bool and isinstance(other, m.Const) and op in ("==", "!=")
            if known and isinstance(other, m.Const) and other.value in (0, 1):
                flag = self.flag(one)
                return flag if (other.value == 1) == (op == "==") else inverse(flag)
        decided = build.decided(value.op, value.left.range, value.right.range)
        if decided is not None and self.holds:  # otherwise a linter warns about the comparison
            return bits.Bool(decided)
        left, right = self.natural(value.left), self.natural(value.right)
        is_signed = left.signed or right.signed
        if is_signed:
            left, right = self.with_sign(left), self.with_sign(right)
        width = max(left.width, right.width)
        return bits.Compared(value.op, self.resized(left, width), self.resized(right, width))

    def _bools(self, value: m.Compare) -> bits.Flag:
        left, right = self.flag(value.left), self.flag(value.right)
        if isinstance(right, bits.Bool):
            if value.op in ("==", "!="):
                return left if right.value == (value.op == "==") else inverse(left)
        if value.op in ("==", "!="):
            return bits.Compared(value.op, left, right)
        if value.op == "<":
            return bits.Gate("and", (inverse(left), right))
        if value.op == "<=":
            return bits.Gate("or", (inverse(left), right))
        if value.op == ">":
            return bits.Gate("and", (left, inverse(right)))
        return bits.Gate("or", (left, inverse(right)))

    def member(self, value: Expr) -> bits.Member:
        """Return a value of an enumeration."""
        if isinstance(value, m.EnumConst):
            return bits.MemberConst(value.item)
        if isinstance(value, m.Choice):
            return bits.EitherMember(
                self.flag(value.test), self.member(value.yes), self.member(value.no)
            )
        return bits.MemberName(self.place(value))


def gate(op: str, flags: Sequence[bits.Flag]) -> bits.Flag:
    """Return ``and``, ``or`` or ``xor`` of flags, without constants."""
    kept: list[bits.Flag] = []
    turned = False
    for each in flags:
        if not isinstance(each, bits.Bool):
            kept.append(each)
        elif op == "xor":
            turned ^= each.value
        elif each.value == (op == "or"):
            return each
    if not kept:
        return bits.Bool(turned if op == "xor" else op == "and")
    found = kept[0] if len(kept) == 1 else bits.Gate(op, tuple(kept))
    return inverse(found) if turned else found


def inverse(flag: bits.Flag) -> bits.Flag:
    """Return the inverted flag."""
    if isinstance(flag, bits.Compared):
        return replace(flag, op=_OPPOSITE[flag.op])
    if isinstance(flag, bits.Bool):
        return bits.Bool(not flag.value)
    return flag.flag if isinstance(flag, bits.Inverted) else bits.Inverted(flag)
