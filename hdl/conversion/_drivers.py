"""Find the elements of a list of signals that each process drives.

In VHDL a process has a driver of every element of a list that it assigns at a variable index.
Therefore two processes that share a list must assign elements at constant indices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.process import meaning as m
from merp.hdl.conversion.process.process import Process

Read = Callable[[Collection[int]], Process]
"""Read a process; the argument has the lists, by ``id``, that other processes drive too."""


def read_apart(where: str, reads: Mapping[int, Read]) -> dict[int, Process]:
    """Read the processes of a block, so that no two of them drive one element of a list.

    Args:
        where: name of the block.
        reads: one for each process, by its place.

    Raises:
        ExportError: two processes drive the same element, or a signal selects the element.
    """
    found = {place: read(()) for place, read in reads.items()}
    counts = Counter(each for process in found.values() for each in process.meaning.memories_driven)
    shared = {each for each, count in counts.items() if count > 1}
    if not shared:
        return found
    for place, read in reads.items():
        if shared & found[place].meaning.memories_driven.keys():
            found[place] = read(shared)
    owners: dict[tuple[int, int], Process] = {}
    for process in found.values():
        for memory, index in _driven(process):
            if id(memory) not in shared:
                continue
            owner = owners.setdefault((id(memory), index), process)
            if owner is not process:
                what = f"{where}: {process.origin}: processes {owner.name} and {process.name}"
                raise ExportError(f"{what} drive element {index} of one list")
    return found


def _driven(process: Process) -> Iterator[tuple[Any, int]]:
    """Yield the elements that a process assigns at constant indices or resets."""
    for each in _assignments(process.meaning.statements):
        base = each.target.base
        if isinstance(base, m.Element) and isinstance(base.index, m.Const):
            yield base.memory, base.index.value
    registers = {id(signal) for signal in process.reset[1]} if process.reset else set()
    for memory in process.meaning.memories_driven.values():
        for index, signal in enumerate(memory.mem):
            if id(signal) in registers:
                yield memory, index


def _assignments(statements: Sequence[m.Statement]) -> Iterator[m.Assign]:
    for each in statements:
        if isinstance(each, m.Assign):
            yield each
        for body in m.bodies_of(each):
            yield from _assignments(body)
