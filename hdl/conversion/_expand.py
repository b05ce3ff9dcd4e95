"""Expand folded VHDL: generics become values, loops are unrolled, arrays become signals.

The module reads the text that is written to the file. The result must equal the text that was made
from MyHDL, token by token (``_same``). Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from merp.hdl.conversion._logarithm import ceil_log2
from merp.hdl.conversion._vhdl_text import split, tokenised

_OPENERS = frozenset(
    "( , downto to => := <= = < > /= >= ?= ?/= ?< ?<= ?> ?>= in return then else when".split()
)
_SIGNS = {"+": 1, "-": -1}
_CONSTANTS = {"boolean": 0, "natural": 0, "positive": 1}


@dataclass(frozen=True)
class Child:
    """The original entity of an instance, and ports of it that were bits."""

    token: str
    widened: frozenset[str]


@dataclass
class EntityParts:
    """The ports of an entity, and its separate declarations and statements, as tokens."""

    ports: list[str]
    declared: list[list[str]]
    statements: list[list[str]]


def solid(tokens: Iterable[str]) -> list[str]:
    """Return the tokens without white space and comments."""
    return [each for each in tokens if not each.isspace() and not each.startswith("--")]


def computed(tokens: Sequence[str]) -> list[str]:
    """Replace sums and products of numbers by their values, and unwrap numbers in brackets."""
    found: list[str] = []
    for at, token in enumerate(tokens):
        found.append(token)
        following = tokens[at + 1] if at + 1 < len(tokens) else ";"
        while _reduced(found, following):
            pass
    return found


def _reduced(found: list[str], following: str) -> bool:
    """Compute at the end of ``found`` if possible, and return whether it was."""
    if found[-6:-4] == ["maximum", "("] and found[-3] == "," and found[-1] == ")":
        if found[-4].isdigit() and found[-2].isdigit():
            found[-6:] = [str(max(int(found[-4]), int(found[-2])))]
            return True
        return False
    if found[-1] == ")" and len(found) > 3 and found[-3] == "(" and found[-2].isdigit():
        before = found[-4]
        if before == "ceil_log2":
            found[-4:] = [str(ceil_log2(int(found[-2])))]
            return True
        if not (before[0].isalnum() or before in (")", "'")) or before in _OPENERS:
            found[-3:] = [found[-2]]
            return True
        return False
    if not found[-1].isdigit() or len(found) < 3:
        return False
    if found[-2] == "*" and found[-3].isdigit() and found[-4] not in ("*", "/", "mod", "rem"):
        found[-3:] = [str(int(found[-3]) * int(found[-1]))]
        return True
    if found[-2] not in _SIGNS or not found[-3].isdigit() or following == "*":
        return False
    value = _SIGNS[found[-2]] * int(found[-1])
    if found[-4] in _OPENERS:
        value += int(found[-3])
        if value < 0:
            return False
        found[-3:] = [str(value)]
        return True
    if found[-4] == "-" and found[-5] in _OPENERS and value >= int(found[-3]):
        found[-4:] = [str(value - int(found[-3]))]
        return True
    return False


def substituted(tokens: Iterable[str], values: Mapping[str, str]) -> list[str]:
    """Replace names by values, except for the formals of a map."""
    rest = list(tokens)
    return [
        token if token not in values or rest[at + 1 : at + 2] == ["=>"] else values[token]
        for at, token in enumerate(rest)
    ]


def _unrolled(statements: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield the statements, with the statements of a loop for each index."""
    for statement in statements:
        if statement[1:3] != [":", "for"]:
            yield statement
            continue
        index, start = statement[3], statement.index("generate")
        bounds = computed(statement[4:start])
        assert bounds[:-1] == ["in", "0", "to"], bounds
        for k in range(int(bounds[3]) + 1):
            body = computed(substituted(statement[start + 1 : -4], {index: str(k)}))
            yield from _unrolled(split(body))


def _chosen(tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return declarations and statements of the selected alternative."""
    closing = ["end", "generate", tokens[0]]
    at = 2
    while tokens[at : at + 3] != closing:
        start = list(tokens).index("generate", at)
        stop = start + 1
        while tokens[stop : stop + 3] != closing and not _ends_form(tokens, stop):
            stop += 1
        if start == at + 1 or _holds(tokens[at + 1 : start]):
            body = list(tokens[start + 1 : stop])
            if body[:1] and body[0] in ("signal", "type", "constant", "function"):
                begin = _first_begin(body)
                return body[:begin], body[begin + 1 :]
            return [], body
        at = stop
    return [], []


def _ends_form(tokens: Sequence[str], at: int) -> bool:
    """Return whether ``elsif`` or ``else`` belongs to the alternatives, and not to a process."""
    if tokens[at] == "else":
        return tokens[at + 1] == "generate"
    if tokens[at] != "elsif":
        return False
    stop = next(k for k in range(at, len(tokens)) if tokens[k] in ("generate", "then"))
    return tokens[stop] == "generate"


def _first_begin(body: Sequence[str]) -> int:
    """Return the place where the declarations end."""
    functions = 0
    for at, token in enumerate(body):
        functions += token == "function" and body[at - 1] != "end"
        if token == "begin":
            if not functions:
                return at
            functions -= 1
    raise AssertionError(body)


def _holds(condition: Sequence[str]) -> bool:
    tests = " ".join(condition).split(" and ")
    return all(_test(test.split()) for test in tests)


def _test(test: Sequence[str]) -> bool:
    if test[0] == "not":
        return not _test(test[1:])
    if len(test) == 1:
        return test[0] == "true"
    left, sign, right = int(test[0]), test[1], int(test[2])
    return {"=": left == right, "<": left < right, ">": left > right}[sign]


def expanded(
    text: str,
    values: Mapping[str, str],
    members: Mapping[str, Sequence[str]],
    child: Callable[[str, Mapping[str, str]], Child],
) -> EntityParts:
    """Return the entity of a file in one configuration.

    Args:
        text: the file.
        values: values of the generics, as VHDL writes them.
        members: the signals of each array.
        child: returns the original entity of an instance with these generics.
    """
    top, declared, statements = _sections(text, values)
    rest: list[list[str]] = []
    for statement in split(statements):
        if statement[1:3] == [":", "if"]:
            more, chosen = _chosen(statement)
            declared += more
            rest += split(chosen)
        else:
            rest.append(statement)
    return EntityParts(
        top,
        list(_declared(list(split(declared)), members)),
        [_instance(_named(each, members), child) for each in _unrolled(rest)],
    )


def plain(text: str) -> EntityParts:
    """Return the entity of a file without generics, loops and arrays."""
    top, declared, statements = _sections(text, {})
    return EntityParts(top, list(split(declared)), list(split(statements)))


def _sections(text: str, values: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Return the ports, declarations and statements of a file."""
    body = text[text.index("\nentity ") :]
    rest = solid(tokenised(body))
    if rest[3] == "generic":
        del rest[3 : rest.index("port")]
    tokens = computed(substituted(rest, values))
    at = tokens.index("architecture")
    while tokens[at + 5 : at + 6] == ["constant"] and tokens[at + 8] in _CONSTANTS:
        stop = tokens.index(";", at)
        name, kind, value = tokens[at + 6], tokens[at + 8], tokens[at + 10 : stop]
        del tokens[at + 5 : stop + 1]
        if kind == "boolean":
            assert _is_admitted(value), value
        else:
            assert len(value) == 1, (name, value)
            assert int(value[0]) >= _CONSTANTS[kind], (name, value)
            tokens = computed(substituted(tokens, {name: value[0]}))
    rest = tokens[at + 5 : -4]
    begin = _first_begin(rest)
    return tokens[3 : at - 4], rest[:begin], rest[begin + 1 :]


def _is_admitted(call: Sequence[str]) -> bool:
    """Return whether the check of the generics admits these values."""
    text = "".join(call[4:-1])
    for written, value in (("boolean'pos(false)", "0"), ("boolean'pos(true)", "1")):
        text = text.replace(written, value)
    given, known = literal_eval(f"({text})")
    return given in known


def _declared(
    declared: Sequence[list[str]], members: Mapping[str, Sequence[str]]
) -> Iterator[list[str]]:
    """Yield the declarations, with the signals of every array in its place."""
    kinds = {each[1]: each for each in declared if each[0] == "type"}
    for each in declared:
        if each[0] == "type" and each[1].removesuffix("_t") in members:
            continue
        if each[0] != "signal" or each[1] not in members:
            yield each
            continue
        kind = kinds[each[3]]
        assert kind[2:7] == ["is", "array", "(", "0", "to"], kind
        assert each[4:8] == [":=", "(", "others", "=>"], each
        assert int(kind[7]) + 1 == len(members[each[1]]), (kind, members[each[1]])
        for name in members[each[1]]:
            yield ["signal", name, ":", *kind[10:-1], ":=", *each[8:-2], ";"]


def _named(statement: Sequence[str], members: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a statement with the signals in place of their arrays."""
    found: list[str] = []
    at = 0
    while at < len(statement):
        token = statement[at]
        if token in members and statement[at + 1] == "(":
            assert statement[at + 3] == ")", statement[at : at + 6]
            found.append(members[token][int(statement[at + 2])])
            at += 4
            continue
        found.append(token)
        at += 1
    return found


def _instance(statement: list[str], child: Callable[[str, Mapping[str, str]], Child]) -> list[str]:
    """Return an instance of a folded entity as an instance of the original entity."""
    if statement[2:3] != ["entity"]:
        return statement
    given: dict[str, str] = {}
    rest = statement[6:]
    if rest[0] == "generic":
        stop = rest.index("port")
        rows = rest[3 : stop - 1]
        for at, token in enumerate(rows):
            if token == "=>":
                given[rows[at - 1]] = rows[at + 1]
        rest = rest[stop:]
    meant = child(statement[5], given)
    for at in range(len(rest) - 1, 3, -1):
        if (
            rest[at] == "=>"
            and rest[at - 3 : at] == ["(", "0", ")"]
            and rest[at - 4] in meant.widened
        ):
            del rest[at - 3 : at]
    return [*statement[:5], meant.token, *rest]
