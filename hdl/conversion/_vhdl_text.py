"""Parse the VHDL of one entity into parts, as MyHDL and ``_vhdl`` write it.

``parse`` only understands the subset that these two write, and raises an error for anything else.
Text is kept as tokens, including white space. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from merp.hdl.conversion._numbers import Num, added, number

LABEL = "\x01"
"""Placeholder for a statement's own label."""

INTEGERS = 1 << 30
"""Literals are smaller: GHDL 2.0 refuses some of the largest integers of VHDL."""

_TOKEN = re.compile(
    r"""\x00\d+\x00 | [xX]"[^"]*" | [A-Za-z]\w* | \d+ | "[^"]*" | (?<=\w)'(?=\() | '[^']'
    | --[^\n]* | \?/?[=<>]=? | <= | => | := | /= | >= | \*\* | \n[ ]* | [ ]+ | .""",
    re.VERBOSE,
)
_PORT = re.compile(r"(\w+) *: (in|out) +(.*?)(?: := (.*?))?;?")
_VECTOR = re.compile(r"(unsigned|signed|std_logic_vector)\((\d+) downto 0\)")


@dataclass(frozen=True, slots=True)
class Word:
    """The literal of an unsigned vector."""

    value: Num
    width: Num


@dataclass(frozen=True, slots=True)
class Quoted(Word):
    """The same literal as bits in quotes, next to ``&``."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A member of a family of signals: the family's name, and the index."""

    family: str
    place: Num


Token = str | Num | Word | Ref
Tokens = tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Type:
    """Type of a port or signal: its name, and its width if it is a vector."""

    name: str
    width: Num | None = None


@dataclass(slots=True)
class VhdlPort:
    """A port; ``initial`` is the value of an output at power-up."""

    name: str
    direction: str
    type: Type
    initial: Tokens


@dataclass(slots=True)
class Declared:
    """A signal (``type`` is set), or any other declaration."""

    name: str
    type: Type | None
    tokens: Tokens  # of a signal: its initial value


@dataclass(slots=True)
class SignalArray:
    """A family of signals: their number, their type, and their values at power-up."""

    name: str
    size: Num
    type: Type
    tokens: Tokens


@dataclass(slots=True)
class Leaf:
    """A process, an instance or an assignment."""

    label: str | None
    kind: str
    tokens: Tokens
    comment: tuple[str, ...] = ()


@dataclass(slots=True)
class Loop:
    """Statements for every index from 0 to ``count - 1``."""

    label: str
    index: str
    count: Num
    body: list[Leaf | Loop]
    comment: tuple[str, ...] = ()


Item = Leaf | Loop


@dataclass(slots=True)
class Module:
    """One entity in parts.

    Attributes:
        name: its name, or a placeholder.
        library: the use of the support package, or empty.
        members: the signals of each array.
    """

    name: str
    library: str
    ports: list[VhdlPort]
    declared: list[Declared]
    items: list[Item]
    arrays: list[SignalArray] = field(default_factory=list)
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)


def tokenised(text: str) -> list[str]:
    """Split text into tokens, including white space; a new line keeps the blanks after it."""
    return _TOKEN.findall(text)


def name_of_type(text: str) -> Type:
    """Parse a type."""
    vector = _VECTOR.fullmatch(text)
    return Type(vector[1], number(int(vector[2]) + 1)) if vector else Type(text)


def literals(tokens: Iterable[Token]) -> list[Token]:
    """Replace numbers by ``Num`` and literals of unsigned vectors by ``Word``."""
    found: list[Token] = []
    whole = list(tokens)
    for at, token in enumerate(whole):
        if not isinstance(token, str):
            found.append(token)
        elif _is_joined(whole, at):
            found.append(Quoted(number(int(token[1:-1], 2)), number(len(token) - 2)))
        elif token.isdigit():
            found.append(number(int(token)))
        elif token == ")" and found[-3:-1] and found[-2] == "(" and _is_bits(found):
            bits = str(found[-1])[1:-1]
            del found[-4:]
            found.append(Word(number(int(bits, 2)), number(len(bits))))
        elif token == ")" and _is_to_unsigned(found):
            value, width = found[-4], found[-1]
            assert isinstance(value, Num)
            assert isinstance(width, Num)
            del found[-6:]
            found.append(Word(value, width))
        else:
            found.append(token)
    return found


def _is_bits(found: Sequence[Token]) -> bool:
    """Return whether ``unsigned'("0101"`` is at the end."""
    text = found[-1]
    quoted = isinstance(text, str) and text.startswith('"') and set(text[1:-1]) <= {"0", "1"}
    fits = quoted and int(str(text)[1:-1], 2) < INTEGERS  # a longer literal stays as it is written
    return fits and list(found[-4:-1]) == ["unsigned", "'", "("]


def _is_joined(tokens: Sequence[Token], at: int) -> bool:
    """Return whether ``"0101"`` is at this place, next to ``&``."""
    text = tokens[at]
    quoted = isinstance(text, str) and text.startswith('"') and len(text) > 2
    if not quoted or not set(str(text)[1:-1]) <= {"0", "1"} or int(str(text)[1:-1], 2) >= INTEGERS:
        return False
    near = (tokens[at - 2 : at - 1], tokens[at + 2 : at + 3])
    return any(list(each) == ["&"] for each in near)


def _is_to_unsigned(found: Sequence[Token]) -> bool:
    """Return whether ``to_unsigned(5, 3`` is at the end."""
    return (
        list(found[-6:-4]) == ["to_unsigned", "("]
        and list(found[-3:-1]) == [",", " "]
        and isinstance(found[-4], Num)
        and isinstance(found[-1], Num)
    )


def initial(text: str, kind: Type) -> Tokens:
    """Parse an initial value; for an unsigned vector return a ``Word``."""
    if kind.name in ("unsigned", "std_logic_vector") and kind.width is not None:
        if text == "(others => '0')":
            return (Word(number(0), kind.width),)
        base, digits = (16, text[2:-1]) if text.startswith('x"') else (2, text[1:-1])
        if text[-1] == '"' and int(digits, base) < INTEGERS:
            return (Word(number(int(digits, base)), kind.width),)
    return tuple(literals(tokenised(text)))


def parse(text: str) -> Module:
    """Return the parts of an entity's file."""
    _, _, rest = text.partition("library ieee;\n")
    uses, _, rest = rest.partition("\nentity ")
    name = rest[: rest.index(" is\n")]
    header, _, rest = rest.partition("\narchitecture ")
    declared, _, statements = rest.partition("\nbegin\n")
    statements = statements[: statements.rindex("\nend architecture")]
    library = "".join(line + "\n" for line in uses.splitlines() if line.startswith("use work."))
    ports = [_port(line) for line in header.splitlines() if line.startswith("        ")]
    declarations = declared.partition(" is\n")[2]
    return Module(
        name,
        library,
        ports,
        [_declared(each) for each in split(tokenised(_dedented(declarations)))],
        [leaf(each) for each in split(tokenised(_dedented(statements)))],
    )


def _dedented(text: str) -> str:
    return re.sub("^    ", "", text, flags=re.MULTILINE)


def _port(line: str) -> VhdlPort:
    match = _PORT.fullmatch(line.strip())
    assert match is not None, line
    kind = name_of_type(match[3])
    return VhdlPort(match[1], match[2], kind, initial(match[4], kind) if match[4] else ())


def split(tokens: Sequence[str]) -> Iterator[list[str]]:
    """Yield statements or declarations, each with its final semicolon."""
    current: list[str] = []
    closing: list[str] | None = None
    for token in tokens:
        if not current and token.isspace():
            continue
        current.append(token)
        if token != ";":
            continue
        words = [each for each in current if not each.isspace() and not each.startswith("--")]
        if closing is None:
            closing = _closing(words)
        if not closing or words[-1 - len(closing) : -1] == closing:
            yield current
            current, closing = [], None
    assert not current, current


def _closing(words: Sequence[str]) -> list[str]:
    """Return the words before the last semicolon; empty if the first semicolon is the last."""
    if words[1:2] == [":"]:
        if words[2] == "process":
            return ["end", "process", words[0]]
        if words[2] in ("for", "if"):
            return ["end", "generate", words[0]]
    if words[0] in ("function", "procedure"):
        return ["end", words[0], words[1]]
    return []


def _declared(tokens: Sequence[str]) -> Declared:
    text = "".join(tokens)
    if tokens[0] == "signal":
        start, _, value = text.rstrip(";").partition(" := ")
        name, _, kind = start.removeprefix("signal").partition(":")
        written = name_of_type(kind.strip())
        return Declared(name.strip(), written, initial(value, written))
    return Declared(tokens[2], None, tuple(literals(tokens)))


def leaf(tokens: Sequence[str]) -> Leaf:
    """Parse a statement; comments before it are kept separate."""
    comment = []
    rest = list(tokens)
    while rest[0].startswith("--"):
        comment.append(rest.pop(0))
        while rest[0].isspace():
            rest.pop(0)
    words = [each for each in rest[:8] if not each.isspace()]
    if words[1] == ":":
        kind = "process" if words[2] == "process" else "instance"
        label = words[0]
        body = [
            LABEL if each == label and _is_label(rest, i) else each for i, each in enumerate(rest)
        ]
        return Leaf(label, kind, tuple(literals(body)), tuple(comment))
    return Leaf(None, "assign", tuple(literals(rest)), tuple(comment))


def _is_label(tokens: Sequence[str], at: int) -> bool:
    """Return whether the token is the label that begins a statement, or one that ends a process."""
    return at == 0 or (at == len(tokens) - 2 and tokens[at - 2] == "process")


def split_actuals(each: Leaf) -> Iterator[tuple[Tokens, Tokens]]:
    """Yield the formals and actuals of an instance's port map."""
    start = each.tokens.index("port")
    row: list[Token] = []
    for token in (*each.tokens[start + 5 : -2], ","):
        if token != "," and not (isinstance(token, str) and token.startswith("\n")):
            row.append(token)
        elif token == ",":
            at = row.index("=>")
            yield tuple(_stripped(row[:at])), tuple(_stripped(row[at + 1 :]))
            row = []


def _stripped(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return tokens without the blanks around them."""
    blank = [isinstance(each, str) and each.isspace() for each in tokens]
    return tokens[blank.index(False) : len(tokens) - blank[::-1].index(False)]


def sum_of(one: Num, other: int) -> Num:
    """Add a number to another one."""
    return added(one, number(other))
