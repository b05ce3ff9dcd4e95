"""Memory behind one writer: it keeps words, and answers with latency and errors."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from merp.testbenches.memory.read_memory import OKAY


@dataclass
class WriteMemory:
    """Take requests and beats, and check that they agree.

    Attributes:
        lanes: lanes of a beat.
        width: bits of a lane.
        rng: source of latencies.
        latency: longest time from the last beat of a burst to its response, in cycles; at least 1.
        errors: responses of the bursts that begin at these addresses, in place of OKAY. Such a
            burst writes nothing.
        words: the written words, by the address of the word.
    """

    lanes: int
    width: int
    rng: Random
    latency: int = 1
    errors: Mapping[int, int] | None = None
    words: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin without requests."""
        self.asked: list[tuple[int, int]] = []
        self.due: deque[tuple[int, int]] = deque()  # cycle, response
        self.bursts = 0
        self.beat = 0

    @property
    def beats_expected(self) -> bool:
        """Whether a requested burst has beats to come."""
        return self.bursts < len(self.asked)

    def request(self, address: int, length: int) -> None:
        """Take a request of ``length`` + 1 beats."""
        self.asked.append((address, length))

    def write(self, cycle: int, data: int, strobe: int, last: int) -> None:
        """Take the next beat of the oldest burst.

        Raises:
            AssertionError: the beat has no request, no strobe, or a last in the wrong place.
        """
        assert self.beats_expected, "a beat without a request"
        assert strobe, "a beat that writes nothing"
        address, length = self.asked[self.bursts]
        assert last == (self.beat == length), "last in the wrong place"
        resp = (self.errors or {}).get(address, OKAY)
        if resp == OKAY:
            size = self.width // 8
            for lane in range(self.lanes):
                marked = strobe >> lane * size & (1 << size) - 1
                assert marked in (0, (1 << size) - 1), "a part of a word"
                if marked:
                    place = (address + self.beat) * self.lanes + lane
                    self.words[place] = data >> lane * self.width & (1 << self.width) - 1
        self.beat += 1
        if last:
            self.beat = 0
            self.bursts += 1
            due = max(cycle + self.rng.randint(1, self.latency), self.due[-1][0] if self.due else 0)
            self.due.append((due, resp))

    def response(self, cycle: int) -> dict[str, int]:
        """Return the fields of the response of a cycle; ``valid`` is 0 if there is none."""
        if not self.due or self.due[0][0] > cycle:
            return {"valid": 0}
        return {"valid": 1, "resp": self.due.popleft()[1]}
