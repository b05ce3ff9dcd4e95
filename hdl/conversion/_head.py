"""The comment at the head of every file. Private to ``merp.hdl.conversion``."""

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
    """The comment: licence, origin, parameters, docstring. No dates, no paths.

    What is None in every configuration is not there, nor is a port that none of them has; nothing
    is said of it.

    Args:
        units: every configuration; parameters that differ are named with all their values.
        token: stands for the name. mark: begins a comment. licence: None leaves it out.

    Raises:
        ExportError: the docstring is not ASCII.
    """
    function = units[0].deco.func
    params = [each.params for each in units]
    doc = docstring(function)
    lines = [] if licence is None else [f"SPDX-License-Identifier: {licence}", ""]
    lines += [f"{token}: generated from {_origin(function)}; do not edit."]
    # A port, or what else a design can do without, that this one has not.
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
    """Lines that tell a parameter, or what the block takes from it."""
    told = [f"{path or name} = {' or '.join(values)}" for path, values in used.items()]
    label = "" if "" in used or not told else f"{name}: "
    kept = [each.replace(" ", _SPACE) for each in told]  # lines end between them
    lines = wrap(label + "; ".join(kept), 96, subsequent_indent="    ")
    return [line.replace(_SPACE, " ") for line in lines]


_NAMED = re.compile(r"(?P<names>[\w.]+(?:, [\w.]+)*)(?P<way> {2,}(?:in|out)\b)?")


def _is_known(name: str, known: Collection[str]) -> bool:
    """Whether a port or parameter is called so, or those of a bundle begin so."""
    name = name.replace(".", "_")
    return any(each == name or each.startswith(f"{name}_") for each in known)


def _without(doc: str, absent: Collection[str], known: Collection[str]) -> str:
    """A docstring without what it says of arguments and ports that are not there.

    That is the line which begins with the name of one, or of several that are all absent, and the
    deeper lines below it. A line of ports says behind their names which way they go.
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
