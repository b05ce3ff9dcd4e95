"""Memory behind one reader: beats in the order of the requests, with latency, gaps and errors."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

OKAY, SLVERR, DECERR = 0, 2, 3


@dataclass
class ReadMemory:
    """Answer requests for bursts.

    Attributes:
        data: returns the beat at an address, in beats.
        rng: source of latencies and gaps.
        latency: longest time from a request to its first beat, in cycles; at least 1.
        rate: share of the cycles that carry a beat while a burst is due.
        errors: response of the beats at these addresses, in place of OKAY.
    """

    data: Callable[[int], int]
    rng: Random
    latency: int = 1
    rate: float = 1.0
    errors: Mapping[int, int] | None = None

    def __post_init__(self) -> None:
        """Begin without requests."""
        self.due: deque[tuple[int, int, int]] = deque()  # cycle, address, last
        self.asked: list[tuple[int, int]] = []

    def request(self, cycle: int, address: int, length: int) -> None:
        """Take a request of ``length`` + 1 beats."""
        self.asked.append((address, length))
        begin = cycle + self.rng.randint(1, self.latency)
        for beat in range(length + 1):
            self.due.append((begin, address + beat, int(beat == length)))

    def beat(self, cycle: int) -> dict[str, int]:
        """Return the fields of the beat of a cycle; ``valid`` is 0 if there is none."""
        if not self.due or self.due[0][0] > cycle or self.rng.random() >= self.rate:
            return {"valid": 0}
        _, address, last = self.due.popleft()
        resp = (self.errors or {}).get(address, OKAY)
        return {"valid": 1, "data": self.data(address), "last": last, "resp": resp}
