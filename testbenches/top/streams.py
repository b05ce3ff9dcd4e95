"""Source, sink and monitor of a stream, one clock cycle at a time, for any simulator.

A source and a sink *drive*: they write the new values of their pins in cycle t into ``changes``.
A monitor *samples*: it reads the pins just before the edge that ends cycle t, and nothing else.
Its counts are therefore those of an external observer of the pins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from merp.testbenches.top.top import Pin

Changes = dict[str, int]
Read = Callable[[], int]


@dataclass(frozen=True)
class StreamPins:
    """Functions that read the pins of a stream."""

    data: Read
    valid: Read
    ready: Read
    last: Read
    keep: Read | None = None

    @classmethod
    def of(cls, pin: Pin, read: Callable[[str], Read]) -> StreamPins:
        """Collect the pins of stream ``pin``; ``read`` maps a signal's name to its reader."""
        fields = ("tdata", "tvalid", "tready", "tlast", *(("tkeep",) if pin.keep else ()))
        return cls(*(read(f"{pin.name}_{field}") for field in fields))


def pack(pin: Pin, words: Sequence[int]) -> list[tuple[int, int]]:
    """Pack words into (``tdata``, ``tkeep``) beats of a stream; zeros fill up the last beat."""
    lane_keep = (1 << pin.keep // pin.lanes) - 1
    found = []
    for at in range(0, len(words), pin.lanes):
        beat = words[at : at + pin.lanes]
        data = sum(word << (lane * pin.element) for lane, word in enumerate(beat))
        keep = sum(lane_keep << (lane * pin.keep // pin.lanes) for lane in range(len(beat)))
        found.append((data, keep))
    return found


def unpack(pin: Pin, data: int, keep: int) -> list[int] | None:
    """Return the valid elements of a beat; None if ``keep`` leaves a gap or splits an element."""
    if not pin.keep:
        return [data]
    lane_bytes = pin.keep // pin.lanes
    kept, rest = divmod(keep.bit_length(), lane_bytes)
    if rest or not kept or keep != (1 << kept * lane_bytes) - 1:
        return None
    mask = (1 << pin.element) - 1
    return [data >> (lane * pin.element) & mask for lane in range(kept)]


class Source:
    """Presents ``words`` in order, and holds each until it is transferred.

    ``tlast`` is high with the last word.

    Attributes:
        known: number of beats that can be presented so far. It is the number of all beats, unless
            the words depend on an output.
    """

    def __init__(
        self, pin: Pin, words: Sequence[int], pattern: Sequence[int], ends: Sequence[int] = ()
    ) -> None:
        """``ends``: further word counts; ``tlast`` is also high with the last word of each."""
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
        """Note that the held word was transferred at this edge."""
        self._held = False
        self._released = True


class Sink:
    """A sink that is ready in cycle t iff ``pattern[t mod len]``."""

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
        count: words so far; each element of a beat counts as one word.
        first, last: cycles of the first and the last transfer, or -1.
        words: the words of an output; empty at an input.
        faults: violated rules, each with the first cycle in which it was violated.
    """

    def __init__(
        self, pin: Pin, pins: StreamPins, supply: int | None, ends: Sequence[int] = ()
    ) -> None:
        """Watch ``pins``; ``supply`` is the number of words of a source, None at an output.

        ``ends``: word counts at which an output must set ``tlast``. If there are none, ``tlast``
        must be high with the final word only.
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
        """Read the pins just before the edge that ends cycle ``t``; return True on a transfer."""
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
        """The present value of the valid pin."""
        return int(self._pins.valid())

    @property
    def ready(self) -> int:
        """The present value of the ready pin."""
        return int(self._pins.ready())

    def after_done(self, t: int) -> None:
        """Record the fault of a transfer in cycle ``t``, after the run was done."""
        self._fault("word after done", t)

    def finish(self) -> None:
        """Check the number of words and the positions of ``tlast`` at the end of the run."""
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
