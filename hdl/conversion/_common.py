"""Separate the common part of several forms of an entity from the rest of each form.

Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from merp.hdl.conversion._shapes import array_shape, declared_shape, item_shape
from merp.hdl.conversion._vhdl_text import Declared, Item, Module, SignalArray


def parted(modules: Sequence[Module]) -> tuple[list[Module], list[Module]]:
    """Split each module into the part with a common shape, and the rest, without ports.

    A statement is common if all its names have the same meaning in all modules.
    """
    declared = _in_all([{declared_shape(each) for each in m.declared} for m in modules])
    arrays = _in_all([{array_shape(each) for each in m.arrays} for m in modules])
    local = {
        each.name
        for module in modules
        for shape, each in _declarations(module)
        if shape not in declared and shape not in arrays
    }
    counts = [Counter(item_shape(item) for item in module.items) for module in modules]
    shared = counts[0]
    for each in counts[1:]:
        shared = shared & each
    order = [
        shape
        for shape in dict.fromkeys(item_shape(item) for item in modules[0].items)
        if shape in shared and not _names(shape) & local
    ]
    commons, rests = [], []
    for module in modules:
        rest = list(module.items)
        items: list[Item] = []
        for shape in order:
            for _ in range(shared[shape]):
                at = next(k for k, item in enumerate(rest) if item_shape(item) == shape)
                items.append(rest.pop(at))
        own = {declared_shape(each): each for each in module.declared}
        wide = {array_shape(each): each for each in module.arrays}
        first = modules[0]
        kept = [own[declared_shape(d)] for d in first.declared if declared_shape(d) in declared]
        broad = [wide[array_shape(a)] for a in first.arrays if array_shape(a) in arrays]
        commons.append(replace(module, declared=kept, items=items, arrays=broad))
        left = [each for shape, each in own.items() if shape not in declared]
        spare = [each for shape, each in wide.items() if shape not in arrays]
        rests.append(replace(module, ports=[], declared=left, items=rest, arrays=spare))
    return commons, rests


def _in_all(sets: Iterable[set[Hashable]]) -> set[Hashable]:
    first, *others = sets
    return first.intersection(*others)


def _declarations(module: Module) -> list[tuple[Hashable, Declared | SignalArray]]:
    return [
        *((declared_shape(each), each) for each in module.declared),
        *((array_shape(each), each) for each in module.arrays),
    ]


def _names(shape: Hashable) -> set[str]:
    """Return every word in the shape of a statement."""
    if isinstance(shape, str):
        return {shape}
    if isinstance(shape, tuple):
        return {name for each in shape for name in _names(each)}
    return set()
