"""Find bits that a module never reads, which a linter reports. Private to ``merp.hdl.conversion``.

A vector may have bits that one configuration does not need. Examples are the address bits of a bus
below a word, and the bits that a shift has moved out. They are declared, because the vector is one
word in the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from merp.hdl.conversion._analyse import Body, Instance
from merp.hdl.conversion._signals import span
from merp.hdl.conversion.base.internals import SliceSignal, name_of, signals_in
from merp.hdl.conversion.process import bits
from merp.hdl.conversion.process.meaning import Table, Variable
from merp.hdl.conversion.process.process import Process

_ALL = -1  # a mask with every bit


class _Reads:
    """The bits that are read, by ``id`` of the signal, list or variable."""

    def __init__(self) -> None:
        self.masks: dict[int, int] = {}

    def add(self, what: Any, mask: int = _ALL) -> None:
        """Note bits that are read."""
        self.masks[id(what)] = self.masks.get(id(what), 0) | mask

    def signal(self, signal: Any) -> None:
        """Note a signal that is read as a whole; for a slice, note its bits of the base signal."""
        if isinstance(signal, SliceSignal) and name_of(signal) is None:
            base, high, low = span(signal)
            self.add(base, 1 << high if low is None else _mask(low, high - low + 1))
        else:
            self.add(signal)

    def node(self, node: Any) -> None:
        """Note the bits that a part of a statement reads."""
        if isinstance(node, bits.Part):
            self.add(node.place.what, _mask(node.low, node.width))
            self.node(node.place.index)
        elif isinstance(node, bits.At):
            known = isinstance(node.index, int)
            self.add(node.place.what, 1 << node.index if known else _ALL)  # type: ignore[operator]
            self.node((node.index, node.place.index))
        elif isinstance(node, bits.Target):
            self.node((node.index, node.place.index))
        elif isinstance(node, bits.Place):
            self.add(node.what)
            self.node(node.index)
        elif isinstance(node, tuple | list):
            for each in node:
                self.node(each)
        elif not isinstance(node, Table | Variable) and hasattr(node, "__dataclass_fields__"):
            for name in node.__dataclass_fields__:
                self.node(getattr(node, name))


def note_spare(body: Body, variables: Mapping[Variable, str]) -> None:
    """Note the inputs, signals, lists and variables of a module with bits that nothing reads.

    Args:
        body: contents of the module; modules inside have been noted.
        variables: the names of variables that its processes declare.
    """
    reads = _read(body)
    body.spare = tuple(dict.fromkeys(_spare(body, variables, reads)))
    body.unread = frozenset(
        port.argument
        for port in body.ports
        if not port.is_output and id(port.signal) not in reads.masks
    )


def _read(body: Body) -> _Reads:
    reads = _Reads()
    for item in body.items:
        if isinstance(item, Process):
            _process(item, reads)
        elif isinstance(item, Instance):
            for port in item.entity.body.ports:
                if not port.is_output and port.argument not in item.entity.body.unread:
                    reads.signal(item.actuals[port.argument])
    for shadow in body.shadows:
        if isinstance(shadow, SliceSignal):
            base, high, low = span(shadow)
            reads.add(base, 1 << high if low is None else _mask(low, high - low + 1))
        else:
            for part in signals_in(shadow):
                reads.signal(part)
    for memory in body.memories:
        for element in memory.mem:
            if id(element) in reads.masks:
                reads.add(memory)
    return reads


def _spare(body: Body, variables: Mapping[Variable, str], reads: _Reads) -> Iterator[str]:
    declared = {str(name_of(port.signal)): port.signal for port in body.ports if not port.is_output}
    declared |= {str(name_of(signal)): signal for signal in body.signals}
    for name, signal in declared.items():
        if not _covers(reads.masks.get(id(signal), 0), len(signal) or 1):
            yield name
    for memory in body.memories:
        if not _covers(reads.masks.get(id(memory), 0), len(memory.mem[0]) or 1):
            yield str(memory.name)
    for variable, name in variables.items():
        width = 1 if variable.range is None or variable.is_bool else variable.range.width
        if not _covers(reads.masks.get(id(variable), 0), width):
            yield name


def _process(process: Process, reads: _Reads) -> None:
    reads.node(process.sized.statements)
    for signal in (*process.listed, *(signal for signal, _ in process.edges)):
        reads.signal(signal)
    if process.reset is not None:
        reads.signal(process.reset[0])


def _mask(low: int, width: int) -> int:
    return ((1 << width) - 1) << low


def _covers(mask: int, width: int) -> bool:
    whole = _mask(0, width)
    return mask & whole == whole
