"""Remove inputs that drive nothing from folded modules and from their instances.

``_prune`` does the same in VHDL, by the same rule. An input is removed if no statement reads it, or
only an assignment whose result nothing reads. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from merp.hdl.conversion._expand import EntityParts
from merp.hdl.conversion._vhdl_text import Item, Leaf, Module, Token


@dataclass(frozen=True)
class Gone:
    """The removed parts of a module: inputs, and wires that nothing reads."""

    inputs: frozenset[str]
    wires: frozenset[str]


def words(rows: Iterable[Sequence[Token]]) -> Counter[str]:
    """Count each name in statements, except for the formals of instances."""
    return Counter(
        token
        for tokens in rows
        for at, token in enumerate(tokens)
        if isinstance(token, str) and (at == 0 or tokens[at - 1] != ".")
    )


def pruned(module: Module, is_top: bool) -> tuple[Module, Gone]:
    """Return the module without parts that drive nothing; the ports of the top stay."""
    items: list[Item] = list(module.items)
    wires: set[str] = set()
    own = {each.name for each in module.declared if each.type is not None and not each.tokens}
    while True:
        used = words(_rows(module, items))
        dead = {
            str(item.tokens[2])
            for item in items
            if isinstance(item, Leaf) and item.kind == "assign" and used[str(item.tokens[2])] == 1
        } & own
        if not dead:
            break
        wires |= dead
        items = [
            item
            for item in items
            if not (isinstance(item, Leaf) and item.kind == "assign" and item.tokens[2] in dead)
        ]
    inputs = frozenset(
        port.name for port in module.ports if port.direction == "in" and not used[port.name]
    )
    gone = Gone(frozenset() if is_top else inputs, frozenset(wires))
    return (
        replace(
            module,
            ports=[port for port in module.ports if port.name not in gone.inputs],
            declared=[each for each in module.declared if each.name not in wires],
            items=items,
        ),
        gone,
    )


def _rows(module: Module, items: Iterable[Item]) -> Iterable[Sequence[Token]]:
    yield from (each.tokens for each in module.declared)
    yield from (item.tokens for item in items if isinstance(item, Leaf))


def without(parts: EntityParts, gone: Gone) -> EntityParts:
    """Return an expanded module without the wires that nothing reads.

    Raises:
        RuntimeError: a statement reads a removed wire.
    """
    kept = EntityParts(
        parts.ports,
        [each for each in parts.declared if each[-2] not in gone.wires],
        [each for each in parts.statements if each[0] != "assign" or each[1] not in gone.wires],
    )
    read = set(words([*kept.declared, *kept.statements])) & (gone.inputs | gone.wires)
    if read:
        raise RuntimeError(f"{sorted(read)} was left out")
    return kept
