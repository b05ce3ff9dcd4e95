"""What is wired to what in an exported design, read from its VHDL.

The containers named by the caller are opened; every other entity inside them is a box. Wires are
followed through the port maps of the containers, which hold little but instances.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

_STREAM = re.compile(r"([sm]_axis_[a-z]+|[sm]_axi)_")
_PORT = re.compile(r"^ +(\w+) +: (in|out|inout) +\w+(?:\((\d+) downto 0\))?", re.MULTILINE)
_INSTANCE = re.compile(r"^ +(\w+) : entity work\.(\w+)\n +port map \((.*?)\);", re.M | re.S)
_CONVERSIONS = re.compile(r"\b(?:std_logic_vector|unsigned|signed|resize)\b")
_COPY = re.compile(r"^ +(\w+) <= std_logic_vector\((\w+)\);", re.MULTILINE)
"""An output, and the vector of numbers that it is a copy of."""


@dataclass(frozen=True)
class Wire:
    """Ports that one box drives and another one reads.

    Attributes:
        source: an entity, or a stream of the design.
        target: likewise.
        names: the ports as the source calls them, those of streams as the design does; the
            widest first.
        bits: of all of them.
    """

    source: str
    target: str
    names: tuple[str, ...]
    bits: int


@dataclass(frozen=True)
class _End:
    """A port of a box at a net."""

    box: str
    name: str
    width: int


def ports(vhdl: str) -> Iterator[tuple[str, str, int]]:
    """Name, direction and width of each port of the entity in a file."""
    interface = vhdl[vhdl.index("\nentity ") : vhdl.index("\nend entity ")]
    for name, direction, high in _PORT.findall(interface):
        yield name, direction, int(high) + 1 if high else 1


def wires(
    texts: Mapping[str, str], top: str, opened: Callable[[str], bool], left_out: re.Pattern[str]
) -> list[Wire]:
    """All wires between the boxes of ``top``, whose name does not match ``left_out``.

    Args:
        texts: the VHDL of each entity.
        top: the entity that is opened first.
        opened: which other entities are containers.
        left_out: names of ports that go everywhere: clocks, resets, settings.
    """
    drives: dict[str, _End] = {}
    reads: dict[str, list[_End]] = {}
    copied = dict(_COPY.findall(texts[top]))
    for name, direction, width in ports(texts[top]):
        stream = _STREAM.match(name)
        end = _End(stream[1] if stream else name, name, width)
        if direction == "in":
            drives[name] = end
        else:
            reads.setdefault(copied.get(name, name), []).append(end)
    _follow(texts, top, {}, opened, drives, reads)
    found: dict[tuple[str, str], list[_End]] = {}
    for net, ends in reads.items():
        driver = drives.get(net)
        for end in ends:
            if driver is None or driver.box == end.box:
                continue
            if left_out.match(driver.name) or left_out.match(end.name):
                continue
            named = end if end.name.startswith(end.box) else driver
            found.setdefault((driver.box, end.box), []).append(named)
    return [
        _wire(source, target, {end.name: end.width for end in ends})
        for (source, target), ends in found.items()
    ]


def _wire(source: str, target: str, widths: Mapping[str, int]) -> Wire:
    names = sorted(widths, key=lambda name: -widths[name])
    return Wire(source, target, tuple(names), sum(widths.values()))


def _follow(
    texts: Mapping[str, str],
    entity: str,
    outer: Mapping[str, str],
    opened: Callable[[str], bool],
    drives: dict[str, _End],
    reads: dict[str, list[_End]],
) -> None:
    """Note what the boxes inside ``entity`` drive and read; ``outer`` are its ports' nets."""
    for _, inner, actuals in _INSTANCE.findall(texts[entity]):
        nets = {}
        for mapped in actuals.split(",\n"):
            formal, *name = re.findall(r"\b[a-z]\w*", _CONVERSIONS.sub("", mapped))
            if name:
                nets[formal] = outer.get(name[0], name[0] if not outer else f"{entity}.{name[0]}")
        if opened(inner):
            _follow(texts, inner, nets, opened, drives, reads)
            continue
        for name, direction, width in ports(texts[inner]):
            if name not in nets:
                continue
            end = _End(inner, name, width)
            if direction == "out":
                drives[nets[name]] = end
            else:
                reads.setdefault(nets[name], []).append(end)
