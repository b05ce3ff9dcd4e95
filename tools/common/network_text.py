"""The text of a network file, as a person would write it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from merp.models.base.errors import one_line
from merp.models.network.network_keys import GROUPS, PAD, STRIDE

DEFAULTS = {key.key: key.default for key in (STRIDE, PAD, GROUPS)} | {"relu": True}
"""What is not written, as it goes without saying."""

COMMENT = 300
"""Characters of the longest comment."""


def network_text(
    tables: Mapping[str, Any],
    head: Iterable[str],
    about: Mapping[str, Iterable[str]],
    designs: Mapping[str, Mapping[str, Any]],
) -> str:
    """Return the file of ``tables`` (of [network] and [[layer]]) and ``designs``.

    head: comments in front of everything. about: of a layer, by its name.
    """
    lines = [_comment(each) for each in head]
    lines += ["", "[network]", *_pairs(tables["network"])]
    for table in tables["layer"]:
        lines += ["", *map(_comment, about.get(table["name"], ()))]
        kept = {key: value for key, value in table.items() if DEFAULTS.get(key) != value}
        lines += ["[[layer]]", *_pairs(kept)]
    for name, design in designs.items():
        lines += ["", f'[design."{name}"]', *_pairs(design)]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    return f"# {one_line(text, COMMENT)}"


def _pairs(table: Mapping[str, Any]) -> Iterable[str]:
    return (f"{key} = {_value(value)}" for key, value in table.items())


def _value(value: Any) -> str:
    """A value of a network file: names and words need no escapes."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_pairs(value))} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return str(value) if isinstance(value, int | float) else f'"{value}"'
