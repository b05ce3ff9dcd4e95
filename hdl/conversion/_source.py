"""Hold an entity as it was converted. Private to ``merp.hdl.conversion``."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EntitySource:
    """An entity as it was converted.

    Attributes:
        token: placeholder for its name, in its text and in those that instantiate it.
        family: equal for configurations of one block; empty for the top.
        params: parameters of the block, by name.
        text: its file.
        children: tokens of the entities that it instantiates.
    """

    token: str
    family: Hashable
    params: Mapping[str, Any]
    text: str
    children: frozenset[str]
