"""Make an output a wire if it is a register in one configuration and a wire in another.

VHDL has no such difference. A configuration that stores the output gets a separate register, which
drives the wire. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from merp.hdl.conversion._expand import EntityParts
from merp.hdl.conversion._rollup import free, identifiers
from merp.hdl.conversion._vhdl_text import Declared, Item, Leaf, Module, Tokens, Type

Renamed = Mapping[str, str]
"""The output of each register, by the register's name."""


def as_wires(modules: Sequence[Module]) -> tuple[list[Module], list[Renamed]]:
    """Return the modules with wires for outputs that are not registers in all; and registers."""
    kinds = {(port.name, port.type.name) for module in modules for port in module.ports}
    mixed = {
        name
        for name, kind in kinds
        if kind.startswith("reg") and (name, kind.replace("reg", "wire")) in kinds
    }
    taken = set().union(*(identifiers(module) for module in modules)) if mixed else set()
    registers = {name: free(f"{name}_register", taken) for name in sorted(mixed)}
    found: list[Module] = []
    renamed: list[Renamed] = []
    for module in modules:
        own = {
            port.name: registers[port.name]
            for port in module.ports
            if port.name in registers and port.type.name.startswith("reg")
        }
        found.append(_with_wires(module, own) if own else module)
        renamed.append({register: name for name, register in own.items()})
    return found, renamed


def _with_wires(module: Module, own: Mapping[str, str]) -> Module:
    ports, declared = [], list(module.declared)
    for port in module.ports:
        if port.name in own:
            declared.append(Declared(own[port.name], port.type, ()))
            port = replace(port, type=Type(port.type.name.replace("reg", "wire"), port.type.width))
        ports.append(port)
    items: list[Item] = [
        replace(each, tokens=_named(each.tokens, own)) if isinstance(each, Leaf) else each
        for each in module.items
    ]
    items += [
        Leaf(None, "assign", ("assign", " ", name, " ", "=", " ", register, ";"))
        for name, register in own.items()
    ]
    return replace(module, ports=ports, declared=declared, items=items)


def _named(tokens: Tokens, own: Mapping[str, str]) -> Tokens:
    return tuple(
        own.get(token, token) if isinstance(token, str) and tokens[at - 1] != "." else token
        for at, token in enumerate(tokens)
    )


def restored(parts: EntityParts, renamed: Renamed) -> EntityParts:
    """Return an expanded module in which the outputs are registers again."""
    outputs = set(renamed.values())
    ports: list[str] = []
    for at, token in enumerate(parts.ports):
        name = next(
            parts.ports[k - 1] for k in range(at, len(parts.ports)) if parts.ports[k] == ";"
        )
        ports.append("reg" if token == "wire" and name in outputs else token)
    links = [["assign", name, "=", register, ";"] for register, name in renamed.items()]
    statements = list(parts.statements)
    for link in links:
        statements.remove(link)
    return EntityParts(
        ports,
        [each for each in parts.declared if not set(each) & set(renamed)],
        [[renamed.get(token, token) for token in each] for each in statements],
    )
