"""Find the parameters of a block that its text names. Private to ``merp.hdl.conversion``."""

from __future__ import annotations

import ast
import enum
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from merp.hdl.conversion._parameters import Described
from merp.hdl.conversion.base.function_source import source_of

_MISSING = object()


def used_numbers(
    function: Callable[..., Any], doc: str, params: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, list[str]]]:
    """Return the numbers, flags and texts that a block uses from its parameters.

    A parameter that is an object has many attributes. An attribute counts if the block's own text
    or
    docstring names it. Objects that the block passes on as a whole belong to the receiving block.

    Args:
        function: the block.
        doc: its docstring.
        params: parameters of each of its configurations, by name.

    Returns:
        The texts of the values, by parameter and attribute (``""`` for the parameter itself). If a
        name is not a parameter in some configuration, its text is "an input".
    """
    chains = [
        *_chains(function),
        *((name, word) for word in _words(doc) for name in _names(params)),
    ]
    found: dict[str, dict[str, list[str]]] = {}
    for name in _names(params):
        if all(name not in each or _is_plain(each[name]) for each in params):
            texts = [repr(each[name]) if name in each else "an input" for each in params]
            found[name] = {"": list(dict.fromkeys(texts))}
            continue
        paths = dict.fromkeys(chain[1:] for chain in chains if chain[0] == name)
        found[name] = {}
        for path in paths:
            values = [_number(each.get(name), path) for each in params]
            if all(value is not _MISSING for value in values):
                found[name][".".join(path)] = list(dict.fromkeys(map(repr, values)))
    return found


def _names(params: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for each in params for name in each))


def _is_plain(value: object) -> bool:
    if isinstance(value, Described):
        return value.value is None
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str | enum.Enum)


def _number(value: Any, path: Sequence[str]) -> Any:
    """Return the plain value at the end of a path of attributes, or ``_MISSING``."""
    for name in path:
        if isinstance(value, Described):
            value = value.value
        try:
            value = getattr(value, name)
        except Exception:  # a property may have no value in this configuration
            return _MISSING
    return value if _is_plain(value) and value is not None else _MISSING


def _words(doc: str) -> list[str]:
    """Return names such as ``cu_latency``; a word without underscore may be English."""
    return re.findall(r"[A-Za-z]+_\w+", doc)


def _chains(function: Callable[..., Any]) -> Iterator[tuple[str, ...]]:
    """Yield names with attributes, such as ``design.fmt.width``, also via ``fmt = design.fmt``."""
    tree = ast.parse(source_of(inspect.unwrap(function).__code__).text)
    known: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            (target,) = node.targets
            chain = _chain(node.value)
            if isinstance(target, ast.Name) and len(chain) > 1:
                known[target.id] = chain
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    for node in sorted(named, key=lambda each: (each.lineno, each.col_offset, each.end_col_offset)):
        chain = _chain(node)
        if chain:
            yield (*known.get(chain[0], chain[:1]), *chain[1:])


def _chain(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute) and (inner := _chain(node.value)):
        return (*inner, node.attr)
    return ()
