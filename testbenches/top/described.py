"""Meanings of the registers and counters of a top, for its register map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from merp.models.base.register_map import Settings


@runtime_checkable
class Described(Protocol):
    """An object that describes the registers and counters of a top, such as a design."""

    @property
    def settings(self) -> Settings:
        """Legal range and meaning of every register, by the flattened name of its port."""

    @property
    def meanings(self) -> Mapping[str, str]:
        """Meanings of counters by name; any other counter counts the words of a port."""


@dataclass(frozen=True)
class Description:
    """A description of a top, with the attributes of ``Described``."""

    settings: Settings
    meanings: Mapping[str, str] = field(default_factory=dict)


def as_designs_say(parameters: Mapping[str, Any]) -> Description:
    """Merge the descriptions of all parameters of a top that are ``Described``."""
    said = [each for each in parameters.values() if isinstance(each, Described)]
    return Description(
        {name: setting for each in said for name, setting in each.settings.items()},
        {name: meaning for each in said for name, meaning in each.meanings.items()},
    )
