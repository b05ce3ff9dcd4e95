"""The text of a network file, as a person would write it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from merp.models.base.errors import one_line
from merp.models.machines.cnn_merp.params.design import Design
from merp.models.machines.cnn_merp.params.design_keys import CHOICES, CU_KIND, KEYS, KU_KIND
from merp.models.network.network_keys import GROUPS, PAD, STRIDE

DEFAULTS = {key.key: key.default for key in (STRIDE, PAD, GROUPS)} | {"relu": True}
"""What is not written, as it goes without saying."""

DESIGN_DEFAULTS = {key.key: key.default for key in KEYS}

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


def design_table(design: Design) -> dict[str, Any]:
    """Return the keys of a design that differ from what goes without saying."""
    keys = (CU_KIND.key, KU_KIND.key, *CHOICES)
    values = {key: getattr(design, key) for key in keys}
    return {key: value for key, value in values.items() if value != DESIGN_DEFAULTS[key]}


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
