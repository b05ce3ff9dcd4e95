"""Golden model of the bursts that carry runs on a port of AXI4."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from merp.models.memory.params.mover import Mover
from merp.models.memory.walk import Run


@dataclass(frozen=True)
class Burst:
    """A burst of type INCR.

    Attributes:
        address: address of the first beat, in beats.
        beats: 1 to the longest burst of the port.
        first: lane of the first word, in the first beat.
        final: lane of the last word, in the last beat.
        last: it is the last burst of a walk.
    """

    address: int
    beats: int
    first: int
    final: int
    last: bool = False

    def words(self, lanes: int) -> int:
        """Return the number of its words, with ``lanes`` words to a beat."""
        return self.beats * lanes - self.first - (lanes - 1 - self.final)


def bursts_of(runs: Iterable[Run], mover: Mover) -> Iterator[Burst]:
    """Yield the bursts of runs. Each stays within a block of ``burst_beats`` beats."""
    listed = list(runs)
    lanes, most = mover.lanes, mover.port.burst_beats
    for number, run in enumerate(listed):
        place, end = run.address, run.address + run.words
        while place < end:
            beat = place // lanes
            block_end = (beat // most + 1) * most * lanes
            stop = min(end, block_end)
            beats = (stop - 1) // lanes - beat + 1
            last = number == len(listed) - 1 and stop == end
            yield Burst(beat, beats, place % lanes, (stop - 1) % lanes, last)
            place = stop
