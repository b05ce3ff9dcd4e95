"""The available architectures by name, each with the board of its paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pkgutil import resolve_name
from typing import Final

from merp.models.base.errors import BadInput, shown
from merp.models.base.given import mention
from merp.models.comparison.architecture import Architecture
from merp.models.network.machine import Machine
from merp.models.network.registry import OURS, distribution_of, machine_named, machines, part_of
from merp.models.network.registry import names as machine_names
from merp.models.papers.lists import NAMES, room_of


def _of_machine(machine: Machine) -> Architecture:
    """Return the architecture that a machine has for comparisons.

    Raises:
        BadInput: another distribution has the machine, and the object is missing, or its name is
            not the machine's. The message names the distribution.
    """
    found = part_of(machine, machine.comparison)
    brought_by = distribution_of(machine.name)
    ours = brought_by == OURS  # our own machines have the names of their papers
    if not isinstance(found, Architecture) or not (ours or found.name == machine.name):
        raise BadInput(
            f"{brought_by}: machine {machine.name}: {machine.comparison} must be an Architecture "
            "of this name"
        )
    return found


def _of_machines() -> Iterator[Architecture]:
    """Yield the architectures of the machines that have one that can be loaded."""
    for machine in machines():
        if machine.comparison:
            with suppress(BadInput):
                yield _of_machine(machine)


def _all() -> Iterator[Architecture]:
    """Yield the papers' architectures in their order, then those of other machines.

    The architecture of a paper belongs to a machine, or to a module of this package with the
    paper's name.
    """
    brought = {each.name: each for each in _of_machines()}
    for name in NAMES:
        own = brought.pop(name, None)
        yield own or resolve_name(f"{__package__}.{room_of(name)}:ARCHITECTURE")
    yield from brought.values()


ARCHITECTURES: Final[Mapping[str, Architecture]] = {each.name: each for each in _all()}
"""Architectures in the order in which they are printed."""


def named(name: str) -> Architecture:
    """Return the architecture called ``name``.

    Raises:
        BadInput: there is no such architecture, and the message lists the available ones. Or its
            machine cannot be loaded, and the message names the distribution.
    """
    if name in ARCHITECTURES:
        return ARCHITECTURES[name]
    if name in machine_names() and (machine := machine_named(name)).comparison:
        return _of_machine(machine)
    hint = "".join(f"; did you mean {n}?" for n in get_close_matches(name, ARCHITECTURES, 1))
    allowed = ", ".join(ARCHITECTURES)
    raise BadInput(f"{mention('architecture', shown(name))}: allowed are {allowed}{hint}")
