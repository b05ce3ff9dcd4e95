"""Express the numbers of several configurations by generics. Private to ``merp.hdl.conversion``.

A row has one value for each configuration. It is written as ``factor * generic + offset`` with the
first generic for which this is exact. If there is none, the row becomes a new generic. A width that
is the logarithm of a generic becomes a constant instead of a generic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from merp.hdl.conversion._logarithm import Logarithm, logarithm
from merp.hdl.conversion._numbers import Factors, Num, number

Row = tuple[int, ...]
_NEAR = 2  # largest offset for rows with only two values, where a larger one may be chance


@dataclass
class Generics:
    """The generics of one entity, with their values in each configuration.

    Attributes:
        known: candidates for generics: parameters first, then widths of ports.
        taken: names that are not free.
        count: number of configurations.
        used: the generics that are needed.
        parameters: members of ``known`` that are parameters of the block.
        derived: widths that follow from a generic, by the name of their constant.
        constants: members of ``derived`` that the architecture names.
    """

    known: dict[str, Row]
    taken: set[str]
    count: int
    used: set[str] = field(default_factory=set)
    parameters: frozenset[str] = frozenset()
    derived: dict[str, Logarithm] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)

    def values(self, name: str) -> Row:
        """Return the values of a generic or a derived constant, one for each configuration."""
        return self.derived[name].of(self.known) if name in self.derived else self.known[name]

    def fit(self, row: Row, chosen: Sequence[int], hint: str) -> Num:
        """Express a row of values for the ``chosen`` configurations; ``hint`` names new ones."""
        if len(set(row)) == 1:
            return number(row[0])
        derived = self.derive(row, chosen, hint) if hint.endswith("_width") else None
        if derived is not None:
            self.used.add(self.derived[derived].generic)
            return number({(derived,): 1})
        best: tuple[tuple[int, int, int], str, int, int] | None = None
        for place, name in enumerate((*self.known, *self.derived)):
            values = self.values(name)
            line = _line([values[each] for each in chosen], row)
            if line is not None:
                factor, offset = line
                new = name not in self.used and name not in self.derived
                cost = (int(factor != 1 or abs(offset) > 1), int(new), place)
                if best is None or cost < best[0]:
                    best = (cost, name, factor, offset)
        if best is None:
            name = self._new(row, chosen, hint)
            best = ((0, 0, 0), name, 1, 0)
        _, name, factor, offset = best
        self.used.add(self.derived[name].generic if name in self.derived else name)
        return number({(name,): factor, (): offset})

    def derive(self, row: Row, chosen: Sequence[int], hint: str) -> str | None:
        """Return the constant for a row that is the logarithm of a generic, but not a generic."""
        if any(tuple(values[k] for k in chosen) == row for values in self.known.values()):
            return None
        found = logarithm(row, self.known, chosen, self.parameters)
        if found is None:
            return None
        name = next((name for name, each in self.derived.items() if each == found), None)
        if name is None:
            name = self._free(hint)
            self.derived[name] = found
        return name

    def named(self, value: Num) -> Num:
        """Register a number of the architecture, which may name constants, and return it."""
        self.constants |= {name for factors, _ in value.terms for name in factors} & set(
            self.derived
        )
        return value

    def spelled_out(self, value: Num) -> Num:
        """Write a number of a port without constants, because ports precede all constants."""
        text = {name: str(each) for name, each in self.derived.items()}
        return number(
            {tuple(text.get(name, name) for name in names): n for names, n in value.terms}
        )

    def _free(self, hint: str) -> str:
        name, count = hint, 1
        while name.lower() in self.taken or name in self.known or name in self.derived:
            count += 1
            name = f"{hint}_{count}"
        return name

    def _new(self, row: Row, chosen: Sequence[int], hint: str) -> str:
        values = dict(zip(chosen, row, strict=True))
        name = self._free(hint)
        self.known[name] = tuple(values.get(each, row[0]) for each in range(self.count))
        return name

    def fit_number(self, numbers: Sequence[Num], chosen: Sequence[int], hint: str) -> Num:
        """Express a number that may depend on loop indices, from its forms in the ``chosen``."""
        factors: list[Factors] = sorted({f for each in numbers for f, _ in each.terms})
        found: dict[Factors, int] = {}
        for term in factors:
            row = tuple(dict(each.terms).get(term, 0) for each in numbers)
            for named, value in self.fit(row, chosen, hint).terms:
                key = tuple(sorted((*named, *term)))
                found[key] = found.get(key, 0) + value
        return number(found)


def _line(known: Sequence[int], wanted: Sequence[int]) -> tuple[int, int] | None:
    """Return the factor and offset from one row to the other, if more than chance supports them."""
    first = next((k for k, value in enumerate(known) if value != known[0]), None)
    if first is None:
        return None
    factor, rest = divmod(wanted[first] - wanted[0], known[first] - known[0])
    offset = wanted[0] - factor * known[0]
    if rest or factor == 0:
        return None
    if any(factor * a + offset != b for a, b in zip(known, wanted, strict=True)):
        return None
    if len(set(known)) == 2 and (abs(offset) > _NEAR or factor < 0):
        return None
    return factor, offset
