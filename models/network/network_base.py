"""A network file that changes some values of a shipped file: ``base = "alexnet"``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from merp.models.base.toml_section import Section, read_toml


def with_base(file: str, values: dict[str, Any], bases: Path) -> dict[str, Any]:
    """Return the tables ``values`` of ``file``, laid over those of its ``base`` if it names one.

    A base is a network file in the folder ``bases`` that has no base itself. Keys of [network],
    [layer.<name>] and [design.<name>] replace those of the base. Designs of the base that no layer
    names any more are omitted.

    Raises:
        BadInput: there is no such base, or it has no such layer.
    """
    if "base" not in values:
        return values
    whole = {path.stem: read_toml(path) for path in bases.glob("*.toml")}
    names = sorted(name for name, tables in whole.items() if "base" not in tables)
    base = whole[Section(file, "file", values).choice("base", names)]
    order = [layer["name"] for layer in base["layer"]]
    base["layer"] = dict(zip(order, base["layer"], strict=True))
    laid = _laid_over(base, {key: value for key, value in values.items() if key != "base"})
    layers = Section(file, "layer", laid["layer"])
    laid["layer"] = [layers.value(name) for name in order]
    layers.finish()
    _drop_unnamed(laid, base, values)
    return laid


def _drop_unnamed(laid: dict[str, Any], base: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Remove designs of the base that no layer names any more."""
    known, own = base.get("design"), values.get("design", {})
    if not isinstance(known, Mapping) or not isinstance(own, Mapping):
        return
    named = [table.get("design") for table in laid["layer"] if isinstance(table, Mapping)]
    designs = laid["design"]
    laid["design"] = {
        key: designs[key] for key in designs if key in own or key not in known or key in named
    }


def _laid_over(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with the values of ``changes``; nested tables are merged in the same way."""
    merged = dict(base)
    for key, value in changes.items():
        known = base.get(key)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            merged[key] = _laid_over(known, value)
        else:
            merged[key] = value
    return merged
