"""The installed machines: ours, and those of other distributions.

A distribution registers a machine by an entry point of the group ``merp.machines``. Its name is the
machine's, its value is ``package.module:object``, a ``Machine``. A machine that cannot be loaded is
refused when a network requests it. The others work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeVar

from merp.models.base.errors import BadInput
from merp.models.base.fixed import FixedFormat
from merp.models.base.formats import FloatFormat
from merp.models.base.keys import WordKey
from merp.models.base.shape import Shape
from merp.models.base.toml_section import Section
from merp.models.base.users import Users
from merp.models.network.machine import CycleCount, Design, Machine

if TYPE_CHECKING:  # already imported by the caller
    from merp.models.network.network import Layer, Network

GROUP = "merp.machines"
OURS = "merp"
"""The distribution of our machines."""

_ROOMS = ("cnn_merp", "mac_array", "fcnn", "cnn_merp.pipeline", "cnn_merp.chain")
"""Packages of our machines below ``models.machines``; a machine has the name of the last part."""

_BUILT_IN = {
    room.rpartition(".")[2].replace("_", "-"): f"merp.models.machines.{room}.machine:MACHINE"
    for room in _ROOMS
}

Kind = TypeVar("Kind", bound=Design)


@cache
def _brought() -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of each machine name; ours come first."""
    found = {name: (EntryPoint(name, value, GROUP),) for name, value in _BUILT_IN.items()}
    for point in entry_points(group=GROUP):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else OURS


def distribution_of(name: str) -> str:
    """Return the distribution that has the machine of this name; the first if several do."""
    return _distribution(_brought()[name][0])


def names() -> tuple[str, ...]:
    """Return the names of all machines; the first is the default of designs."""
    return tuple(_brought())


@cache
def machine_named(name: str) -> Machine:
    """Return the machine of this name.

    Raises:
        BadInput: none is installed, or several are, or it cannot be loaded. The message gives the
            distribution.
    """
    points = _brought().get(name)
    if points is None:
        raise BadInput(f"machine {name}: not installed: there are {', '.join(names())}")
    if len(points) > 1:
        bringing = ", ".join(map(_distribution, points))
        raise BadInput(f"machine {name}: {bringing} bring one each: allowed is one of them")
    (point,) = points
    where = f"{_distribution(point)}: machine {name}"
    try:
        found = point.load()
    except Exception as error:
        if _distribution(point) == OURS:  # a defect of merp
            raise
        reason = f"{type(error).__name__}: {error}"
        raise BadInput(f"{where}: {point.value} cannot be loaded: {reason}") from error
    if not isinstance(found, Machine) or found.name != name:
        raise BadInput(f"{where}: {point.value} must be a Machine of this name")
    return found


def part_of(machine: Machine, reference: str, part: str = "") -> Any:
    """Return the object that a machine names, or an attribute of it.

    Args:
        machine: the machine that names it.
        reference: ``package.module:object``.
        part: the attribute, if any.

    Raises:
        BadInput: another distribution has the machine, and the object does not exist. The message
            gives the distribution.
    """
    brought_by = distribution_of(machine.name)
    where = f"{brought_by}: machine {machine.name}"
    try:
        found = resolve_name(reference)
        return getattr(found, part) if part else found
    except AttributeError as error:
        if part and error.name == part and error.obj is found:
            raise BadInput(f"{where} has no {part}") from error
        raise
    except Exception as error:
        if brought_by == OURS:  # a defect of merp
            raise
        reason = f"{type(error).__name__}: {error}"
        lacking = f"no {part}" if part else "not there"
        raise BadInput(f"{where}: {reference}: {lacking}: {reason}") from error


def cycles_of(network: Network, layer: Layer, phase: str, images: int) -> CycleCount | None:
    """Return the cycles of a phase of a layer by the model of its machine, over all groups.

    The result is None if the layer has no design, or the machine has no model of them.
    """
    if layer.design is None:
        return None
    machine = machine_of(network.design(layer))
    if not machine.cycles:
        return None
    found: CycleCount | None = part_of(machine, machine.cycles)(network, layer, phase, images)
    return found


def design_tables(network: Network) -> dict[str, dict[str, Any]]:
    """Return the tables [design.<name>] of a network's designs, by name."""
    return {name: machine_of(each).table(each) for name, each in network.designs.items()}


def _loaded() -> Iterator[Machine]:
    for name in names():
        try:
            yield machine_named(name)
        except BadInput:
            continue


def machines() -> Iterator[Machine]:
    """Yield the machines with designs of their own that can be loaded, ours first."""
    return (each for each in _loaded() if each.runs is None)


def runners() -> Iterator[Machine]:
    """Yield the machines that run designs of other machines, and that can be loaded, ours first."""
    return (each for each in _loaded() if each.runs is not None)


def designers() -> Iterator[Machine]:
    """Yield the machines that make designs for a network, if an option selects them."""
    return (each for each in machines() if each.designed)


def architectures() -> tuple[str, ...]:
    """Return the names that an option accepts: the default machine's, and those of ``designers``
    and ``runners``.
    """
    return (names()[0], *(each.name for each in (*designers(), *runners())))


def network_asked(network: Network, name: str | None, batch: int) -> Network:
    """Return a network on the designs of the machine that an option selects.

    Args:
        network: the network.
        name: of ``architectures``, or None. If the machine makes no designs, or all designs are
            its own, the network keeps them.
        batch: images of a step.

    Raises:
        BadInput: the machine supports no such network, or cannot be loaded.
    """
    machine = None if name is None else machine_named(name)
    if machine is None or not machine.designed or _runs(machine, network):
        return network
    for layer in network.layers:
        check_activation(machine, layer.shape, f"{network.name}: layer {layer.name}")
    found: Network = part_of(machine, machine.designed)(network, batch)
    if machine.check:
        part_of(machine, machine.check)(found)
    return found


def _runs(machine: Machine, network: Network) -> bool:
    """Return whether every layer has a design of the machine."""
    used = {layer.design for layer in network.layers}
    return None not in used and all(
        machine_of(each) is machine for each in network.designs.values()
    )


def check_activation(machine: Machine, shape: Shape, where: str) -> None:
    """Refuse an activation that the designs of a machine do not have.

    Raises:
        BadInput: ``where`` opens the message.
    """
    if shape.activation not in machine.activations:
        allowed = ", ".join(machine.activations)
        raise BadInput(
            f"{where}: activation = {shape.activation!r}: machine {machine.name} has {allowed}"
        )


def other_names() -> Mapping[str, str]:
    """Return the aliases that options accept, each with its machine's name."""
    spelled = {name.replace("-", "_"): name for name in names() if "-" in name}
    return spelled | {alias: each.name for each in _loaded() for alias in each.aliases}


def machine_of(design: Design) -> Machine:
    """Return the machine of a design."""
    return next(each for each in machines() if isinstance(design, each.design))


def machine_for(numbers: FloatFormat | FixedFormat) -> Machine:
    """Return the first machine that supports a number format."""
    return next(each for each in machines() if isinstance(numbers, each.numbers))


def machine_that_runs(network: Network) -> Machine:
    """Return the machine of a network's designs; without designs, the first for its number format.

    Raises:
        BadInput: its layers run on several machines.
    """
    found = {machine_of(design).name for design in network.designs.values()}
    if not found:
        return machine_for(network.numbers)
    if len(found) > 1:
        raise BadInput(
            f"{network.name}: its designs are of {' and '.join(sorted(found))}: allowed are "
            "designs of one machine"
        )
    return machine_named(*found)


def machine_asked(network: Network, name: str | None) -> Machine:
    """Return the machine that runs a network, if an option may name one.

    Args:
        network: the network.
        name: of ``architectures``. It selects a machine that runs designs of another machine. With
            any other name, or with None, the designs decide.

    Raises:
        BadInput: as in ``machine_that_runs``, or the machine cannot be loaded.
    """
    if name is not None and (asked := machine_named(name)).runs is not None:
        return asked
    return machine_that_runs(network)


def of_other(design: Design, where: str, allowed: Iterable[Machine]) -> BadInput:
    """Return the error about a design of another machine than the allowed ones.

    Args:
        design: the design.
        where: opens the message.
        allowed: machines.
    """
    names = " or ".join(repr(each.name) for each in allowed)
    said = machine_of(design).name
    return BadInput(f"{where}: architecture = {said!r}: allowed here is {names}")


def of_kind(kind: type[Kind], design: Design, where: str) -> Kind:
    """Return the design, for code that supports one machine only; ``where`` opens the message.

    Raises:
        BadInput: it is a design of another machine.
    """
    if not isinstance(design, kind):
        raise of_other(design, where, (each for each in machines() if each.design is kind))
    return design


def architecture_key() -> WordKey:
    """Return the key of [design.<name>] that names the machine."""
    others = {each.name for each in runners()}
    allowed = tuple(name for name in names() if name not in others)
    return WordKey(
        key="architecture",
        says="machine of the design",
        allowed=allowed,
        default=allowed[0],
        aliases={name.replace("-", "_"): name for name in allowed if "-" in name},
    )


def read_design(section: Section, name: str, users: Users) -> Design:
    """Read one [design.<name>], of any machine.

    Raises:
        BadInput: no layer uses the design, or its machine cannot be loaded. Or the machine does not
            support the format or an activation, or its reader refuses the table.
    """
    if not users.layers:
        raise BadInput(f"{section.file}: design {name}: no layer uses it")
    asked = architecture_key().read(section)
    machine = machine_named(asked)
    if not isinstance(users.numbers, machine.numbers):
        others = [each.name for each in machines() if isinstance(users.numbers, each.numbers)]
        raise BadInput(
            f"{section.file}: design {name}: architecture = {asked!r}: the network's format "
            f"asks for one of {', '.join(others)}"
        )
    for layer, use in users.layers.items():
        check_activation(machine, use.shape, f"{section.file}: layer {layer}")
    try:
        return machine.read(section, name, users)
    except BadInput:
        raise
    except Exception as error:
        brought_by = distribution_of(machine.name)
        if brought_by == OURS:  # a defect of merp
            raise
        reason = f"{type(error).__name__}: {error}"
        where = f"{section.file}: design {name}: {brought_by}: machine {machine.name}"
        raise BadInput(f"{where}: its reader failed: {reason}") from error
