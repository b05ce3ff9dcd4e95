"""Check names in VHDL files: declared once, before use. Private to ``merp.hdl.conversion``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from merp.hdl.conversion._declared_scope import Port, Unit, blank
from merp.hdl.conversion._declared_vhdl_process import DECLARATION, SIGN, SIGNALS, WORD, Processes

_MASK = re.compile(r"""--[^\n]* | \b[box]"[^"\n]*" | "[^"\n]*" | (?<![\w)])'[^\n]'""", re.VERBOSE)
_ATTRIBUTE = re.compile(r"'\s*([a-z]\w*)")
_ATTRIBUTES = frozenset("event high image left length low pos range reverse_range right".split())
_INSIDE = frozenset(
    """
    abs and array assert case downto else elsif end exit for if in is loop mod nand next nor not
    null of open or others out range rem report return rol ror severity signal sla sll sra srl then
    to variable constant type function when while xnor xor
    """.split()
)
"""Keywords that may be used in place of names."""
_STANDARD = frozenset(
    """
    bit bit_vector boolean character error failure false integer integer_vector maximum minimum
    natural note positive real severity_level std string time to_string true warning work
    """.split()
)
_PACKAGES = {
    "ieee.std_logic_1164": frozenset(
        """
        falling_edge is_x rising_edge std_logic std_logic_vector std_ulogic std_ulogic_vector
        to_bit to_bitvector to_stdlogicvector to_stdulogic to_stdulogicvector to_x01
        """.split()
    ),
    "ieee.numeric_std": frozenset(
        """
        find_leftmost find_rightmost resize rotate_left rotate_right shift_left shift_right signed
        std_match to_01 to_integer to_signed to_unsigned unsigned
        """.split()
    ),
}

_UNIT = re.compile(
    r"""\s*(?: (?P<library>library)\s+(?P<libraries>[\w\s,]+); | (?P<use>use)\s+(?P<used>[\w.]+);
    | (?P<body>package\s+body)\s+(?P<of>\w+)\s+is\b | (?P<package>package)\s+(?P<named>\w+)\s+is\b
    | architecture\s+(?P<architecture>\w+)\s+of\s+(?P<entity_of>\w+)\s+is\b
    | (?P<entity>entity)\s+(?P<name>\w+)\s+is\b | (?P<end>\Z) )""",
    re.VERBOSE,
)
_HEADER = re.compile(r"\s*(generic|port)\s*\(")
_STATEMENT = re.compile(
    r"""\s*(?:(?P<label>[a-z]\w*)\s*:(?!=)\s*)?
    (?: (?P<process>process)\b\s*(?:\((?P<awaited>[^()]*(?:\([^()]*\)[^()]*)*)\))?\s*(?:is\b)?
    | (?P<entity>entity)\s+work\.(?P<unit>\w+)
    | (?P<for>for)\s+(?P<index>[a-z]\w*)\s+in\b(?P<bounds>[^;]*?)\bgenerate\b
    | (?P<if>if|elsif)\b(?P<condition>[^;]*?)\bgenerate\b
    | (?P<else>else)\s+generate\b
    | (?P<end>end)\b(?P<closed>[\w\s]*);
    | (?P<target>[a-z]\w*)(?=\s*\(|\s*<=)
    )""",
    re.VERBOSE,
)
_SEMICOLON = re.compile(r"\s*;")
_MAP = re.compile(r"\s*(generic|port)\s+map\s*\(")
_ROW = re.compile(r"\s*(\w+)\s*(?:\(\s*(\w+)[^()]*\)\s*)?=>\s*(?:(\w+)\s*(?=[,)]))?")
_LOST = re.compile(r"[\w)]\s+(\w+)\s*=>")
_BASE = re.compile(r"\s*([a-z]\w*)")


def check_vhdl(texts: Mapping[str, str]) -> None:
    """Check the names in VHDL files, which are in the order of compilation.

    Raises:
        ExportError: a name breaks one of the rules.
    """
    library = _Library()
    for file, text in texts.items():
        reader = _File(file, text, library)
        reader.read()
        reader.check_named({*library.units, *library.packages})


class _Library:
    """Declarations of the files read so far: entities, names in packages, names that these see."""

    def __init__(self) -> None:
        self.units: dict[str, _Entity] = {}
        self.packages: dict[str, frozenset[str]] = {}
        self.seen: dict[str, frozenset[str]] = {}
        self.types: dict[str, tuple[str, ...]] = {}


@dataclass
class _Entity(Unit):
    """An entity, with the names that its architecture sees, and the kinds of its own names."""

    known: frozenset[str] = frozenset()
    kinds: Mapping[str, str] = field(default_factory=dict)


class _File(Processes):
    """The reader of a file."""

    def __init__(self, file: str, text: str, library: _Library) -> None:
        plain = _MASK.sub(blank, text.lower())
        super().__init__(file, text, plain, WORD)
        self.library = library
        self.context: set[str] = set()

    def read(self) -> None:
        """Read the whole file."""
        for match in _ATTRIBUTE.finditer(self.plain):
            if match[1] not in _ATTRIBUTES:
                self.fail(match.start(1), f"attribute {match[1]} is not known")
        at = 0
        while True:
            match = self.match(_UNIT, at)
            at = match.end()
            if match["end"] is not None:
                return
            if match["libraries"]:
                self._library(match)
            elif match["used"]:
                self._use(match)
            else:
                self.begin({*_INSIDE, *_STANDARD, *self.context})
                if match["entity"]:
                    at = self._entity(match["name"], match.start("name"), at)
                elif match["architecture"]:
                    at = self._architecture(match, at)
                elif match["package"]:
                    at = self._package(match["named"], at)
                else:
                    at = self._package_body(match["of"], match.start("of"), at)
                self.context = set()

    # Units

    def _library(self, match: re.Match[str]) -> None:
        for name in match["libraries"].split(","):
            if name.strip() not in ("ieee", "std", "work"):
                self.fail(match.start("libraries"), f"library {name.strip()} is not known")
            self.context.add(name.strip())

    def _use(self, match: re.Match[str]) -> None:
        package, _, rest = match["used"].rpartition(".")
        found = _PACKAGES.get(package) or self.library.packages.get(package.removeprefix("work."))
        library = package.partition(".")[0]
        if found is None or rest != "all" or library not in {"std", "work", *self.context}:
            self.fail(match.start("used"), f"{match['used']} is not known")
        self.context |= set(found)

    def _entity(self, name: str, place: int, at: int) -> int:
        if name in self.library.units:
            self.fail(place, f"entity {self.written(place, name)} is declared twice")
        unit = _Entity(name)
        while (match := _HEADER.match(self.plain, at)) is not None:
            end = self.closing(match.end() - 1)
            for own, direction, has_default, where in self.interface(match.end(), end):
                if match[1] == "generic":
                    unit.generics[own] = has_default
                    self.declare(own, "generic", where)
                else:
                    is_output = direction in ("out", "buffer", "inout")
                    unit.ports[own] = Port(is_output, has_default)
                    self.declare(own, "out" if is_output else "in", where)
            at = self.semicolon(end)
        at = self.end(at, ("entity", name))
        unit.known, unit.kinds = frozenset(self.known), dict(self.kinds)
        self.library.units[name] = unit
        return at

    def _architecture(self, match: re.Match[str], at: int) -> int:
        name, place = match["entity_of"], match.start("entity_of")
        unit = self.library.units.get(name)
        if unit is None:
            self.fail(place, f"{self.written(place, name)} is not declared")
        self.known |= unit.known
        for each, kind in unit.kinds.items():
            self.declare(each, kind, place)
        at = self._statements(self.declarations(at, "begin"))
        return self.end(at, ("architecture", match["architecture"]))

    def _package(self, name: str, at: int) -> int:
        if name in self.library.packages:
            self.fail(at, f"package {name} is declared twice")
        at = self.end(self.declarations(at, "end"), ("package", name))
        self.library.packages[name] = frozenset(self.kinds)
        self.library.seen[name] = frozenset(self.known)
        self.library.types[name] = tuple(n for n, kind in self.kinds.items() if kind == "type")
        return at

    def _package_body(self, name: str, place: int, at: int) -> int:
        if name not in self.library.packages:
            self.fail(place, f"{self.written(place, name)} is not declared")
        self.known |= self.library.seen[name]
        for each in self.library.types[name]:
            self.declare(each, "type", place)
        return self.end(self.declarations(at, "end"), ("package", "body", name))

    # Statements

    def _statements(self, at: int) -> int:
        """Read concurrent statements, and the ``end`` after them."""
        labels: list[str] = []
        while True:
            match = self.match(_STATEMENT, at)
            at, label = match.end(), match["label"]
            if label and not match["end"]:
                self.declare(label, "label", match.start("label"))
            if match["process"]:
                at = self._process(match, label or "")
            elif match["entity"]:
                at = self._instance(match)
            elif match["for"] or match["if"] == "if":
                if label is None:
                    self.strange(match.start())
                labels.append(label)
                at = self._generate(match, at)
            elif match["if"] or match["else"]:
                if not labels:
                    self.strange(match.start())
                self.close()
                at = self._generate(match, at)
            elif match["target"]:
                end = self.semicolon(at)
                self.check_target(match["target"], match.start("target"), SIGNALS, "signal")
                if self.match(SIGN, at)[1] != "<=":
                    self.strange(match.start())
                self.check(at, end)
                at = end
            elif labels:
                if match["closed"].split() not in (["generate"], ["generate", labels.pop()]):
                    self.strange(match.start())
                self.close()
            else:
                return match.start()

    def _generate(self, match: re.Match[str], at: int) -> int:
        """Begin the statements that are generated."""
        if match["if"]:
            self.check(*match.span("condition"))
        elif match["for"]:
            self.check(*match.span("bounds"))
        self.open()
        if match["for"]:
            self.declare(match["index"], "loop", match.start("index"))
        declared = DECLARATION.match(self.plain, at)
        if declared is not None and declared[1] != "end":
            at = self.declarations(at, "begin")
        return at

    def _process(self, match: re.Match[str], label: str) -> int:
        if match["awaited"] and match["awaited"].strip() != "all":
            self.check(*match.span("awaited"))
        self.open()
        at = self.sequence(self.declarations(match.end(), "begin"), "process", label)
        self.close()
        return at

    # Instances

    def _instance(self, match: re.Match[str]) -> int:
        place, at = match.start("unit"), match.end()
        unit = self.library.units.get(match["unit"])
        if unit is None:
            self.fail(place, f"{self.written(place, match['unit'])} is not declared")
        found: dict[str, set[str]] = {"generic": set(), "port": set()}
        while (mapped := _MAP.match(self.plain, at)) is not None:
            at = self._map(unit, mapped[1], mapped.end(), found[mapped[1]])
        self.check_connected(unit, found["generic"], found["port"], place)
        return self.match(_SEMICOLON, at).end()

    def _map(self, unit: _Entity, kind: str, at: int, found: set[str]) -> int:
        """Read a map and return the place after it; add the formals to ``found``."""
        formals: Mapping[str, object] = unit.generics if kind == "generic" else unit.ports
        while True:
            match = self.match(_ROW, at)
            which = 2 if match[2] and match[1] not in formals else 1
            formal, place = match[which], match.start(which)
            if which == 2:
                self.check_name(match[1], match.start(1))
            if formal not in formals:
                self.fail(place, f"{unit.name} has no {kind} {self.written(place, formal)}")
            if formal in found and not match[2]:
                self.fail(place, f"{self.written(place, formal)} is connected twice")
            found.add(formal)
            if match[3] is not None:
                start, end = match.start(3), match.end()
            else:
                start, end = match.end(), self.comma(match.end())
                if lost := _LOST.search(self.plain, start, end):
                    self.strange(lost.start(1))
            self.check(start, end)
            if kind == "port" and match[3] != "open" and unit.ports[formal].is_output:
                base = _BASE.match(self.plain, start, end)
                if base is None:
                    self.fail(start, f"output {formal} of {unit.name} is connected to no signal")
                self.check_target(base[1], base.start(1), SIGNALS, "signal")
            elif match[3] == "open" and kind == "port" and not unit.ports[formal].has_default:
                self.fail(start, f"port {formal} of {unit.name} is not connected")
            at = end + 1
            if self.plain[end] == ")":
                return at
