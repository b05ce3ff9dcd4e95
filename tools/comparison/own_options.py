"""Options of single architectures, in requests of ``merp map``, ``cluster`` and ``sweep``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.comparison.architecture import Architecture, OwnOption
from merp.models.comparison.registry import ARCHITECTURES
from merp.tools.common.kinds import Flag, Former, Kind, Number, OneOf, WholeOption
from merp.tools.common.request import About, option


@dataclass(frozen=True)
class OwnOptions(Kind):
    """The options of some architectures, by their names; missing options are left out."""

    architectures: tuple[Architecture, ...]

    def add(self, where: Any, name: str, of: About) -> list[Any]:
        """Add a section for each architecture."""
        for each in self.architectures:
            section = where.add_argument_group(f"options of {each.name}")
            for own in each.choices:
                chosen = "by the architecture's rules" if own.default is None else own.default
                default = "" if own.kind is bool else f" (default {chosen})"
                form = {"default": None, "help": f"{own.says}{default}", **_kind(own).form()}
                if own.kind in (int, float):
                    form["metavar"] = "N"
                now = section.add_argument(flag(own), dest=_place(own), **form)
                for former in own.former:
                    section.add_argument(_flag(former), dest=_place(own), action=Former, option=now)
        return []

    def taken(self, args: argparse.Namespace, name: str) -> Mapping[str, Any]:
        """Return the given options."""
        names = (each.name for other in self.architectures for each in other.choices)
        found = {each: getattr(args, f"{_OWN}{each}", None) for each in names}
        return {each: value for each, value in found.items() if value is not None}


_OWN = "own_"
"""Prefix of their names among the options of the verb."""


def own_options(*architectures: Architecture) -> Any:
    """Declare the field of these options."""
    return option(OwnOptions(architectures), "options that one architecture has")


def _kind(own: OwnOption) -> Kind:
    if own.kind is bool:
        return Flag()
    if own.kind is str:
        return OneOf(own.allowed)
    if own.kind is int:
        return WholeOption(int(own.low), int(own.high))
    low, high = own.low, own.high
    return Number(f"a number from {low:g} to {high:g}", lambda value: low <= value <= high)


def flag(own: OwnOption) -> str:
    """Return the option as it is typed."""
    return _flag(own.name)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _place(own: OwnOption) -> str:
    return f"{_OWN}{own.name}"


def chosen(given: Mapping[str, Any], architecture: Architecture | None) -> dict[str, Any]:
    """Return the options of ``architecture``, with defaults; without one there are none.

    Raises:
        BadInput: an option of another architecture was given.
    """
    choices = architecture.choices if architecture else ()
    mine = {each.name for each in choices}
    for other in ARCHITECTURES.values():
        for each in other.choices:
            if each.name in given and each.name not in mine:
                raise BadInput(f"{flag(each)}: allowed only with --architecture {other.name}")
    return {
        each.name: each.default if given.get(each.name) is None else given[each.name]
        for each in choices
    }
