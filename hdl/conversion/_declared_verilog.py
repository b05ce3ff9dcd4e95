"""Check names in Verilog files: declared once, before use. Private to ``merp.hdl.conversion``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from merp.hdl.conversion._declared_scope import Port, Reader, Unit, blank
from merp.hdl.conversion._verilog_text import ABSENT
from merp.hdl.conversion.base.names import VERILOG_KEYWORDS

_MASK = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "[^"\n]*" | `timescale\b[^\n]*
    | \b\d*\s*'[sS]?[bBdDhHoO][0-9a-fA-F_xXzZ?]+""",
    re.VERBOSE | re.DOTALL,
)
_WORD = re.compile(r"(?<![\w$.`])[A-Za-z_]\w*")
_SYSTEM = re.compile(r"\$(\w*)")
_SYSTEM_FUNCTIONS = frozenset({"clog2", "signed", "unsigned"})
_EDGES = frozenset({"negedge", "or", "posedge"})
"""Keywords that may be used in place of names."""

_MODULE = re.compile(r"\s*(?:module\s+([A-Za-z_]\w*)\s*(#\s*)?\(|(\Z))")
_PARAMETER = re.compile(r"\s*parameter\s+integer\s+([A-Za-z_]\w*)\s*=\s*\d+\s*")
_PORTS = re.compile(r"\s*\(")
_PORT = re.compile(
    r"""\s*(?:(?P<way>input|output)\s+(?P<kind>wire\b|reg\b)?\s*(?:signed\b)?\s*
    (?:\[[^\]]*\])?\s* (?P<name>[A-Za-z_]\w*)\s* (?P<initial>=)? )?""",
    re.VERBOSE,
)
_SEMICOLON = re.compile(r"\s*;")
_ITEM = re.compile(
    r"""\s*(?: (?P<declaration>reg|wire|integer|localparam|parameter)\b | (?P<assign>assign)\b
    | (?P<always>always)\s*@\s*(?P<awaited>\() | (?P<initial>initial)\b | (?P<end>endmodule)\b
    | (?P<function>function)\b | (?P<generate>generate|endgenerate)\b
    | (?P<if>if)\s*(?=\() | (?P<begin>begin\s*:\s*[A-Za-z_]\w*) | (?P<close>end)\b
    | (?P<else>else)\b
    | (?P<module>[A-Za-z_]\w*)\s*(?:(?P<given>\#\s*)(?=\()|\s(?P<label>[A-Za-z_]\w*)\s*(?=\()) )""",
    re.VERBOSE,
)
_TYPE = re.compile(r"\s*(?:(?:signed|integer)\b)?\s*(\[[^\]]*\])?")
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)(=)?")
_INPUT = re.compile(r"\s*(input|reg|integer)\b")
_ENDFUNCTION = re.compile(r"\s*endfunction\b")
_STATEMENT = re.compile(
    r"""\s*(?: (?P<target>[A-Za-z_]\w*)\s*(?:\[[^;]*?\]\s*)*<?=(?!=)[^;]*;
    | (?P<begin>begin)\b(?:\s*:\s*(?P<name>[A-Za-z_]\w*))? | (?P<if>if)\s*(?=\()
    | (?P<case>case)\s*(?=\()
    | (?P<for>for)\s*\(\s*(?P<first>\w+)\s*=[^;]*;[^;]*;\s*(?P<next>\w+)\s*=(?=[^;]*\))
    | (?P<disable>disable)\s+(?P<left>[A-Za-z_]\w*)\s*; | (?P<empty>;) )""",
    re.VERBOSE,
)
_DECLARATION = re.compile(r"\s*(reg|integer)\b")
_END = re.compile(r"\s*end\b")
_ELSE = re.compile(r"\s*else\b")
_ENDCASE = re.compile(r"\s*endcase\b")
_LABELS = re.compile(r"\s*(?:default\b\s*:?|(\w+(?:\s*,\s*\w+)*)\s*:)")
_FORMAL = re.compile(r"\.(\w+)\s*\(")
_ROW = re.compile(r"\s*\.(\w+)\s*\(")
_BASE = re.compile(r"\s*([A-Za-z_]\w*)")
_LABEL = re.compile(r"\s*([A-Za-z_]\w*)\s*(?=\()")
_NEXT = re.compile(r"\s*([,)])")

_VARIABLES = ("reg", "integer")
_KINDS = {"localparam": "constant", "parameter": "constant", "input": "in"}


def check_verilog(texts: Mapping[str, str]) -> None:
    """Check the names in Verilog files.

    Raises:
        ExportError: a name is not as it should be.
    """
    modules: dict[str, _Module] = {}
    files = [_File(file, text, modules) for file, text in texts.items()]
    found = [(file, start) for file in files for start in file.modules()]
    for file, start in found:
        file.read(start)


@dataclass
class _Module(Unit):
    """A module, and kinds and places of its ports."""

    kinds: dict[str, tuple[str, int]] = field(default_factory=dict)


class _File(Reader):
    """The reader of a file."""

    def __init__(self, file: str, text: str, modules: dict[str, _Module]) -> None:
        super().__init__(file, text, _MASK.sub(blank, text), _WORD)
        self.units = modules
        self.name = ""

    def modules(self) -> list[int]:
        """Read the ports of each module of the file; return the places of the modules."""
        for match in _SYSTEM.finditer(self.plain):
            if match[1] not in _SYSTEM_FUNCTIONS:
                self.fail(match.start(), f"${match[1]} is not known")
        if "`" in self.plain:
            self.strange(self.plain.index("`"))
        found = []
        at = 0
        while (match := self.match(_MODULE, at))[1]:
            found.append(at)
            name = match[1]
            if name in self.units:
                self.fail(match.start(1), f"module {name} is declared twice")
            self.units[name] = _Module(name)
            opening = match.end() - 1
            if match[2]:
                opening = self._parameters(self.units[name], opening)
            self._ports(self.units[name], opening)
            at = self.plain.find("endmodule", at) + len("endmodule")
            if at < len("endmodule"):
                self.fail(match.start(1), f"module {name} has no end")
        self.check_named(self.units)
        return found

    def _parameters(self, unit: _Module, at: int) -> int:
        """Read the parameters of a module; return the place of the bracket of its ports."""
        closing = self.closing(at)
        while at < closing:
            match = self.match(_PARAMETER, at + 1)
            if match[1] in unit.generics:
                self.fail(match.start(1), f"{match[1]} is declared twice")
            unit.generics[match[1]] = True
            at = match.end()
        return self.match(_PORTS, closing + 1).end() - 1

    def _ports(self, unit: _Module, at: int) -> None:
        closing = self.closing(at)
        while at < closing:
            match = self.match(_PORT, at + 1)
            name, kind = match["name"], match["kind"] or "wire"
            if name is None:
                if self.plain[at + 1 : closing].strip() or unit.ports:
                    self.strange(at + 1)
                return
            if name in unit.ports:
                self.fail(match.start("name"), f"{name} is declared twice")
            is_output = match["way"] == "output"
            unit.ports[name] = Port(is_output, has_default=False)
            unit.kinds[name] = (kind if is_output else "in", match.start("name"))
            at = self.comma(match.end())
            if at > match.end() and match["initial"] is None:
                self.strange(match.end())

    def declare(self, name: str, kind: str, at: int, overloads: bool = False) -> None:
        """Declare a name, which must be valid in Verilog."""
        if name in VERILOG_KEYWORDS:
            self.fail(at, f"{name} is no identifier of Verilog")
        super().declare(name, kind, at, overloads)

    # Items

    def read(self, at: int) -> None:
        """Read the module at a place."""
        self.begin(_EDGES)
        match = self.match(_MODULE, at)
        self.name = match[1]
        for name in self.units[match[1]].generics:
            self.declare(name, "constant", match.start(1))
        for name, (kind, place) in self.units[match[1]].kinds.items():
            self.declare(name, kind, place)
        opening = match.end() - 1
        if match[2]:
            opening = self.match(_PORTS, self.closing(opening) + 1).end() - 1
        at = self.match(_SEMICOLON, self.closing(opening) + 1).end()
        while not (match := self.match(_ITEM, at))["end"]:
            at = match.end()
            if match["declaration"]:
                at = self._declaration(match["declaration"], at)
            elif match["assign"]:
                target = self.match(_STATEMENT, at)
                if target["target"] is None:
                    self.strange(at)
                self._assigned(target, ("wire",), "wire")
                at = target.end()
            elif match["always"]:
                end = self.closing(match.start("awaited"))
                self.check(match.start("awaited"), end)
                at = self._statement(end + 1)
            elif match["initial"]:
                at = self._statement(at)
            elif match["function"]:
                at = self._function(at)
            elif match["if"]:
                end = self.closing(at)
                self.check(at, end)
                at = end + 1
            elif match["begin"]:
                self.open()
            elif match["close"]:
                self.close()
            elif match["generate"] or match["else"]:
                continue
            else:
                at = self._instance(match)

    def _declaration(self, word: str, at: int) -> int:
        """Read a declaration; return the place after it."""
        kind = self.match(_TYPE, at)
        if kind[1]:
            self.check(*kind.span(1))
        at = kind.end()
        while True:
            match = self.match(_NAME, at)
            at = match.end()
            self.check(*match.span(2))
            if match[3]:
                start, at = at, self.comma(at)
                self.check(start, at)
            self.declare(match[1], _KINDS.get(word, word), match.start(1))
            if self.plain[at] == ";":
                return at + 1
            if self.plain[at] != ",":
                self.strange(at)
            at += 1

    def _function(self, at: int) -> int:
        match = self.match(_NAME, self.match(_TYPE, at).end())
        self.declare(match[1], "function", match.start(1))
        self.open()
        self.declare(match[1], "reg", match.start(1))
        at = self.match(_SEMICOLON, match.end()).end()
        while (declared := _INPUT.match(self.plain, at)) is not None:
            at = self._declaration(declared[1], declared.end())
        at = self.match(_ENDFUNCTION, self._statement(at)).end()
        self.close()
        return at

    # Statements

    def _assigned(self, match: re.Match[str], kinds: tuple[str, ...], what: str) -> None:
        """Check an assignment."""
        self.check_target(match["target"], match.start("target"), kinds, what)
        self.check(match.end("target"), match.end())

    def _statement(self, at: int) -> int:
        """Read a statement; return the place after it."""
        match = self.match(_STATEMENT, at)
        at = match.end()
        if match["target"]:
            self._assigned(match, _VARIABLES, "register")
        elif match["begin"]:
            at = self._block(match, at)
        elif match["if"]:
            return self._if(at)
        elif match["case"]:
            at = self._case(at)
        elif match["for"]:
            end = self.closing(self.plain.index("(", match.end("for")))
            self.check(match.start("first"), end)
            for name in ("first", "next"):
                self.check_target(match[name], match.start(name), _VARIABLES, "variable")
            at = self._statement(end + 1)
        elif match["disable"] and self.kinds.get(match["left"]) != "label":
            self.fail(match.start("left"), f"{match['left']} is not declared")
        return at

    def _block(self, match: re.Match[str], at: int) -> int:
        if match["name"]:
            self.declare(match["name"], "label", match.start("name"))
            self.open()
            while (declared := _DECLARATION.match(self.plain, at)) is not None:
                at = self._declaration(declared[1], declared.end())
        while (end := _END.match(self.plain, at)) is None:
            at = self._statement(at)
        if match["name"]:
            self.close()
        return end.end()

    def _if(self, at: int) -> int:
        """Read the text after ``if``, and each following ``else if``."""
        while True:
            end = self.closing(at)
            self.check(at, end)
            at = self._statement(end + 1)
            otherwise = _ELSE.match(self.plain, at)
            if otherwise is None:
                return at
            match = self.match(_STATEMENT, otherwise.end())
            if not match["if"]:
                return self._statement(otherwise.end())
            at = match.end()

    def _case(self, at: int) -> int:
        end = self.closing(at)
        self.check(at, end)
        at = end + 1
        while (last := _ENDCASE.match(self.plain, at)) is None:
            labels = self.match(_LABELS, at)
            if labels[1]:
                self.check(*labels.span(1))
            at = self._statement(labels.end())
        return last.end()

    # Instances

    def _instance(self, match: re.Match[str]) -> int:
        """Read an instance; return the place after it."""
        place = match.start("module")
        unit = self.units.get(match["module"])
        if match["module"] == f"{self.name}{ABSENT}":
            return self.semicolon(match.end())
        if unit is None:
            self.fail(place, f"{match['module']} is not declared")
        label, where = match["label"], match.start("label")
        opening = self.plain.index("(", match.end())
        if match["given"]:
            closing = self.closing(opening)
            for row in _FORMAL.finditer(self.plain, opening, closing):
                if row[1] not in unit.generics:
                    self.fail(row.start(1), f"{unit.name} has no parameter {row[1]}")
            self.check(opening, closing)
            named = self.match(_LABEL, closing + 1)
            label, where, opening = named[1], named.start(1), named.end()
        self.declare(label, "label", where)
        found: set[str] = set()
        at, closing = opening + 1, self.closing(opening)
        while at < closing and (found or self.plain[at:closing].strip()):
            row = self.match(_ROW, at)
            formal, start, end = row[1], row.end(), self.closing(row.end() - 1)
            if formal not in unit.ports:
                self.fail(row.start(1), f"{unit.name} has no port {formal}")
            if formal in found:
                self.fail(row.start(1), f"{formal} is connected twice")
            found.add(formal)
            self.check(start, end)
            base = _BASE.match(self.plain, start, end)
            if not unit.ports[formal].is_output:
                if base is None and not self.plain[start:end].strip():
                    self.fail(start, f"port {formal} of {unit.name} is not connected")
            elif base is not None:
                self.check_target(base[1], base.start(1), ("wire",), "wire")
            elif self.plain[start:end].strip():
                self.fail(start, f"output {formal} of {unit.name} is connected to no signal")
            at = self.match(_NEXT, end + 1).end()
        self.check_connected(unit, set(), found, place)
        return self.match(_SEMICOLON, closing + 1).end()
