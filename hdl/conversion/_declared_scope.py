"""Common parts of the readers of VHDL and of Verilog in ``_declared``.

Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from merp.hdl.conversion.base.errors import ExportError


@dataclass(frozen=True)
class Port:
    """A port of an entity: whether it is an output, and whether it may stay open."""

    is_output: bool
    has_default: bool


@dataclass
class Unit:
    """An entity or a module as others see it.

    Attributes:
        name: as it is written.
        generics: whether each has a default, by name.
        ports: by name.
    """

    name: str
    generics: dict[str, bool] = field(default_factory=dict)
    ports: dict[str, Port] = field(default_factory=dict)


class Reader:
    """A file, and the names that are visible at the current place.

    Args:
        file: its name.
        text: as it is written.
        plain: as long as the text, without comments, and with digits for literals.
        word: finds the names in ``plain``.
    """

    def __init__(self, file: str, text: str, plain: str, word: re.Pattern[str]) -> None:
        self.file, self.text, self.plain = file, text, plain
        self.word = word
        self.known: set[str] = set()
        self.kinds: dict[str, str] = {}
        self._layers: list[dict[str, str | None]] = [{}]

    # Scopes

    def begin(self, visible: Iterable[str]) -> None:
        """Begin a unit in which initially only these names are visible."""
        self.known = set(visible)
        self.kinds = {}
        self._layers = [{}]

    def open(self) -> None:
        """Begin a scope within the current one."""
        self._layers.append({})

    def close(self) -> None:
        """End the current scope."""
        for name, outer in self._layers.pop().items():
            if outer is None:
                del self.kinds[name]
                self.known.discard(name)
            else:
                self.kinds[name] = outer

    def declare(self, name: str, kind: str, at: int, overloads: bool = False) -> None:
        """Declare a name in the current scope.

        Args:
            overloads: whether it may overload others of its kind.
        """
        layer = self._layers[-1]
        if name in layer and not (overloads and self.kinds[name] == kind):
            self.fail(at, f"{self.written(at, name)} is declared twice")
        layer.setdefault(name, self.kinds.get(name))
        self.kinds[name] = kind
        if kind != "label":  # which no expression names
            self.known.add(name)

    # Checks

    def check(self, start: int, end: int) -> None:
        """Check that every name in a part of the file is known."""
        if not self.known.issuperset(self.word.findall(self.plain, start, end)):
            for match in self.word.finditer(self.plain, start, end):
                self.check_name(match.group(), match.start())

    def check_name(self, name: str, at: int) -> None:
        """Check that a name is known."""
        if name not in self.known:
            self.fail(at, f"{self.written(at, name)} is not declared")

    def check_target(self, name: str, at: int, kinds: Iterable[str], what: str) -> None:
        """Check that the target of an assignment has one of the kinds; ``what`` describes them."""
        self.check_name(name, at)
        kind = self.kinds.get(name, "")
        if kind == "in":
            self.fail(at, f"{self.written(at, name)} is assigned, but is an input")
        if kind not in kinds:
            self.fail(at, f"{self.written(at, name)} is assigned, but is no {what}")

    def check_connected(self, unit: Unit, generics: set[str], ports: set[str], at: int) -> None:
        """Check that all generics and ports without defaults are connected."""
        for name, has_default in unit.generics.items():
            if not has_default and name not in generics:
                self.fail(at, f"generic {name} of {unit.name} has no value")
        for name, port in unit.ports.items():
            if not port.has_default and name not in ports:
                self.fail(at, f"port {name} of {unit.name} is not connected")

    def check_named(self, units: Iterable[str]) -> None:
        """Check that one of the units has the name of the file."""
        name = self.file.rpartition(".")[0]
        if not {name, name.lower()} & {*units}:
            self.fail(0, f"{name} is not declared")

    def fail(self, at: int, what: str) -> NoReturn:
        """Refuse the text at a place.

        Raises:
            ExportError: always.
        """
        line = self.text.count("\n", 0, at) + 1
        raise ExportError(f"{self.file}, line {line}: {what}")

    def strange(self, at: int) -> NoReturn:
        """Refuse text that is not understood.

        Raises:
            ExportError: always.
        """
        rest = self.text[at : at + 200].lstrip()
        at += len(self.text[at : at + 200]) - len(rest)
        words = " ".join(rest.partition("\n")[0].split())
        self.fail(at, f"not understood: {words[:60] or 'the end of the file'}")

    # Text

    def written(self, at: int, name: str) -> str:
        """Return the name at a place as it is written."""
        found = self.text[at : at + len(name)]
        return found if found.lower() == name.lower() else name

    def match(self, pattern: re.Pattern[str], at: int) -> re.Match[str]:
        """Match a pattern at a place.

        Raises:
            ExportError: it does not match.
        """
        found = pattern.match(self.plain, at)
        if found is None:
            self.strange(at)
        return found

    def closing(self, at: int) -> int:
        """Return the place of the bracket that closes the bracket at a place."""
        depth = 0
        for match in _BRACKET.finditer(self.plain, at):
            depth += 1 if match.group() in "([{" else -1
            if not depth:
                return match.start()
        self.fail(at, f"{self.text[at]} is not closed")

    def comma(self, at: int) -> int:
        """Return the place of the comma or the bracket that ends the item at a place."""
        depth = 0
        for match in _COMMA.finditer(self.plain, at):
            found = match.group()
            if not depth and found in ",)]};":
                return match.start()
            depth += (found in "([{") - (found in ")]}")
        self.strange(at)

    def semicolon(self, at: int) -> int:
        """Return the place after the next semicolon."""
        found = self.plain.find(";", at) + 1
        if not found:
            self.strange(at)
        return found


_BRACKET = re.compile(r"[()\[\]{}]")
_COMMA = re.compile(r"[()\[\]{},;]")


def blank(match: re.Match[str]) -> str:
    """Replace a comment by blanks, and anything else by digits; the ends of lines stay."""
    found = match.group()
    if found.startswith(("--", "//", "/*", "`")):
        return re.sub(r"[^\n]", " ", found)
    return "0" * len(found)
