"""Source, sink and monitor of a stream, one clock cycle at a time, whatever simulates it.

A source and a sink *drive*: they put the values that a pin takes in cycle t into ``changes``. A
monitor *samples*: it sees the pins just before the edge that ends cycle t, and nothing else, so
that what it counts is what an observer with a probe would count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from merp.testbenches.top.top import Pin

Changes = dict[str, int]
Read = Callable[[], int]


@dataclass(frozen=True)
class StreamPins:
    """How to read the pins of a stream."""

    data: Read
    valid: Read
    ready: Read
    last: Read
    keep: Read | None = None

    @classmethod
    def of(cls, pin: Pin, read: Callable[[str], Read]) -> StreamPins:
        """Those of ``pin``, by a function that gives how to read a signal."""
        fields = ("tdata", "tvalid", "tready", "tlast", *(("tkeep",) if pin.keep else ()))
        return cls(*(read(f"{pin.name}_{field}") for field in fields))


def pack(pin: Pin, words: Sequence[int]) -> list[tuple[int, int]]:
    """Beats of a stream, each with what its ``tkeep`` says; the last is filled up with zeros."""
    lane_keep = (1 << pin.keep // pin.lanes) - 1
    found = []
    for at in range(0, len(words), pin.lanes):
        beat = words[at : at + pin.lanes]
        data = sum(word << (lane * pin.element) for lane, word in enumerate(beat))
        keep = sum(lane_keep << (lane * pin.keep // pin.lanes) for lane in range(len(beat)))
        found.append((data, keep))
    return found


def unpack(pin: Pin, data: int, keep: int) -> list[int] | None:
    """The elements of a beat that count; None if ``keep`` leaves a gap or cuts one in two."""
    if not pin.keep:
        return [data]
    lane_bytes = pin.keep // pin.lanes
    kept, rest = divmod(keep.bit_length(), lane_bytes)
    if rest or not kept or keep != (1 << kept * lane_bytes) - 1:
        return None
    mask = (1 << pin.element) - 1
    return [data >> (lane * pin.element) & mask for lane in range(kept)]


class Source:
    """Presents ``words`` in order, ``tlast`` with the last, and holds each until it is taken.

    Attributes:
        known: beats that can be presented so far: all, unless it is an answer to an output.
    """

    def __init__(
        self, pin: Pin, words: Sequence[int], pattern: Sequence[int], ends: Sequence[int] = ()
    ) -> None:
        """``ends``: numbers of words with the last of which ``tlast`` goes, too."""
        self._data, self._valid, self._last, self._keep = (
            f"{pin.name}_{f}" for f in ("tdata", "tvalid", "tlast", "tkeep")
        )
        self._keeps = pin.keep > 0
        self._words = pack(pin, words) if self._keeps else [(word, 0) for word in words]
        self._pattern = pattern
        self._ends = {len(self._words), *(-(-end // pin.lanes) for end in ends)}
        self.known = len(self._words)
        self._next = 0
        self._held = False
        self._released = False

    def drive(self, t: int, changes: Changes) -> None:
        """Present the next word in cycle ``t`` if none is held and the pattern allows it."""
        if self._held:
            return
        more = self._next < len(self._words) and self._next < self.known
        if more and self._pattern[t % len(self._pattern)]:
            changes[self._data], keep = self._words[self._next]
            if self._keeps:
                changes[self._keep] = keep
            changes[self._valid] = 1
            self._next += 1
            changes[self._last] = int(self._next in self._ends)
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
        count: words so far, those of a beat one by one. first, last: cycles of the first and the
            last transfer, or -1.
        words: the words, where the stream is kept.
        faults: broken rules, each with the first cycle in which it was broken.
    """

    def __init__(
        self, pin: Pin, pins: StreamPins, supply: int | None, ends: Sequence[int] = ()
    ) -> None:
        """Watch ``pins``; ``supply`` is how many words a source has, None at an output.

        ``ends``: numbers of words with the last of which ``tlast`` must come, of an output; with
        the final one alone if there are none.
        """
        self.name = pin.name
        self._pin = pin
        self.count = 0
        self.first = self.last = -1
        self.words: list[int] = []
        self.faults: list[str] = []
        self._seen: set[str] = set()
        self._pins = pins
        self._supply = supply
        self._waiting: tuple[int, int, int] | None = None
        self._ends = list(ends)
        self._lasts: list[int] = []

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
        data, last = int(pins.data()), int(pins.last())
        keep = int(pins.keep()) if pins.keep is not None else 0
        if self._waiting is not None and self._waiting != (data, last, keep):
            self._fault("data or last changed before the transfer", t)
        if not ready:
            self._waiting = (data, last, keep)
            return False
        words = unpack(self._pin, data, keep)
        if words is None or (not last and len(words) < self._pin.lanes):
            self._fault(f"keep of a beat is {keep:#b}", t)
            words = words or []
        self._waiting = None
        if self.count == 0:
            self.first = t
        self.last = t
        self.count += len(words)
        if last:
            self._lasts.append(self.count)
        if self._supply is None:
            self.words += words
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
        elif self._ends:
            if self._lasts != self._ends:
                self.faults.append(f"{self.name}: last must come with the final word of each pass")
        elif self.count and self._lasts != [self.count]:
            self.faults.append(f"{self.name}: last must come once, with the final word")

    def _fault(self, text: str, t: int) -> None:
        if text not in self._seen:
            self._seen.add(text)
            self.faults.append(f"{self.name}: {text} (cycle {t})")
