"""Compare two entities, except for order, labels, layout and the notation of literals.

Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from merp.hdl.conversion._expand import EntityParts

_WRITTEN = 1 << 31  # the largest number of VHDL, plus one

_VECTORS = ("unsigned", "std_logic_vector")
Plain = tuple[str, ...]


def difference(
    folded: EntityParts,
    original: EntityParts,
    widened: Collection[str],
    lacking: Collection[str],
    alias: Mapping[str, str],
) -> str | None:
    """Return the first difference of two entities, or None.

    Args:
        folded: an expanded entity.
        original: the entity from which it was made.
        widened: ports that were bits and are now vectors of one; both kinds then count as equal.
        lacking: ports that the original does not have.
        alias: maps an entity's name to a name that counts as the same.
    """
    one = _facts(folded, widened, lacking, alias)
    other = _facts(original, widened, (), alias)
    for what, a, b in zip(("ports", "declarations", "statements"), one, other, strict=True):
        if a != b:
            left, right = next(iter((a - b).items()), ""), next(iter((b - a).items()), "")
            return f"{what}: {_shown(left)} is not {_shown(right)}"
    return None


def _shown(each: object) -> str:
    return " ".join(each[0]) if isinstance(each, tuple) else "nothing"


def _facts(
    parts: EntityParts, widened: Collection[str], lacking: Collection[str], alias: Mapping[str, str]
) -> tuple[Counter[Plain], Counter[Plain], Counter[Plain]]:
    ports: list[list[str]] = [[]]
    depth = 0
    for token in parts.ports:
        depth += (token == "(") - (token == ")")
        if token == ";" and depth == 1:
            ports.append([])
        else:
            ports[-1].append(token)
    ports[0] = ports[0][2:]  # port (
    ports[-1] = ports[-1][:-2]  # );
    own = [_without_default(port) for port in ports if port[0] not in lacking]
    numbered = [[str(k), *port] for k, port in enumerate(own)]
    return (
        Counter(_declaration(port, widened) for port in numbered),
        Counter(_declaration(each[:-1], widened) for each in parts.declared),
        Counter(_statement(each, widened, alias) for each in parts.statements),
    )


def _without_default(port: list[str]) -> list[str]:
    """Return an input without its default."""
    return port[: port.index(":=")] if port[2] == "in" and ":=" in port else port


def _declaration(tokens: Sequence[str], widened: Collection[str]) -> Plain:
    """Parse a port, signal or type, with an initial value of a vector as value and width."""
    found = list(tokens)
    if widened:
        found = [
            new
            for token in found
            for new in (
                ("unsigned", "(", "0", "downto", "0", ")") if token == "std_logic" else (token,)
            )
        ]
    if ":=" not in found:
        return tuple(found)
    at = found.index(":=")
    value = found[at + 1 :]
    if found[at - 6 : at - 5] and found[at - 6] in _VECTORS:
        width = int(found[at - 4]) + 1
        return (*found[:at], ":=", *_literal(value, width))
    if widened and value == ["(", "others", "=>", "'0'", ")"]:
        value = ["(", "others", "=>", "(", "others", "=>", "'0'", ")", ")"]
    return (*found[:at], ":=", *value)


def _literal(value: Sequence[str], width: int) -> Plain:
    if list(value) in (["(", "others", "=>", "'0'", ")"], ["'0'"]):
        return "word", "0", str(width)
    if list(value) == ["'1'"]:
        return "word", "1", str(width)
    if value[0] == "to_unsigned":
        return "word", value[2], value[4]
    text = value[0]
    base = 16 if text[0] in "xX" else 2
    return _word(int(text.lstrip("xX")[1:-1], base), width)


def _word(value: int, width: int) -> Plain:
    """Return a literal; large numbers in base 16, because Python limits decimal digits."""
    return "word", str(value) if value < _WRITTEN else hex(value), str(width)


def _statement(tokens: Sequence[str], widened: Collection[str], alias: Mapping[str, str]) -> Plain:
    """Parse a statement without its label, with literals as value and width."""
    rest = list(tokens)
    if rest[1] == ":":
        rest = rest[2:-2] if rest[2] == "process" else rest[2:]
    found: list[str] = []
    for at, token in enumerate(rest):
        found.append(alias.get(token, token))
        if token[0] == '"' and "&" in (*rest[at - 1 : at], *rest[at + 1 : at + 2]):
            found[-1:] = _word(int(token[1:-1], 2), len(token) - 2)
        if token != ")":
            continue
        if found[-6:-4] == ["to_unsigned", "("] and found[-3] == "," and found[-4].isdigit():
            found[-6:] = ["word", found[-4], found[-2]]
        elif found[-5:-2] == ["unsigned", "'", "("] and set(found[-2]) <= {'"', "0", "1"}:
            bits = found[-2][1:-1]
            found[-5:] = _word(int(bits, 2), len(bits))
        elif widened and found[-3:-1] == ["(", "0"] and found[-4] in widened:
            del found[-3:]
    return tuple(found)
