"""Remove inputs that drive nothing from entities and from their instances.

An input is removed if no statement reads it, or only a statement whose result nothing reads. The
ports of the top are unchanged. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from merp.hdl.conversion._expand import EntityParts, plain
from merp.hdl.conversion._source import EntitySource

_MAP = re.compile(r"(entity work\.(\x00\d+\x00)\n +port map \(\n)(.*?)(\n +\);)", re.DOTALL)
_HEADER = re.compile(r"(\n    port \(\n)(.*?)(\n    \);\nend entity)", re.DOTALL)
_ASSIGNED = re.compile(r"(?:^    --[^\n]*\n)*^    (\w+) <= [^\n]*;\n", re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z]\w*")


def pruned(sources: Sequence[EntitySource]) -> list[EntitySource]:
    """Return the entities without the inputs that drive nothing.

    Args:
        sources: the entities, leaves first.

    Raises:
        RuntimeError: a missing part is not such an input.
    """
    gone: dict[str, frozenset[str]] = {}
    found = []
    for each in sources:
        text = _without_results(_without_rows(each.text, gone))
        if each.family is not None:
            used = words_used(text)
            gone[each.token] = frozenset(name for name in inputs(text) if name not in used)
            text = _without_ports(text, gone[each.token])
        _check(each.text, text, gone)
        found.append(replace(each, text=text))
    return found


def inputs(text: str) -> Iterator[str]:
    """Yield the names of an entity's inputs."""
    header = _HEADER.search(text)
    for row in header[2].split("\n") if header else ():
        name, _, kind = row.strip().partition(":")
        if kind.startswith(" in "):
            yield name.strip()


def _architecture(text: str) -> str:
    return text[text.index("\narchitecture ") :]


def words_used(text: str) -> Counter[str]:
    """Count each word in an architecture, except for the formals of port maps."""
    found: Counter[str] = Counter()

    def actuals(match: re.Match[str]) -> str:
        for row in match[3].split(",\n"):
            formal, _, actual = row.partition("=>")
            found.update(_WORD.findall(actual))
            found.update(_WORD.findall(formal)[:-1])
        return ""

    rest = re.sub("--[^\n]*", "", _MAP.sub(actuals, _architecture(text)))
    found.update(_WORD.findall(rest))
    return found


def _without_rows(text: str, gone: Mapping[str, frozenset[str]]) -> str:
    """Return the text with instances that omit the removed inputs."""

    def kept(match: re.Match[str]) -> str:
        rows = [
            row
            for row in match[3].split(",\n")
            if _WORD.findall(row.partition("=>")[0])[-1] not in gone[match[2]]
        ]
        return match[1] + ",\n".join(rows) + match[4]

    return _MAP.sub(kept, text)


def _without_results(text: str) -> str:
    """Return an entity without the assignments to signals that nothing reads."""
    while True:
        used = words_used(text)
        # A name that is only assigned and declared.
        dead = [
            match
            for match in _ASSIGNED.finditer(text)
            if used[match[1]] == 2 and f"\n    signal {match[1]} " in text
        ]
        if not dead:
            return text
        for match in dead:
            text = text.replace(match[0], "", 1)
            text = re.sub(rf"\n    signal {match[1]} [^\n]*", "", text, count=1)


def _without_ports(text: str, names: frozenset[str]) -> str:
    def kept(match: re.Match[str]) -> str:
        rows = match[2].split("\n")
        left = [row.rstrip(";") for row in rows if row.partition(":")[0].strip() not in names]
        return match[1] + ";\n".join(left) + match[3]

    return _HEADER.sub(kept, text)


def _read(parts: EntityParts) -> Iterator[str]:
    """Yield every token of an architecture except for the formals of port maps."""
    for tokens in (*parts.declared, *parts.statements):
        for at, token in enumerate(tokens):
            if tokens[at + 1 : at + 2] != ["=>"] and tokens[at + 1 : at + 3] != [")", "=>"]:
                yield token


def _check(before: str, after: str, gone: Mapping[str, frozenset[str]]) -> None:
    """Check that each missing part is an input, its row in a port map, or an unread result."""
    left = set(_read(plain(after)))
    lines = Counter(line.rstrip(",;") for line in before.split("\n"))
    missing = lines - Counter(line.rstrip(",;") for line in after.split("\n"))
    formals = {name for names in gone.values() for name in names}
    for line in missing:
        words = _WORD.findall(line)
        port = re.fullmatch(r" +(\w+) *: in .*", line)
        row = re.fullmatch(r" +(\w+) *=> .*", line)
        dead = re.fullmatch(r"    (?:signal )?(\w+) *(?:<=|:) .*", line)
        fine = (
            (port is not None and port[1] not in left)
            or (row is not None and row[1] in formals)
            or (dead is not None and dead[1] not in left)
        )
        if line.strip() and not fine and not line.lstrip().startswith("--"):
            raise RuntimeError(f"{words} was left out")
