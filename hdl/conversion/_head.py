"""Write the comment at the top of every file. Private to ``merp.hdl.conversion``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from textwrap import wrap
from typing import Any

from merp.hdl.conversion._elaborate import ElaboratedUnit
from merp.hdl.conversion._used import used_numbers
from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.docstring import docstring

_SPACE = "\N{NO-BREAK SPACE}"


def head(units: Sequence[ElaboratedUnit], token: str, mark: str, licence: str | None) -> str:
    """Return the comment: licence, origin, parameters, docstring. No dates, no paths.

    A value that is None in every configuration is omitted, and so is a port that no configuration
    has. The comment does not mention them.

    Args:
        units: every configuration; parameters that differ are named with all their values.
        token: placeholder for the name.
        mark: begins a comment.
        licence: None omits it.

    Raises:
        ExportError: the docstring is not ASCII.
    """
    function = units[0].deco.func
    params = [each.params for each in units]
    doc = docstring(function)
    lines = [] if licence is None else [f"SPDX-License-Identifier: {licence}", ""]
    lines += [f"{token}: generated from {_origin(function)}; do not edit."]
    # A port or another optional part that this design lacks.
    names = dict.fromkeys(name for each in params for name in each)
    absent = {name for name in names if all(each.get(name, name) is None for each in params)}
    used = used_numbers(function, doc, params)
    for name in names:
        if name in absent:
            continue
        lines += _parameter(name, used[name])
    known = {name for each in units for name in each.ports} | (names.keys() - absent)
    doc = _without(doc, absent, known)
    if not doc.isascii():
        raise ExportError(f"{function.__name__}: the docstring goes into VHDL and must be ASCII")
    if doc:
        lines += ["", *doc.splitlines()]
    return "".join(f"{mark} {line}".rstrip() + "\n" for line in lines)


def _origin(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}".replace("<locals>.", "")


def _parameter(name: str, used: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the lines about a parameter, or about the fields that the block uses."""
    told = [f"{path or name} = {' or '.join(values)}" for path, values in used.items()]
    label = "" if "" in used or not told else f"{name}: "
    kept = [each.replace(" ", _SPACE) for each in told]  # line ends are between them
    lines = wrap(label + "; ".join(kept), 96, subsequent_indent="    ")
    return [line.replace(_SPACE, " ") for line in lines]


_NAMED = re.compile(r"(?P<names>[\w.]+(?:, [\w.]+)*)(?P<way> {2,}(?:in|out)\b)?")


def _is_known(name: str, known: Collection[str]) -> bool:
    """Return whether a port or parameter has this name, or the fields of a bundle begin with it."""
    name = name.replace(".", "_")
    return any(each == name or each.startswith(f"{name}_") for each in known)


def _without(doc: str, absent: Collection[str], known: Collection[str]) -> str:
    """Return a docstring without its lines about absent arguments and ports.

    Such a line begins with an absent name, or with several names that are all absent. The deeper
    lines below it are removed too. A line about ports has their direction after the names.
    """
    kept: list[str] = []
    dropping, depth = False, 0
    for line in doc.splitlines():
        indent = len(line) - len(line.lstrip())
        dropping = dropping and bool(line) and indent > depth
        named = _NAMED.match(line.lstrip())
        if named and all(
            name in absent or (named["way"] and not _is_known(name, known))
            for name in named["names"].split(", ")
        ):
            dropping, depth = True, indent
        if not dropping:
            kept.append(line)
    return "\n".join(kept)
