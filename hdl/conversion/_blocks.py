"""Find the blocks of one entity, and the names of the objects in their variables.

Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from merp.hdl.conversion._elaborate import ElaboratedUnit
from merp.hdl.conversion.base.internals import AnySignal, Block
from merp.hdl.conversion.entity import Stub, is_entity
from merp.hdl.conversion.ports import is_bundle


def walk(block: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all blocks that are flattened into one entity, with the prefix of their names."""
    yield prefix, block
    for sub in block.subs:
        if isinstance(sub, Block) and not is_entity(sub):
            yield from walk(sub, f"{prefix}{sub.name}_")


def stub_blocks(unit: ElaboratedUnit) -> Iterator[Any]:
    """Yield the stubs of the entities inside, in source order."""
    for _, block in walk(unit.block):
        for sub in block.subs:
            if isinstance(sub, Stub):
                yield sub


def parts(name: str, value: Any, lists: Container[int] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the signals in a variable, each named by its path.

    ``lists`` has the ``id`` of each list to skip, because processes use it as a memory.
    """
    if isinstance(value, AnySignal):
        yield name, value
    elif isinstance(value, list | tuple) and id(value) not in lists:
        for i, item in enumerate(value):
            yield from parts(f"{name}_{i}", item, lists)
    elif is_bundle(value):
        for field_name, item in vars(value).items():
            yield from parts(f"{name}_{field_name}", item, lists)


def used_signals(block: Any) -> set[int]:
    """Return the signals that the processes of a block read or drive, by ``id``."""
    return {
        id(sig) for sub in block.subs if not isinstance(sub, Block) for sig in sub.sigdict.values()
    }


def name_blocks(unit: ElaboratedUnit) -> None:
    """Name each sub-block after the variable (or list element) that holds it."""
    for _, block in walk(unit.block):
        subs = {id(sub): sub for sub in block.subs if isinstance(sub, Block)}
        found: dict[int, str] = {}

        def look(
            name: str, value: Any, subs: dict[int, Any] = subs, found: dict[int, str] = found
        ) -> None:
            if isinstance(value, list | tuple):
                for i, item in enumerate(value):
                    look(f"{name}_{i}", item)
            elif id(value) in subs:
                found.setdefault(id(value), name)

        scope = unit.scopes.get(id(block), {})
        for wanted in (list | tuple, Block):  # the list, not the loop variable, names its element
            for name, value in scope.items():
                if isinstance(value, wanted):
                    look(name, value)
        taken: set[str] = set()
        for key, sub in subs.items():
            base = name = found.get(key, sub.func.__name__.strip("_"))
            number = 1
            while name in taken:
                name, number = f"{base}_{number}", number + 1
            taken.add(name)
            sub.name = name
