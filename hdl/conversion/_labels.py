"""What is added to a block's name where several of its entities are left.

Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_LABEL_LENGTH = 16  # longer values are not put into entity names


def values(params: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Parameters by name, the fields of dataclasses one by one."""
    for name, value in params.items():
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            for field in dataclasses.fields(value):
                yield field.name, getattr(value, field.name)
        else:
            yield name, value


def suffixes(features: Sequence[Iterable[tuple[str, str]]]) -> list[str]:
    """The shortest prefix of varying features that tells all apart, as far as they can.

    Args:
        features: of each entity, name and value.
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
    """``_registered`` (or nothing) for a flag, ``_cycles19`` for a number."""
    shown = {"True": label, "False": ""}.get(value, f"{label}{value}")
    shown = re.sub(r"\W+|_+", "_", shown.replace("-", "minus")).strip("_")
    return f"_{shown}" if shown else ""
