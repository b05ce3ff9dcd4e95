"""The lines about the memory bus of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def bus_lines(bus: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each memory, and for each direction; ``bus`` is ``BusRecord.answer``."""
    for memory in bus["memory"]:
        yield f"memory    {memory_said(memory)}"
    lists = f"{bus['lists']:,} {'list' if bus['lists'] == 1 else 'lists'}"
    yield f"bus       {lists}, {bus['cycles']:,} cycles; read {_said(bus['read'])}"
    yield f"          written {_said(bus['write'])}"


def memory_said(memory: Mapping[str, Any]) -> str:
    """Return a line about a memory; the argument is ``MemoryFacts.answer``."""
    size, clock = memory["bytes_per_cycle"], memory["clock_mhz"]
    return (
        f"{memory['module']}, {memory['data_bits']} bits, clock {clock} MHz: at most {size} bytes "
        f"per cycle, {size * clock / 1000:.1f} GB/s"
    )


def _said(way: Mapping[str, Any]) -> str:
    """Return the traffic in one direction in a few words."""
    wasted = 100 * (1 - way["useful"] / way["bytes"]) if way["bytes"] else 0.0
    hits = 100 * way["row_hits"] / way["beats"] if way["beats"] else 0.0
    waits = way["latency"]
    return (
        f"{way['bytes']:,} bytes ({wasted:.2f} % wasted) in {sum(way['bursts'].values()):,} "
        f"bursts, row hits {hits:.1f} %, latency {waits['least']:,} to {waits['most']:,}"
    )
