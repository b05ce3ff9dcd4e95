"""Choose the bits of the integers of a process.

A value gets the bits that its range needs. If only some low bits of it are used, sums, products
and similar operations are computed only with these bits, which gives the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from merp.hdl.conversion.process import bits, build
from merp.hdl.conversion.process import meaning as m
from merp.hdl.conversion.process.dead import alive
from merp.hdl.conversion.process.flags import Flags
from merp.hdl.conversion.process.idle import kept_loops
from merp.hdl.conversion.process.meaning import Expr, Variable
from merp.hdl.conversion.process.places import cast, enum_type, storage
from merp.hdl.conversion.process.ranges import Range, unsigned


@dataclass
class Sized:
    """A process with bits.

    Attributes:
        statements: in order.
        variables: of the source, and those for values whose bits are used.
        tables: that are indexed.
    """

    statements: list[bits.Statement]
    variables: list[Variable]
    tables: list[m.Table] = field(default_factory=list)


def sized(meaning: m.Meaning, holds: bool) -> Sized:
    """Return the statements of a process with bits.

    Args:
        meaning: of the process.
        holds: whether the language cannot take a part of a value, or copy its sign. Such values
            are held in variables. Indices then have the bits that they need.
    """
    sizer = Sizer(holds)
    statements = sizer.block(alive(kept_loops(meaning)))
    return Sized(statements, [*meaning.variables, *sizer.held], sizer.tables)


class Sizer(Flags):
    """Builder of the statements of a process with bits."""

    def block(self, statements: Sequence[m.Statement]) -> list[bits.Statement]:
        """Return statements, each after the computations that it needs."""
        found: list[bits.Statement] = []
        for each in statements:
            outside, self.before = self.before, []
            inner = self._statement(each)
            found += [*self.before, *inner]
            self.before = outside
        return found

    def _statement(self, each: m.Statement) -> list[bits.Statement]:
        if isinstance(each, m.Assign):
            if isinstance(each.value, m.Choice) and enum_type(each.value) is not None:
                choice = each.value
                ways = [replace(each, value=way) for way in (choice.yes, choice.no)]
                return self._if(((choice.test, ways[:1]),), ways[1:])
            return [self._assign(each)]
        if isinstance(each, m.If):
            return self._if(each.branches, each.otherwise)
        if isinstance(each, m.Case):
            return self._case(each)
        if isinstance(each, m.For):
            return [] if self.holds and not each.count else [self._loop(each)]
        return [bits.Leave(isinstance(each, m.Continue))]

    def _loop(self, each: m.For) -> bits.Loop:
        """Return a loop; if its step is not one, it runs over the number of the round."""
        if abs(each.step) == 1 or each.count <= 1:
            body = self.block(each.body)
            return bits.Loop(
                each.variable, each.start, 1 if each.count == 1 else each.step, each.count, body
            )
        number = Variable(each.variable.name, Range(0, each.count - 1), False)
        index = m.Index(number, range=Range(0, each.count - 1))
        scaled = build.binary("*", index, build.const(each.step))
        self.strides[each.variable] = build.binary("+", scaled, build.const(each.start))
        return bits.Loop(number, 0, 1, each.count, self.block(each.body))

    def _if(
        self,
        branches: Sequence[tuple[Expr, Sequence[m.Statement]]],
        otherwise: Sequence[m.Statement],
    ) -> list[bits.Statement]:
        found: list[tuple[bits.Flag, Sequence[bits.Statement]]] = []
        for place, (test, body) in enumerate(branches):
            outside, self.before = self.before, []
            flag = self.flag(test)
            hoisted, self.before = self.before, outside
            if hoisted and found:
                rest = self._if(branches[place:], otherwise)
                return [bits.Branches(tuple(found), rest)]
            self.before += hoisted
            if isinstance(flag, bits.Bool):
                if not flag.value:
                    continue
                otherwise = body
                break
            found.append((flag, self.block(body)))
        rest = self.block(otherwise)
        if not found:
            return rest
        return [bits.Branches(tuple(found), rest)]

    def _case(self, each: m.Case) -> list[bits.Statement]:
        otherwise = self.block(each.otherwise)
        branches: list[tuple[tuple[Any, ...], list[bits.Statement]]] = []
        if enum_type(each.subject) is not None:
            for labels, body in each.branches:
                items = tuple(bits.MemberConst(label.item) for label in labels)  # type: ignore[attr-defined]
                branches.append((items, self.block(body)))
            number = sum(len(labels) for labels, _ in branches)
            full = number == len(enum_type(each.subject))
            return [bits.Selection(self.member(each.subject), tuple(branches), otherwise, full)]
        subject = self.natural(each.subject)
        held = unsigned(subject.width) if not subject.signed else Range(
            -(1 << subject.width - 1), (1 << subject.width - 1) - 1
        )  # fmt: skip
        for labels, body in each.branches:
            found = tuple(
                bits.Literal(subject.width, subject.signed, label.value)
                for label in labels
                if isinstance(label, m.Const) and label.value in held
            )
            if found:
                branches.append((found, self.block(body)))
        if not branches:
            return otherwise
        full = sum(len(labels) for labels, _ in branches) == 1 << subject.width
        return [bits.Selection(subject, tuple(branches), otherwise, full)]

    def _assign(self, each: m.Assign) -> bits.Assignment:
        target, base = each.target, each.target.base
        place = self.place(base)
        if enum_type(base) is not None:
            return bits.Assignment(bits.Target(place), self.member(each.value))
        width, is_signed = storage(base)
        if width is None:
            return bits.Assignment(bits.Target(place), self.flag(each.value))
        if target.index is not None:
            index = self.index(target.index, width)
            whole = bits.Target(place, width, is_signed, index=index)
            return bits.Assignment(whole, self.flag(each.value))
        if target.high is not None:
            assert target.low is not None
            whole = bits.Target(place, width, is_signed, target.high, target.low)
            value = self.low_bits(each.value, target.high - target.low)
            return bits.Assignment(whole, cast(value, is_signed))
        value = cast(self.low_bits(each.value, width), is_signed)
        return bits.Assignment(bits.Target(place, width, is_signed), value)
