"""The record of the bus for a list that was played."""

from __future__ import annotations

from merp.cosim.board.bus import Bus, Direction
from merp.cosim.board.bus_ways import Crossing, list_ways
from merp.cosim.board.lists import PlacedList
from merp.models.memory.bus_record import BusRecord, DirectionRecord, MemoryFacts


def list_record(bus: Bus, placed: PlacedList, memories: tuple[MemoryFacts, ...]) -> BusRecord:
    """Return the record of a list on these memories.

    All counts are those of the bus. Only the split of its bytes is by formula: bytes of elements
    and padding; the other bytes are those of partial beats.
    """
    ways = list_ways(placed)
    return BusRecord(
        lists=1,
        cycles=bus.cycles,
        window=bus.window,
        read=_direction(bus.read, ways.read),
        write=_direction(bus.write, ways.write),
        memories=memories,
    )


def _direction(counted: Direction, formula: Crossing) -> DirectionRecord:
    return DirectionRecord(
        useful=formula.ports,
        padding=formula.padding,
        partial=counted.bytes - formula.ports - formula.padding,
        beats=counted.beats,
        bursts=counted.bursts,
        row_hits=counted.row_hits,
        row_misses=counted.row_misses,
        latency=counted.latency,
        windows=counted.windows,
    )
