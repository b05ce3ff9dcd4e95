"""Roll statements that differ in an index into loops, and the signals that they name into arrays.

Signals form a family if their names only differ in numbers, and if they have one type and one
initial value. Consecutive statements, alone or in groups, become a loop if every number in them
grows by a constant step: numbers of bits, and places in families. Private to
``merp.hdl.conversion``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from merp.hdl.conversion._numbers import Num, added, number
from merp.hdl.conversion._shapes import item_changed, item_numbers, item_shape
from merp.hdl.conversion._vhdl_text import (
    Declared,
    Item,
    Leaf,
    Loop,
    Module,
    Ref,
    SignalArray,
    Token,
    Tokens,
)
from merp.hdl.conversion.base.names import flaw

_INDEX = re.compile(r"(?<=_)\d+(?=_|$)")
_WORD = re.compile(r"[A-Za-z]\w*")
_LEAST = 3  # two statements always have a step
_LONGEST = 16  # largest number of statements in the body of a loop
_INDICES = ("i", "j", "k", "m", "n")


def identifiers(module: Module) -> set[str]:
    """Return every word in an entity, in lower case; in Verilog, a dot precedes foreign names."""
    found = {port.name for port in module.ports} | {each.name for each in module.declared}
    found |= {each.type.name for each in module.declared if each.type}
    for tokens in _texts(module):
        found |= {
            token
            for at, token in enumerate(tokens)
            if isinstance(token, str) and _WORD.match(token) and (not at or tokens[at - 1] != ".")
        }
    found |= {item.label for item in module.items if item.label}
    return {name.lower() for name in found}


def _texts(module: Module) -> Iterator[Tokens]:
    for each in module.declared:
        yield each.tokens
    yield from (leaf.tokens for leaf in leaves(module.items))


def leaves(items: Iterable[Item]) -> Iterator[Leaf]:
    """Yield all statements, including those in loops."""
    for item in items:
        if isinstance(item, Leaf):
            yield item
        else:
            yield from leaves(item.body)


def rolled_up(module: Module) -> Module:
    """Return the entity with its loops and arrays."""
    families = _families(module)
    members = {
        each.name: Ref(name, number(place))
        for name, family in families.items()
        for place, each in enumerate(family)
    }
    taken = identifiers(module)
    items: list[Item] = [
        replace(leaf, tokens=_referring(leaf, members)) for leaf in leaves(module.items)
    ]
    for index in [each for each in _INDICES if each not in taken]:
        shorter = _loops(items, index, taken)
        if shorter == items:
            break
        items = shorter
    used = {
        token.family
        for leaf in leaves(items)
        for token in leaf.tokens
        if isinstance(token, Ref) and not token.place.is_constant
    }
    kept = {name: family for name, family in families.items() if name in used}
    gone = {each.name for family in kept.values() for each in family}
    declared = [each for each in module.declared if each.name not in gone or each.type is None]
    items = [_without(item, families, kept) for item in items]
    arrays = [
        SignalArray(name, number(len(family)), family[0].type, family[0].tokens)
        for name, family in kept.items()
        if family[0].type is not None
    ]
    names = {name: tuple(each.name for each in family) for name, family in kept.items()}
    return replace(module, declared=declared, items=items, arrays=arrays, members=names)


def _families(module: Module) -> dict[str, tuple[Declared, ...]]:
    """Return the families of signals by the name of their array."""
    found: dict[object, list[Declared]] = {}
    hidden = _hidden(module)
    for each in module.declared:
        if each.type is not None and _INDEX.search(each.name) and each.name not in hidden:
            key = (_INDEX.sub("#", each.name), each.type, each.tokens)
            found.setdefault(key, []).append(each)
    taken = identifiers(module)
    families = {}
    for members in found.values():
        if len(members) < _LEAST:
            continue
        members.sort(key=lambda member: [int(part) for part in _INDEX.findall(member.name)])
        wanted = re.sub("_+", "_", _INDEX.sub("", members[0].name)).strip("_")
        families[free(wanted, taken, f"{wanted}_t")] = tuple(members)
    return families


def free(wanted: str, taken: set[str], *beside: str) -> str:
    """Return a free name; it and the names derived from it are taken from now on."""
    name, extra, count = wanted, list(beside), 1
    while flaw(name) or {name.lower(), *(each.lower() for each in extra)} & taken:
        count += 1
        name, extra = (
            f"{wanted}_{count}",
            [each.replace(wanted, f"{wanted}_{count}") for each in beside],
        )
    taken |= {name.lower(), *(each.lower() for each in extra)}
    return name


def _hidden(module: Module) -> set[str]:
    """Return names that a process or function declares itself, or that a function may use."""
    found: set[str] = set()
    for tokens in _texts(module):
        words = [token for token in tokens if isinstance(token, str) and not token.isspace()]
        if words[:1] == ["function"]:
            found |= set(words)
        found |= {b for a, b in pairwise(words) if a in ("variable", "for")}
    return found


def _referring(leaf: Leaf, members: dict[str, Ref]) -> Tokens:
    """Replace names by members of families, except for the formals of a port map."""
    found: list[Token] = []
    formals = leaf.kind == "instance"
    for at, token in enumerate(leaf.tokens):
        ref = members.get(token) if isinstance(token, str) else None
        if ref is not None and formals and _is_formal(leaf.tokens, at):
            ref = None
        found.append(token if ref is None else ref)
    return tuple(found)


def _is_formal(tokens: Sequence[Token], at: int) -> bool:
    """Return whether an arrow precedes the next comma or line."""
    for token in tokens[at + 1 :]:
        if token == "=>":
            return True
        if token == "," or (isinstance(token, str) and token.startswith("\n")):
            return False
    return False


def _loops(items: list[Item], index: str, taken: set[str]) -> list[Item]:
    """Return the items with loops over ``index`` in place of runs."""
    shapes: dict[object, int] = {}
    keys = [
        shapes.setdefault(
            (item_shape(item), _pattern(item), item.comment),
            len(shapes),
        )
        for item in items
    ]
    values = [list(item_numbers(item)) for item in items]
    found: list[Item] = []
    at = 0
    while at < len(items):
        best = (0, 0, 0)
        for length in range(1, min(_LONGEST, (len(items) - at) // _LEAST) + 1):
            times = _times(keys, values, at, length)
            if times >= _LEAST and length * times > best[0]:
                best = (length * times, length, times)
        covered, length, times = best
        if not covered:
            found.append(items[at])
            at += 1
            continue
        found.append(_loop(items[at : at + 2 * length], length, times, index, taken))
        at += covered
    return found


def _pattern(item: Item) -> str:
    return _INDEX.sub("#", item.label or "")


def _times(keys: list[int], values: list[list[Num]], at: int, length: int) -> int:
    """Count the repetitions of a group of statements, with a constant step for every number."""
    times = 1
    while at + (times + 1) * length <= len(keys):
        here, there = at + (times - 1) * length, at + times * length
        if keys[here : here + length] != keys[there : there + length]:
            break
        if times == 1 and any(
            one.terms != two.terms and _varying(one) != _varying(two)
            for k in range(length)
            for one, two in zip(values[here + k], values[there + k], strict=True)
        ):
            break
        if times > 1 and not all(
            _varying(one) == _varying(two) == _varying(three)
            and two.constant - one.constant == three.constant - two.constant
            for k in range(length)
            for one, two, three in zip(
                values[here - length + k], values[here + k], values[there + k], strict=True
            )
        ):
            break
        times += 1
    return times


def _varying(value: Num) -> tuple[object, ...]:
    return tuple(term for term in value.terms if term[0])


def _loop(pair: list[Item], length: int, times: int, index: str, taken: set[str]) -> Loop:
    """Return the loop of a run, from its first two groups."""
    body: list[Item] = []
    for first, second in zip(pair[:length], pair[length:], strict=True):
        steps = iter(
            [
                b.constant - a.constant
                for a, b in zip(item_numbers(first), item_numbers(second), strict=True)
            ]
        )
        body.append(item_changed(first, lambda n, s=steps: added(n, number({(index,): next(s)}))))  # type: ignore[misc]
    stems = [_INDEX.split(item.label, maxsplit=1)[0].strip("_") for item in body if item.label]
    label = free(stems[0] if stems else _stem(body[0]), taken)
    local = set(taken)
    inner = [
        replace(item, label=_inner(item.label, local)) if item.label is not None else item
        for item in body
    ]
    comment, inner[0] = inner[0].comment, replace(inner[0], comment=())
    return Loop(label, index, number(times), inner, comment)


def _stem(item: Item) -> str:
    """Name a loop of assignments after the target of the first one."""
    assert isinstance(item, Leaf)
    target = item.tokens[0]
    return f"drive_{target.family if isinstance(target, Ref) else target}"


def _inner(label: str, taken: set[str]) -> str:
    """Return the label of a statement in a loop: the part after its index."""
    return free(_INDEX.split(label)[-1].strip("_") or "each", taken)


def _without(
    item: Item, families: Mapping[str, tuple[Declared, ...]], kept: Collection[str]
) -> Item:
    """Return the statement with the old names where no loop uses the array."""
    if isinstance(item, Loop):
        return replace(item, body=[_without(each, families, kept) for each in item.body])
    tokens = tuple(
        families[token.family][token.place.constant].name
        if isinstance(token, Ref) and token.family not in kept
        else token
        for token in item.tokens
    )
    return replace(item, tokens=tokens)
