"""Traffic of passes on the memory bus by closed form, with the wasted bytes by their cause."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from merp.cosim.board.lists import BoardPass, PlacedList
from merp.models.memory.bus_traffic import BusTraffic, bus_traffic
from merp.models.memory.params.memory_port import BYTE
from merp.models.memory.params.mover import Mover
from merp.models.memory.params.subsystem import LIST, RECORDS


@dataclass(frozen=True)
class Crossing:
    """Traffic of a port in one direction, with the bytes that are no elements by their cause.

    Attributes:
        ports: bytes of elements, as on the pins of the port.
        padding: unused bits of words and free places of a last word, in bytes.
        partial: bytes of beats outside the words. Only reads have them: strobes keep writes to the
            bytes of words.
        beats: beats on the bus.
        bursts: bursts on the bus.
    """

    ports: int = 0
    padding: int = 0
    partial: int = 0
    beats: int = 0
    bursts: int = 0

    @property
    def bus(self) -> int:
        """Bytes on the bus: of all beats in reads, with a strobe in writes."""
        return self.ports + self.padding + self.partial

    def __add__(self, other: Crossing) -> Crossing:
        """Return the traffic of both."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Crossing(*(one + another for one, another in pairs))


@dataclass(frozen=True)
class Ways:
    """Traffic of both directions."""

    read: Crossing = Crossing()
    write: Crossing = Crossing()

    @property
    def both(self) -> Crossing:
        """The sum."""
        return self.read + self.write

    def __add__(self, other: Ways) -> Ways:
        """Return the traffic of both."""
        return Ways(self.read + other.read, self.write + other.write)


def commands_ways(placed: PlacedList) -> Ways:
    """Return the traffic of the words of a list, which the command processor reads."""
    fetched = bus_traffic(placed.fetched, _movers(placed)[LIST])
    return Ways(read=_crossing(fetched, fetched.useful, reads=True))


def records_ways(placed: PlacedList) -> Ways:
    """Return the traffic of the records of a list, which the command processor writes."""
    recorded = bus_traffic(placed.records, _movers(placed)[RECORDS])
    return Ways(write=_crossing(recorded, recorded.useful, reads=False))


def list_ways(placed: PlacedList) -> Ways:
    """Return the traffic of a list: passes, commands and records."""
    passes = map(pass_ways, placed.passes)
    return sum(passes, commands_ways(placed) + records_ways(placed))


def _movers(placed: PlacedList) -> dict[str, Mover]:
    interface = placed.system.design.interface
    return dict((*interface.readers, *interface.writers))


def pass_ways(each: BoardPass) -> Ways:
    """Return the traffic of the ports of an engine in a pass."""
    found = Ways()
    for pin in each.engine.ports.streams:
        if pin.name in each.moves:
            # As for masks, bits become bytes once for the elements of a pass.
            size = -(-each.moves[pin.name].elements * pin.element // BYTE)
            reads = pin in each.engine.ports.inputs
            moved = _crossing(each.traffic(pin.name), size, reads=reads)
            found += Ways(read=moved) if reads else Ways(write=moved)
    return found


def _crossing(traffic: BusTraffic, size: int, *, reads: bool) -> Crossing:
    """Return the traffic of elements of ``size`` bytes."""
    return Crossing(
        size,
        traffic.useful - size,
        traffic.wasted if reads else 0,
        traffic.beats,
        sum(traffic.bursts.values()),
    )
