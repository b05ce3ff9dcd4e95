"""Unify configurations that lack inputs of others; these inputs stay open.

An input of a configuration may have been removed because it drives nothing, or it may always have
been a number. In the common entity it has a default, and instances of that configuration do not
connect it. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from merp.hdl.conversion._numbers import number
from merp.hdl.conversion._rollup import identifiers
from merp.hdl.conversion._vhdl_text import Module, Tokens, VhdlPort, Word

_Key = tuple[str, str, str, Hashable]


def alike(modules: Sequence[Module]) -> list[list[int]]:
    """Group the modules that can be one entity, by place.

    Their ports have the same names, directions and order. Some may lack inputs of others if the
    names of these inputs have no other meaning in them.
    """
    groups: dict[tuple[_Key, ...], list[int]] = {}
    for place in sorted(range(len(modules)), key=lambda place: -len(modules[place].ports)):
        own = tuple(_key(port) for port in modules[place].ports)
        most = next((each for each in groups if _fits(modules[place], own, each)), own)
        groups.setdefault(most, []).append(place)
    return sorted(sorted(group) for group in groups.values())


def completed(modules: Sequence[Module]) -> tuple[list[Module], list[frozenset[str]]]:
    """Return compatible modules with the ports of all, and the names that each lacks."""
    most = max(modules, key=lambda module: len(module.ports))
    lacking = [
        frozenset(p.name for p in most.ports) - {p.name for p in module.ports} for module in modules
    ]
    spare = frozenset().union(*lacking)
    done = []
    for module in modules:
        own = {port.name: port for port in module.ports}
        ports = [own.get(port.name, port) for port in most.ports]
        done.append(
            replace(module, ports=[_with_default(p) if p.name in spare else p for p in ports])
        )
    return done, lacking


def _key(port: VhdlPort) -> _Key:
    kinds = {"std_logic": "unsigned"}
    kind = kinds.get(port.type.name, port.type.name)
    return port.name, port.direction, kind, _fixed(port.initial)


def _fixed(initial: Tokens) -> Hashable:
    """Return the part of an initial value that no generic replaces: a one, or a signed vector."""
    numbers = any(isinstance(each, Word) for each in initial) or initial in ((), ("'0'",))
    return None if numbers else initial


def _fits(module: Module, own: Sequence[_Key], most: Sequence[_Key]) -> bool:
    """Return whether a module lacks only inputs of ``most``, under names that are free in it."""
    rest = [each for each in most if each in own]
    spare = [each for each in most if each not in own]
    taken = identifiers(module) if spare else set()
    return rest == list(own) and all(
        direction == "in" and name.lower() not in taken for name, direction, *_ in spare
    )


def _with_default(port: VhdlPort) -> VhdlPort:
    zero: Tokens = ("'0'",) if port.type.width is None else (Word(number(0), port.type.width),)
    return replace(port, initial=zero)
