"""Traffic of a walk on the memory bus, by formula.

Useful bytes are those of the stream's words. A read moves whole beats, so a run that begins or ends
within a beat wastes bytes. A write marks its bytes with strobes: it moves the useful ones, in as
many beats. A word with padding occupies its padding as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd

from merp.models.memory.params.mover import Mover
from merp.models.memory.walk import Walk


@dataclass(frozen=True)
class BusTraffic:
    """Traffic in one direction.

    Attributes:
        useful: bytes of words.
        beats: beats on the bus.
        wasted: bytes of these beats that are no words of the walk.
        bursts: number of bursts by their length in beats.
    """

    useful: int = 0
    beats: int = 0
    wasted: int = 0
    bursts: Mapping[int, int] = field(default_factory=dict)

    def __add__(self, other: BusTraffic) -> BusTraffic:
        """Return the traffic of both."""
        return BusTraffic(
            self.useful + other.useful,
            self.beats + other.beats,
            self.wasted + other.wasted,
            dict(Counter(self.bursts) + Counter(other.bursts)),
        )


def bus_traffic(walk: Walk, mover: Mover) -> BusTraffic:
    """Return the traffic of a walk.

    A run's bursts depend on the place of its first word in a block of ``burst_beats`` beats. The
    formula counts the runs with each place, without a look at every run.
    """
    port, lanes = mover.port, mover.lanes
    block = port.burst_beats * lanes
    beats, bursts = 0, Counter[int]()
    for place, runs in _places(walk, block).items():
        lengths = _bursts(place, walk.words, lanes, port.burst_beats)
        beats += runs * sum(length * number for length, number in lengths.items())
        for length, number in lengths.items():
            bursts[length] += runs * number
    useful = walk.total * mover.word_bytes
    return BusTraffic(useful, beats, beats * port.beat_bytes - useful, dict(bursts))


def _places(walk: Walk, block: int) -> Counter[int]:
    """Return the number of runs by the place of their first word in a block."""
    places = Counter({walk.base % block: 1})
    for dimension in walk.dimensions:
        stride = dimension.stride % block
        period = block // gcd(stride, block) if stride else 1
        whole, rest = divmod(dimension.count, period)
        found = Counter[int]()
        for place, runs in places.items():
            for step in range(min(period, dimension.count)):
                found[(place + step * stride) % block] += runs * (whole + (step < rest))
        places = found
    return places


def _bursts(place: int, words: int, lanes: int, most: int) -> Counter[int]:
    """Return the bursts of one run by their length."""
    first, last = place // lanes, (place + words - 1) // lanes
    if last < most:
        return Counter({last - first + 1: 1})
    blocks, tail = divmod(last + 1, most)
    lengths = Counter({most - first: 1})
    lengths[most] += blocks - 1
    lengths[tail] += bool(tail)
    return +lengths
