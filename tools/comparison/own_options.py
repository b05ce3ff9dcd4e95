"""Options that an architecture alone has, on the command line of ``merp map``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.comparison.architecture import Architecture, OwnOption
from merp.models.comparison.registry import ARCHITECTURES
from merp.tools.common.arguments import whole


def add_own_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every architecture; what is not given is None."""
    for architecture in ARCHITECTURES.values():
        add_options_of(parser, architecture)


def add_options_of(parser: argparse.ArgumentParser, architecture: Architecture) -> None:
    """Add those of one architecture."""
    group = parser.add_argument_group(f"options of {architecture.name}")
    for each in architecture.choices:
        _add(group, each)


def _add(group: argparse._ArgumentGroup, option: OwnOption) -> None:
    chosen = "by the architecture's rules" if option.default is None else option.default
    default = "" if option.kind is bool else f" (default {chosen})"
    form: dict[str, Any] = {"default": None, "help": f"{option.says}{default}"}
    if option.kind is bool:
        form["action"] = "store_true"
    elif option.kind is str:
        form["choices"] = option.allowed
    else:
        form |= {"metavar": "N", "type": _number(option)}
    group.add_argument(flag(option), dest=_place(option), **form)


def flag(option: OwnOption) -> str:
    """The option as it is written."""
    return f"--{option.name.replace('_', '-')}"


def _place(option: OwnOption) -> str:
    return f"own_{option.name}"


def _number(option: OwnOption) -> Callable[[str], float]:
    if option.kind is int:
        return whole(int(option.low), int(option.high))

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not option.low <= value <= option.high:
            raise argparse.ArgumentTypeError(
                f"must be a number from {option.low:g} to {option.high:g}, not {shown(text)}"
            )
        return value

    return parse


def own_options(args: argparse.Namespace, architecture: Architecture | None) -> dict[str, Any]:
    """Return the options of ``architecture``, as given or by default; without one there are none.

    Raises:
        BadInput: one of another architecture was given.
    """
    choices = architecture.choices if architecture else ()
    mine = {each.name for each in choices}
    for other in ARCHITECTURES.values():
        for each in other.choices:
            if each.name not in mine and getattr(args, _place(each), None) is not None:
                raise BadInput(f"{flag(each)}: allowed only with --architecture {other.name}")
    given = {each.name: getattr(args, _place(each)) for each in choices}
    return {
        each.name: each.default if given[each.name] is None else given[each.name]
        for each in choices
    }
