"""Drive a block of a streaming module: consecutive runs, with streams at chosen rates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Self

from merp.models.base.bits import Bits
from merp.testbenches.block.trace import Sample

SLACK = 8
"""Extra cycles after each run."""


def joined(elements: Bits, width: int) -> list[int]:
    """Join the last axis into beats, the first element lowest; the other axes are in order."""
    rows = elements.reshape(-1, elements.shape[-1]).tolist()
    return [sum(word << (i * width) for i, word in enumerate(row)) for row in rows]


@dataclass(frozen=True)
class StreamJob:
    """A run: its registers, and the words of each input stream.

    Attributes:
        registers: value of each register, by port.
        words: words of each input stream, by prefix.
        widths: bits of a word of each input stream.
        lasts: words that are marked as last, by prefix; the final one of a stream without entry.
    """

    registers: Mapping[str, int]
    words: Mapping[str, Sequence[int]]
    widths: Mapping[str, int]
    lasts: Mapping[str, Collection[int]] = field(default_factory=dict)

    def with_early_last(self, stream: str) -> Self:
        """Return the run with last at the word before the final one of a stream."""
        return replace(self, lasts={stream: [len(self.words[stream]) - 2]})


@dataclass
class StreamPlayer:
    """Drives a block through ``jobs``; a stream without a valid word carries noise.

    Attributes:
        jobs: the runs, in order; the next run starts after the end of the run before.
        sources: prefixes of the output streams.
        done: port that is high after the end of a run.
        axi: whether the streams have AXI4-Stream names.
        rates: how often a stream offers or accepts a word, by prefix; always if missing.
        seed: of the pauses and the noise.
    """

    jobs: Sequence[StreamJob]
    sources: Sequence[str]
    done: str = "done"
    axi: bool = False
    rates: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        """Begin in front of the first run."""
        self._rng = Random(self.seed)
        self._at = -1
        self._sent = dict.fromkeys(self.jobs[0].words, 0)
        self._valid = dict.fromkeys(self.jobs[0].words, False)
        self._letter = "t" if self.axi else ""

    def ended(self, seen: Sample) -> bool:
        """Return whether the run is over, from the ports of the cycle before."""
        return bool(seen[self.done]) and not seen["start"]

    def __call__(self, cycle: int, seen: Sample) -> dict[str, int]:
        """Return the inputs of a cycle: reset in cycle 0, a start in the cycle after each end."""
        over = cycle == 1 or (cycle > 1 and self._at >= 0 and self.ended(seen))
        begins = over and self._at + 1 < len(self.jobs)
        t = self._letter
        for name in self._sent:
            if self._valid[name] and seen.get(f"{name}_{t}ready"):
                self._sent[name] += 1
                self._valid[name] = False
        if begins:
            self._at += 1
            self._sent = dict.fromkeys(self._sent, 0)
            self._valid = dict.fromkeys(self._valid, False)
        job = self.jobs[max(0, self._at)]
        values = {"rst": int(cycle == 0), "start": int(begins), **job.registers}
        for name, words in job.words.items():
            sent = self._sent[name]
            left = self._at >= 0 and sent < len(words)
            on = self._valid[name] = left and (self._valid[name] or self._runs(name))
            noise = self._rng.getrandbits(job.widths[name])
            last = sent in job.lasts.get(name, (len(words) - 1,))
            values |= {
                f"{name}_{t}valid": int(on),
                f"{name}_{t}data": words[sent] if on else noise,
                f"{name}_{t}last": int(last) if on else noise & 1,
            }
        return values | {f"{name}_{t}ready": int(self._runs(name)) for name in self.sources}

    def _runs(self, name: str) -> bool:
        return self._rng.random() < self.rates.get(name, 1.0)
