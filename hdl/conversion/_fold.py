"""Fold the files of a design: from one file per configuration to one file per block.

An entity is processed in these steps:

1. Inputs that drive nothing are removed (``_prune``).
2. Its text is parsed (``_vhdl_text``).
3. Arrays of equal statements become loops (``_rollup``).
4. Configurations of one block become one entity with generics (``_unify``).
5. The entity is printed (``_vhdl_print``).

Each file is read again, and must reproduce every configuration that it represents (``_expand``,
``_same``). Verilog modules are processed in the same way by the ``_verilog`` modules, without
loops. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from merp.hdl.conversion import (
    _verilog_fold,
    _verilog_outputs,
    _verilog_print,
    _verilog_prune,
    _verilog_text,
)
from merp.hdl.conversion._expand import Child, expanded, plain
from merp.hdl.conversion._numbers import number
from merp.hdl.conversion._open_ports import alike
from merp.hdl.conversion._prune import pruned
from merp.hdl.conversion._rollup import rolled_up
from merp.hdl.conversion._same import difference
from merp.hdl.conversion._source import EntitySource
from merp.hdl.conversion._unify import Configuration, Unified, Value, unified
from merp.hdl.conversion._vhdl_print import printed
from merp.hdl.conversion._vhdl_text import Item, Loop, Module, Token, Tokens, parse, split_actuals

_WIDE = 80  # a longer map has a line for each name
_NUMBER = 6  # approximate number of letters


@dataclass(frozen=True)
class FoldedFile:
    """One file: its text without the header, and the entities in it; the first has its name."""

    text: str
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class _FoldedPlace:
    """The result for an entity: its new entity, the generics, and the ports that became wider."""

    token: str
    values: Mapping[str, Value]
    widened: frozenset[str]


def plainly(sources: Sequence[EntitySource]) -> list[FoldedFile]:
    """Return the entities of a design unchanged, one for each configuration."""
    return [FoldedFile(each.text, (each.token,)) for each in sources]


def folded_verilog(sources: Sequence[EntitySource]) -> list[FoldedFile]:
    """Return the modules of a design in Verilog, one for each block if possible.

    Args and errors are the same as for ``folded``.
    """
    places: dict[str, _verilog_fold.VerilogPlace] = {}
    found: list[FoldedFile] = []
    for family in _families(sources):
        cleared = [_cleared(each, places) for each in family]
        modules, renamed = _verilog_outputs.as_wires([module for module, _ in cleared])
        for group in alike(modules):
            chosen = [Configuration(modules[k], family[k].params) for k in group]
            made = unified(chosen, _verilog_text.as_vectors)
            text = _verilog_print.printed(made.folded)
            own = [family[k] for k in group]
            for k, source in enumerate(own):
                at = group[k]
                places[source.token] = _verilog_fold.place_of(
                    own[0].token, made, k, renamed[at], cleared[at][1]
                )
            _verilog_fold.check(text, own, made, places)
            if not any(_is_other(each, places) for each in (own[0].token, *own[0].children)):
                text = own[0].text  # unchanged
            found.append(FoldedFile(text, tuple(each.token for each in own)))
    return found


def _is_other(token: str, places: Mapping[str, _verilog_fold.VerilogPlace]) -> bool:
    """Return whether a module has become another one, or its instances are written differently."""
    place = places[token]
    inputs = place.spare or place.gone.inputs
    return place.token != token or bool(place.values) or bool(inputs or place.gone.wires)


def _cleared(
    source: EntitySource, places: Mapping[str, _verilog_fold.VerilogPlace]
) -> tuple[Module, _verilog_prune.Gone]:
    """Return a module with instances of its children's new modules, without unused parts."""
    module = _verilog_fold.instantiated(_verilog_text.parse(source.text), places)
    return _verilog_prune.pruned(module, source.family is None)


def folded(sources: Sequence[EntitySource]) -> list[FoldedFile]:
    """Return the entities of a design, one for each block if possible.

    Args:
        sources: the entities, leaves first.

    Raises:
        RuntimeError: a file does not reproduce the text from which it was made.
    """
    places: dict[str, _FoldedPlace] = {}
    found: list[FoldedFile] = []
    for family in _families(pruned(sources)):
        modules = [rolled_up(_instantiated(parse(each.text), places)) for each in family]
        for group in alike(modules):
            chosen = [Configuration(modules[k], family[k].params) for k in group]
            made = unified(chosen)
            text = printed(made.folded)
            own = [family[k] for k in group]
            for source, values, widened in zip(own, made.values, made.widened, strict=True):
                places[source.token] = _FoldedPlace(own[0].token, values, widened)
            _check(text, own, made, places)
            found.append(FoldedFile(text, tuple(each.token for each in own)))
    return found


def _families(sources: Sequence[EntitySource]) -> list[list[EntitySource]]:
    """Group the configurations of one block, after all entities that they instantiate.

    A block that contains another configuration of itself is not grouped.
    """
    below: dict[str, frozenset[str]] = {}
    for each in sources:
        below[each.token] = each.children.union(*(below[child] for child in each.children))
    families: dict[Hashable, list[EntitySource]] = {}
    for each in sources:
        families.setdefault(each.family, []).append(each)
    of = {each.token: each.family for each in sources}
    needs = {
        family: {of[token] for member in members for token in below[member.token]}
        for family, members in families.items()
    }
    done: set[Hashable] = set()
    ordered: list[list[EntitySource]] = []
    while len(done) < len(families):
        ready = [each for each in families if each not in done and needs[each] <= done]
        if not ready:  # blocks that contain each other: one configuration after the other
            return [[each] for each in sources]
        for family in ready:
            ordered.append(families[family])
        done.update(ready)
    return ordered


def _instantiated(module: Module, places: Mapping[str, _FoldedPlace]) -> Module:
    """Return the module with instances of the new entities of its children."""
    return replace(module, items=[_instance(item, places) for item in module.items])


def _instance(item: Item, places: Mapping[str, _FoldedPlace]) -> Item:
    if isinstance(item, Loop) or item.kind != "instance":
        return item
    at = next(k for k, token in enumerate(item.tokens) if token in places)
    place = places[str(item.tokens[at])]
    tokens: list[Token] = [*item.tokens[:at], place.token]
    if place.values:
        tokens += _generic_map(place.values)
    rows = []
    for formal, actual in split_actuals(item):
        widened = len(formal) == 1 and formal[0] in place.widened
        rows.append(((*formal, "(", number(0), ")") if widened else formal, actual))
    return replace(item, tokens=(*tokens, *_port_map(rows), ";"))


def _port_map(rows: Sequence[tuple[Tokens, Tokens]]) -> list[Token]:
    """Write a port map: a line for each port, or one line for all if they are short."""
    found: list[Token] = ["\n    ", "port", " ", "map", " ", "("]
    if sum(_length(formal) + _length(actual) + len(" => , ") for formal, actual in rows) <= _WIDE:
        for k, (formal, actual) in enumerate(rows):
            found += [*([",", " "] if k else []), *formal, " ", "=>", " ", *actual]
        return [*found, ")"]
    width = max(sum(len(str(token)) for token in formal) for formal, _ in rows)
    for k, (formal, actual) in enumerate(rows):
        blanks = " " * (width + 1 - sum(len(str(token)) for token in formal))
        found += [*([","] if k else []), "\n        ", *formal, blanks, "=>", " ", *actual]
    return [*found, "\n    ", ")"]


def _length(tokens: Tokens) -> int:
    """Estimate the length of text; equal for equal instances, independent of their numbers."""
    return sum(
        len(re.sub("[0-9]+", "0", token)) if isinstance(token, str) else _NUMBER for token in tokens
    )


def _generic_map(values: Mapping[str, Value]) -> list[Token]:
    narrow = sum(len(name) + 9 for name in values) <= _WIDE
    width = max(len(name) for name in values)
    found: list[Token] = ["\n    ", "generic", " ", "map", " ", "("]
    for k, (name, value) in enumerate(values.items()):
        found += [","] if k else []
        if not narrow:
            found.append("\n        ")
        elif k:
            found.append(" ")
        found += [name, " " if narrow else " " * (width + 1 - len(name)), "=>", " ", _value(value)]
    return [*found, *(() if narrow else ("\n    ",)), ")"]


def _value(value: Value) -> Token:
    return str(value).lower() if isinstance(value, bool) else number(value)


def _check(
    text: str, sources: Sequence[EntitySource], made: Unified, places: Mapping[str, _FoldedPlace]
) -> None:
    """Expand the file again, for every configuration."""
    known: dict[tuple[str, frozenset[tuple[str, str]]], Child] = {}
    alias: dict[str, str] = {}
    for token, place in places.items():
        key = (place.token, frozenset(_written(place.values).items()))
        before = known.get(key, Child(token, frozenset()))
        # A port of one bit may be a vector in one configuration, and a scalar in another.
        known[key] = Child(before.token, before.widened | place.widened)
        alias[token] = before.token

    def child(token: str, values: Mapping[str, str]) -> Child:
        return known[token, frozenset(values.items())]

    for k, source in enumerate(sources):
        members = made.modules[k].members
        again = expanded(text, _written(made.values[k]), members, child)
        wrong = difference(again, plain(source.text), made.widened[k], made.lacking[k], alias)
        if wrong is not None:
            raise RuntimeError(
                f"{text[text.index('entity') :].split()[1]} does not give back the "
                f"configuration {dict(source.params)}: {wrong}"
            )


def _written(values: Mapping[str, Value]) -> dict[str, str]:
    return {name: str(value).lower() for name, value in values.items()}
