"""The comment at the head of every file. Private to ``merp.hdl.conversion``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from merp.hdl.conversion._elaborate import Unit
from merp.hdl.conversion.docstring import docstring
from merp.hdl.conversion.errors import ExportError


def head(
    unit: Unit, params: Sequence[Mapping[str, Any]], token: str, mark: str, licence: str | None
) -> str:
    """The comment: licence, origin, parameters, docstring. No dates, no paths.

    What is None in every configuration is not there, and nothing is said of it.

    Args:
        unit: the first configuration, whose docstring it is.
        params: of every configuration; what differs is named with all its values.
        token: stands for the name. mark: begins a comment. licence: None leaves it out.

    Raises:
        ExportError: the docstring is not ASCII.
    """
    function = unit.deco.func
    lines = [] if licence is None else [f"SPDX-License-Identifier: {licence}", ""]
    lines += [
        f"{token}: generated from {function.__module__}.{function.__qualname__}; do not edit.",
    ]
    # A port, or what else a design can do without, that this one has not.
    names = dict.fromkeys(name for each in params for name in each)
    absent = {name for name in names if all(each.get(name, name) is None for each in params)}
    for name in names:
        if name in absent:
            continue
        values = dict.fromkeys(repr(each[name]) if name in each else "an input" for each in params)
        lines += wrap(f"{name} = {' or '.join(values)}", 96, subsequent_indent="    ")
    doc = _without(docstring(function), absent)
    if not doc.isascii():
        raise ExportError(f"{function.__name__}: the docstring goes into VHDL and must be ASCII")
    if doc:
        lines += ["", *doc.splitlines()]
    return "".join(f"{mark} {line}".rstrip() + "\n" for line in lines)


def _without(doc: str, absent: set[str]) -> str:
    """A docstring without what it says of arguments that are not there.

    That is the line which begins with the name of one, or of several that are all absent, and the
    deeper lines below it.
    """
    kept: list[str] = []
    dropping, depth = False, 0
    for line in doc.splitlines():
        indent = len(line) - len(line.lstrip())
        dropping = dropping and bool(line) and indent > depth
        named = re.match(r"\w+(?:, \w+)*", line.lstrip())
        if named and absent.issuperset(named[0].split(", ")):
            dropping, depth = True, indent
        if not dropping:
            kept.append(line)
    return "\n".join(kept)
