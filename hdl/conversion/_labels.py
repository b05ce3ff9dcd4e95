"""Name the entities of a block that has several, and instances in lists.

Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_PLACE = re.compile(r"(_\d+)+$")
_LABEL_LENGTH = 16  # longer values are not put into entity names


def values(params: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield parameters by name, with the fields of dataclasses one by one."""
    for name, value in params.items():
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            for field in dataclasses.fields(value):
                yield field.name, getattr(value, field.name)
        else:
            yield name, value


def suffixes(features: Sequence[Iterable[tuple[str, str]]]) -> list[str]:
    """Return the shortest prefix of varying features that distinguishes all, as far as possible.

    Args:
        features: name and value of each feature, for each entity.
    """
    rows = [dict(each) for each in features]
    labels = [label for label in rows[0] if all(label in row for row in rows)]
    chosen: list[str] = []
    distinct = 1
    for label in labels:
        if any(len(row[label]) > _LABEL_LENGTH for row in rows):
            continue
        number = len({tuple(row[key] for key in [*chosen, label]) for row in rows})
        if number > distinct:
            chosen.append(label)
            distinct = number
    return ["".join(_suffix(key, row[key]) for key in chosen) for row in rows]


def _suffix(label: str, value: str) -> str:
    """Return ``_registered`` (or nothing) for a flag, ``_cycles19`` for a number."""
    shown = {"True": label, "False": ""}.get(value, f"{label}{value}")
    shown = re.sub(r"\W+|_+", "_", shown.replace("-", "minus")).strip("_")
    return f"_{shown}" if shown else ""


def instance_labels(instances: Sequence[tuple[str, str, str | None]]) -> list[str]:
    """Return the names of instances: as in Python, except in lists of different kinds.

    An instance in a list of several blocks, or of blocks and processes, is named after its block
    and the signal that it drives.

    Args:
        instances: name in Python, with a number if it is in a list; function that makes the block;
            signal at its first output.
    """
    lists: dict[str, list[tuple[str, str]]] = {}
    for name, block, _ in instances:
        place = _PLACE.search(name)
        if place is not None:
            lists.setdefault(name[: place.start()], []).append((place[0][1:], block))
    mixed = {each for each, members in lists.items() if _is_mixed(members)}
    return [
        f"{block}_{re.sub('[^a-zA-Z0-9]+', '_', driven)}"
        if driven and _PLACE.search(name) and _PLACE.sub("", name) in mixed
        else name
        for name, block, driven in instances
    ]


def _is_mixed(members: Sequence[tuple[str, str]]) -> bool:
    places = {place for place, _ in members}
    gaps = not any("_" in each for each in places) and places != set(map(str, range(len(places))))
    return gaps or len({block for _, block in members}) > 1
