"""Read the sequential text of VHDL: processes, and the declarations before their statements.

Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import re

from merp.hdl.conversion._declared_scope import Reader
from merp.hdl.conversion.base.names import VHDL_KEYWORDS

WORD = re.compile(r"(?<![\w'.])[a-z]\w*")
_INTERFACE = re.compile(
    r"\s*(?:signal|constant|variable)?\s*([a-z][\w\s,]*?)\s*:\s*(in|out|inout|buffer)?\b\s*"
    r"(?P<type>[a-z][^;]*?)(?P<default>:=[^;]*)?(?=;|$)"
)
_END = re.compile(r"\s*end\b([\w\s]*);")
DECLARATION = re.compile(
    r"\s*(signal|variable|constant|type|subtype|function|procedure|attribute|begin|end)\b"
)
_OBJECT = re.compile(r"\s*([a-z]\w*(?:\s*,\s*[a-z]\w*)*)\s*:(?!=)")
_TYPE = re.compile(r"\s+([a-z]\w*)\s+is\s*(\()?")
_OF = re.compile(r"\s+([a-z]\w*)\s+of\s+([a-z]\w*)\s*:")
_FUNCTION = re.compile(r"\s+([a-z]\w*)\s*(\()?")
_RETURN = re.compile(r"\s*(?:return\s+(\w+))?\s*(is\b|;)")
_SEQUENTIAL = re.compile(
    r"""\s*(?: (?P<target>[a-z]\w*)\s*(?P<sign><=|:=)[^;]*;
    | (?P<if>if|elsif|case|when|while)\b(?P<tested>[^;]*?)(?P<then>\bthen\b|\bis\b|\bloop\b|=>)
    | (?P<else>else|loop)\b
    | (?P<for>for)\s+(?P<index>[a-z]\w*)\s+in\b(?P<bounds>[^;]*?)\bloop\b
    | (?P<end>end)\s+(?P<closed>\w+)\b[\w\s]*;
    | (?P<other>null|next|exit|return|assert|report)\b[^;]*;
    | (?P<indexed>[a-z]\w*)\s*(?P<bracket>\() )""",
    re.VERBOSE,
)
SIGN = re.compile(r"\s*(?:\([^;]*?\)\s*)?(<=|:=|;)")
_FOLLOWED = {"if": "then", "elsif": "then", "case": "is", "when": "=>", "while": "loop"}
_OPENED = {"if": "if", "case": "case", "while": "loop", "for": "loop", "loop": "loop"}
_WITHIN = {"elsif": "if", "when": "case"}
_FIRST = re.compile(r"\s*([a-z]\w*)")
_TYPES = frozenset(
    """
    bit bit_vector boolean character integer integer_vector natural positive real signed std_logic
    std_logic_vector std_ulogic std_ulogic_vector string time unsigned
    """.split()
)
SIGNALS = ("signal", "out")


class Processes(Reader):
    """The reader of the text in a file that is not concurrent."""

    def declare(self, name: str, kind: str, at: int, overloads: bool = False) -> None:
        """Declare a name, which must be valid in VHDL."""
        if name in VHDL_KEYWORDS or "__" in name or name.endswith("_"):
            self.fail(at, f"{self.written(at, name)} is no identifier of VHDL")
        super().declare(name, kind, at, overloads)

    def interface(self, start: int, end: int) -> list[tuple[str, str, bool, int]]:
        """Return name, direction, whether it has a default, and place of each list element."""
        found = []
        while start < end:
            match = _INTERFACE.match(self.plain, start, end)
            if match is None:
                self.strange(start)
            self.typed(match.start("type"), match.end())
            for each in WORD.finditer(self.plain, match.start(1), match.end(1)):
                default = match["default"] is not None
                found.append((each.group(), match[2] or "in", default, each.start()))
            start = match.end() + 1
        return found

    def typed(self, start: int, end: int) -> None:
        """Check a type, and the value after it."""
        name = self.match(_FIRST, start)
        if name[1] not in _TYPES and self.kinds.get(name[1]) != "type":
            self.check_name(name[1], name.start(1))
            self.fail(name.start(1), f"{self.written(name.start(1), name[1])} is no type")
        self.check(start, end)

    def end(self, at: int, words: tuple[str, ...]) -> int:
        """Read ``end entity name;``, whose words are optional, and return the place after it."""
        match = self.match(_END, at)
        given = match[1].split()
        if given != [word for word in words if word in given]:
            self.strange(at)
        return match.end()

    # Declarations

    def declarations(self, at: int, last: str) -> int:
        """Read declarations up to ``last``; return the place after ``begin``, or of ``end``."""
        while True:
            match = self.match(DECLARATION, at)
            word, at = match[1], match.end()
            if word == last:
                return at if word == "begin" else match.start()
            if word in ("begin", "end"):
                self.strange(match.start())
            elif word in ("function", "procedure"):
                at = self._function(word, at)
            elif word in ("type", "subtype"):
                at = self._type(at)
            elif word == "attribute" and (of := _OF.match(self.plain, at)) is not None:
                end = self.semicolon(at)
                self.check(of.start(1), end)
                at = end
            else:
                names = self.match(_OBJECT, at)
                at = self.semicolon(names.end())
                self.typed(names.end(), at)
                for each in WORD.finditer(self.plain, *names.span(1)):
                    self.declare(each.group(), word, each.start())

    def _type(self, at: int) -> int:
        match = self.match(_TYPE, at)
        end = self.semicolon(at)
        if match[2]:
            for each in WORD.finditer(self.plain, match.end(), end):
                self.declare(each.group(), "literal", each.start(), overloads=True)
        else:
            self.check(match.end(), end)
        self.declare(match[1], "type", match.start(1))
        return end

    def _function(self, word: str, at: int) -> int:
        match = self.match(_FUNCTION, at)
        name, at = match[1], match.end(1)
        self.declare(name, word, match.start(1), overloads=True)
        self.open()
        if match[2]:
            end = self.closing(match.end() - 1)
            for own, direction, _, where in self.interface(match.end(), end):
                self.declare(own, "constant" if direction == "in" else "variable", where)
            at = end + 1
        returned = self.match(_RETURN, at)
        if returned[1]:
            self.typed(*returned.span(1))
        at = returned.end()
        if returned[2] == "is":
            at = self.sequence(self.declarations(at, "begin"), word, name)
        self.close()
        return at

    # Statements

    def sequence(self, at: int, word: str, name: str) -> int:
        """Read sequential statements, and ``end process name;`` after them."""
        opened: list[str] = []
        while True:
            match = self.match(_SEQUENTIAL, at)
            start, at = match.start(), match.end()
            if match["target"]:
                self._assigned(match["target"], match.start("target"), match["sign"])
                self.check(match.end("target"), at)
            elif match["if"]:
                kind = match["if"]
                if match["then"] != _FOLLOWED[kind]:
                    self.strange(start)
                self.check(*match.span("tested"))
                if kind in _WITHIN and opened[-1:] != [_WITHIN[kind]]:
                    self.strange(start)
                if kind in _OPENED:
                    opened.append(_OPENED[kind])
                    if kind == "while":
                        self.open()
            elif match["for"]:
                self.check(*match.span("bounds"))
                self.open()
                self.declare(match["index"], "loop", match.start("index"))
                opened.append("loop")
            elif match["else"] == "loop":
                self.open()
                opened.append("loop")
            elif match["else"]:
                if opened[-1:] != ["if"]:
                    self.strange(start)
                opened[-1] = "else"
            elif match["end"]:
                closed = match["closed"]
                if not opened:
                    return self.end(start, (word, name))
                if opened.pop().replace("else", "if") != closed:
                    self.strange(start)
                if closed == "loop":
                    self.close()
            elif match["other"]:
                self.check(match.end("other"), at)
            else:
                end = self.semicolon(at)
                after = self.closing(at - 1) + 1
                sign = self.match(SIGN, after)[1]
                self._assigned(match["indexed"], match.start("indexed"), sign)
                self.check(match.start("bracket"), end)
                at = end

    def _assigned(self, name: str, at: int, sign: str) -> None:
        if sign == "<=":
            self.check_target(name, at, SIGNALS, "signal")
        elif sign == ":=":
            self.check_target(name, at, ("variable",), "variable")
        elif self.kinds.get(name) != "procedure":
            self.strange(at)
