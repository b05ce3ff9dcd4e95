"""Source, sink and monitor of a stream, one clock cycle at a time, whatever simulates it.

A source and a sink *drive*: they put the values that a pin takes in cycle t into ``changes``. A
monitor *samples*: it sees the pins just before the edge that ends cycle t, and nothing else, so
that what it counts is what an observer with a probe would count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Changes = dict[str, int]
Read = Callable[[], int]


@dataclass(frozen=True)
class StreamPins:
    """How to read the pins of a stream."""

    data: Read
    valid: Read
    ready: Read
    last: Read


class Source:
    """Presents ``words`` in order, ``tlast`` with the last, and holds each until it is taken."""

    def __init__(self, name: str, words: Sequence[int], pattern: Sequence[int]) -> None:
        self._data, self._valid, self._last = (f"{name}_{f}" for f in ("tdata", "tvalid", "tlast"))
        self._words = words
        self._pattern = pattern
        self._next = 0
        self._held = False
        self._released = False

    def drive(self, t: int, changes: Changes) -> None:
        """Present the next word in cycle ``t`` if none is held and the pattern allows it."""
        if self._held:
            return
        if self._next < len(self._words) and self._pattern[t % len(self._pattern)]:
            changes[self._data] = self._words[self._next]
            changes[self._valid] = 1
            self._next += 1
            changes[self._last] = int(self._next == len(self._words))
            self._held = True
        elif self._released:
            changes[self._valid] = changes[self._last] = 0
        self._released = False

    def taken(self) -> None:
        """The held word was transferred at this edge."""
        self._held = False
        self._released = True


class Sink:
    """Is ready in cycle t iff ``pattern[t mod len]``."""

    def __init__(self, name: str, pattern: Sequence[int]) -> None:
        self._ready = f"{name}_tready"
        self._pattern = pattern
        self._was: int | None = None

    def drive(self, t: int, changes: Changes) -> None:
        """Set ready for cycle ``t``."""
        ready = self._pattern[t % len(self._pattern)]
        if ready != self._was:
            changes[self._ready] = self._was = ready


class Monitor:
    """Counts transfers on the pins and checks the rules of a stream.

    Attributes:
        name: the stream's name.
        count: transfers so far. first, last: cycles of the first and last one, or -1.
        words: the words, where the stream is kept.
        faults: broken rules, each with the first cycle in which it was broken.
    """

    def __init__(self, name: str, pins: StreamPins, supply: int | None) -> None:
        """Watch ``pins``; ``supply`` is how many words a source has, None at an output."""
        self.name = name
        self.count = 0
        self.first = self.last = -1
        self.words: list[int] = []
        self.faults: list[str] = []
        self._seen: set[str] = set()
        self._pins = pins
        self._supply = supply
        self._waiting: tuple[int, int] | None = None
        self._lasts = 0
        self._ended = False

    def sample(self, t: int) -> bool:
        """Look at the pins just before the edge that ends cycle ``t``; True on a transfer."""
        pins = self._pins
        valid, ready = pins.valid(), pins.ready()
        if ready and self.count == self._supply:
            self._fault(f"ready after all {self._supply} words were taken", t)
        if not valid:
            if self._waiting is not None:
                self._fault("valid fell before the transfer", t)
                self._waiting = None
            return False
        word, last = int(pins.data()), int(pins.last())
        if self._waiting is not None and self._waiting != (word, last):
            self._fault("data or last changed before the transfer", t)
        if not ready:
            self._waiting = (word, last)
            return False
        self._waiting = None
        if self.count == 0:
            self.first = t
        self.last = t
        self.count += 1
        self._lasts += last
        self._ended = last == 1
        if self._supply is None:
            self.words.append(word)
        return True

    @property
    def valid(self) -> int:
        """The valid pin now."""
        return int(self._pins.valid())

    @property
    def ready(self) -> int:
        """The ready pin now."""
        return int(self._pins.ready())

    def after_done(self, t: int) -> None:
        """A transfer in cycle ``t``, after the run was done."""
        self._fault("word after done", t)

    def finish(self) -> None:
        """Check what can only be known at the end of the run."""
        if self._supply is not None:
            if self.count != self._supply:
                left = self._supply - self.count
                self.faults.append(f"{self.name}: {left} of {self._supply} words were not taken")
        elif self.count and (self._lasts != 1 or not self._ended):
            self.faults.append(f"{self.name}: last must come once, with the final word")

    def _fault(self, text: str, t: int) -> None:
        if text not in self._seen:
            self._seen.add(text)
            self.faults.append(f"{self.name}: {text} (cycle {t})")
