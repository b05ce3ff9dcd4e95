"""Parse the Verilog text of one module into parts, as ``_verilog`` writes it.

The parts are the same as for VHDL (``_vhdl_text``). Therefore configurations are unified in the
same
way. Only the notation of literals, ports and declarations differs. Private to
``merp.hdl.conversion``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from merp.hdl.conversion._numbers import number
from merp.hdl.conversion._vhdl_text import (
    INTEGERS,
    LABEL,
    Declared,
    Leaf,
    Module,
    Token,
    Tokens,
    Type,
    VhdlPort,
    Word,
)

ABSENT = "_was_not_converted_with_these_parameters"
"""Suffix of a module that does not exist, and whose instance ends the elaboration."""

_TOKEN = re.compile(
    r"""\x00\d+\x00 | \d+'s?[bdh][0-9a-fA-F]+ | [A-Za-z_$]\w* | \d+ | "[^"]*" | //[^\n]*
    | <<<? | >>>? | [=!]==? | [<>]= | && | \|\| | \*\* | \n[ ]* | [ ]+ | .""",
    re.VERBOSE,
)
_LITERAL = re.compile(r"(\d+)'(s?)([bdh])([0-9a-fA-F]+)")
_BASES = {"b": 2, "d": 10, "h": 16}
_PORT = re.compile(r"(input|output) +(wire|reg) *(signed)? *(?:\[(\d+):0\])? *(\w+),?")
_DECLARED = re.compile(r"(wire|reg) +(signed )?(?:\[(\d+):0\] )?(\w+)( \[0:\d+\])?;")
_LABELLED = re.compile(r"(?:always @\(.*?\)|initial) begin : (\w+)$", re.MULTILINE)
_INSTANCE = re.compile(r"\x00\d+\x00 (\w+) \(")


class Based(Word):
    """A literal with its base, and whether it is signed."""

    __slots__ = ()
    base = "d"
    sign = ""


class Binary(Based):
    """``3'b101``."""

    __slots__ = ()
    base = "b"


class Hexadecimal(Based):
    """``3'h5``."""

    __slots__ = ()
    base = "h"


class SignedDecimal(Based):
    """``3'sd5``."""

    __slots__ = ()
    sign = "s"


class SignedBinary(Binary):
    """``3'sb101``."""

    __slots__ = ()
    sign = "s"


class SignedHexadecimal(Hexadecimal):
    """``3'sh5``."""

    __slots__ = ()
    sign = "s"


_KINDS: dict[tuple[str, str], type[Based]] = {
    (kind.sign, kind.base): kind
    for kind in (Based, Binary, Hexadecimal, SignedDecimal, SignedBinary, SignedHexadecimal)
}


def tokenised(text: str) -> list[str]:
    """Split text into tokens, including white space; a new line keeps the blanks after it."""
    return _TOKEN.findall(text)


def value_of(literal: str) -> tuple[int, int, str]:
    """Return the value, width and sign of a literal."""
    match = _LITERAL.fullmatch(literal)
    assert match is not None, literal
    return int(match[4], _BASES[match[3]]), int(match[1]), match[2]


def literals(tokens: Iterable[str]) -> Tokens:
    """Replace numbers and literals in tokens; a long literal stays as it is written."""
    found: list[Token] = []
    for token in tokens:
        match = _LITERAL.fullmatch(token)
        if match is not None:
            value, width, sign = value_of(token)
            kind = _KINDS[sign, match[3]]
            found.append(kind(number(value), number(width)) if value < INTEGERS else token)
        else:
            found.append(number(int(token)) if token.isdigit() else token)
    return tuple(found)


def chunks(lines: Iterable[str]) -> Iterator[str]:
    """Yield declarations and statements, each of which begins and ends at the margin."""
    current: list[str] = []
    closing = ""
    for line in lines:
        if not line.strip():
            if current:
                current.append(line)
            continue
        current.append(line)
        if line[0] == " ":
            continue
        if line.startswith(("end", ")")):
            closing = "end" if line.endswith("(") else ""
        elif line.endswith((" begin", "(")) or re.search(r" begin : \w+$", line):
            closing = "end"
        elif line.startswith(("function ", "generate")):
            closing = "end"
        if not closing and not line.startswith("//"):
            yield "\n".join(current)
            current = []
    assert not current, current


def sections(text: str) -> tuple[str, list[str], list[str], list[str]]:
    """Return the name, rows of parameters and of ports, and the lines within a module."""
    _, _, rest = text.partition("\nmodule ")
    header, _, body = rest.partition("\n);\n")
    name, _, ports = header.partition(" (\n")
    name, _, own = name.partition(" #(\n")
    parameters = [row.strip() for row in own.removesuffix("\n)").split("\n") if row.strip()]
    lines = body[: body.rindex("\nendmodule")].split("\n")
    return (
        name,
        parameters,
        [row.strip() for row in ports.split("\n") if row.strip()],
        [line.removeprefix("    ") for line in lines],
    )


def parse(text: str) -> Module:
    """Return the parts of a module's file."""
    name, _, rows, lines = sections(text)
    ports = [_port(row) for row in rows]
    declared: list[Declared] = []
    items: list[Leaf] = []
    for chunk in chunks(lines):
        if chunk.startswith(("wire", "reg", "localparam", "function", "integer")):
            declared.append(_declared(chunk))
        else:
            items.append(_leaf(chunk))
    return Module(name, "", ports, declared, list(items))


def _port(row: str) -> VhdlPort:
    match = _PORT.fullmatch(row)
    assert match is not None, row
    width = None if match[4] is None else number(int(match[4]) + 1)
    direction = "in" if match[1] == "input" else "out"
    return VhdlPort(
        match[5], direction, Type(f"{match[2]} signed" if match[3] else match[2], width), ()
    )


def _declared(chunk: str) -> Declared:
    match = _DECLARED.fullmatch(chunk)
    if match is not None:
        width = None if match[3] is None else number(int(match[3]) + 1)
        kind = Type(f"{match[1]} signed" if match[2] else match[1], width)
        return Declared(match[4], kind, literals(tokenised(match[5] or "")))
    words = [token for token in tokenised(chunk) if not token.isspace()]
    at = next(k for k, word in enumerate(words) if word in ("=", ";"))
    return Declared(words[at - 1], None, literals(tokenised(chunk)))


def _leaf(chunk: str) -> Leaf:
    comment = []
    lines = chunk.split("\n")
    while lines[0].startswith("//"):
        comment.append(lines.pop(0))
    text = "\n".join(lines)
    instance, labelled = _INSTANCE.match(text), _LABELLED.match(text)
    label = instance[1] if instance else labelled[1] if labelled else None
    kind = "instance" if instance else "process" if labelled else text.split()[0]
    tokens = tokenised(text)
    if label is not None:
        tokens[tokens.index(label)] = LABEL
    return Leaf(label, kind, literals(tokens), tuple(comment))


def actuals(tokens: Tokens) -> Iterator[tuple[str, Tokens]]:
    """Yield the formals and actuals of an instance."""
    depth, start, name = 0, 0, ""
    for at, token in enumerate(tokens):
        if token == "." and depth == 1:
            name = str(tokens[at + 1])
        elif token == "(":
            depth += 1
            start = at + 1 if depth == 2 else start
        elif token == ")":
            if depth == 2:
                yield name, tokens[start:at]
            depth -= 1


def as_vectors(modules: Sequence[Module]) -> tuple[list[Module], list[frozenset[str]]]:
    """Return the modules with a vector of one bit for each bit that is a vector in another.

    Verilog accepts either everywhere.
    """
    kinds = [
        *((port.name, port.type) for module in modules for port in module.ports),
        *((each.name, each.type) for module in modules for each in module.declared),
    ]
    wide = {name for name, kind in kinds if kind is not None and kind.width is not None}

    def widened(kind: Type, name: str) -> Type:
        return Type(kind.name, number(1)) if kind.width is None and name in wide else kind

    found = []
    for module in modules:
        ports = [replace(each, type=widened(each.type, each.name)) for each in module.ports]
        declared = [
            replace(each, type=each.type and widened(each.type, each.name))
            for each in module.declared
        ]
        found.append(replace(module, ports=ports, declared=declared))
    return found, [frozenset() for _ in modules]
