"""Write the text of a network file in the form that a person would use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from merp.models.base.errors import one_line
from merp.models.base.file_format import KEY, NETWORK
from merp.models.network.network_keys import GROUPS, PAD, STRIDE

DEFAULTS = {key.key: key.default for key in (STRIDE, PAD, GROUPS)} | {"relu": True}
"""Values that the file omits, because they are the defaults."""

COMMENT = 300
"""Characters of the longest comment."""


def network_text(
    tables: Mapping[str, Any],
    head: Iterable[str],
    about: Mapping[str, Iterable[str]],
    designs: Mapping[str, Mapping[str, Any]],
) -> str:
    """Return the file of ``tables`` (of [network] and [[layer]]) and ``designs``.

    Args:
        tables: the tables ``network`` and ``layer``.
        head: comments at the top of the file.
        about: comments of each layer, by its name.
        designs: tables of the designs, by their names.
    """
    lines = [_comment(each) for each in head]
    lines += ["", *_pairs({KEY: NETWORK}), "", "[network]", *_pairs(tables["network"])]
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
    """Return a value in TOML. Names and words need no escapes."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_pairs(value))} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return str(value) if isinstance(value, int | float) else f'"{value}"'
