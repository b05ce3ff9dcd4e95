"""Drive a block of a streaming module: consecutive runs, with streams at chosen rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from merp.testbenches.block.trace import Sample

SLACK = 8
"""Extra cycles after each run."""


@dataclass(frozen=True)
class StreamJob:
    """A run: its registers, and the words of each input stream.

    Attributes:
        registers: value of each register, by port.
        words: words of each input stream, by prefix.
        widths: bits of a word of each input stream.
    """

    registers: Mapping[str, int]
    words: Mapping[str, Sequence[int]]
    widths: Mapping[str, int]


@dataclass
class StreamPlayer:
    """Drives a block through ``jobs``; a stream without a valid word carries noise.

    Attributes:
        jobs: the runs, in order; the next run starts after the end of the run before.
        source: prefix of the output stream.
        done: port that is high after the end of a run.
        axi: whether the streams have AXI4-Stream names.
        rates: how often a stream offers or accepts a word, by prefix; always if missing.
        seed: of the pauses and the noise.
    """

    jobs: Sequence[StreamJob]
    source: str
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

    def __call__(self, cycle: int, seen: Sample) -> dict[str, int]:
        """Return the inputs of a cycle: reset in cycle 0, a start in the cycle after each end."""
        begins = self._at + 1 < len(self.jobs) and (
            cycle == 1
            or (cycle > 1 and self._at >= 0 and bool(seen[self.done]) and not seen["start"])
        )
        t = self._letter
        for name in self._sent:
            if self._valid[name] and seen.get(f"{name}_{t}ready"):
                self._sent[name] += 1
                self._valid[name] = False
        if begins:
            self._at += 1
            self._sent = dict.fromkeys(self._sent, 0)
        job = self.jobs[max(0, self._at)]
        values = {"rst": int(cycle == 0), "start": int(begins), **job.registers}
        for name, words in job.words.items():
            sent = self._sent[name]
            left = self._at >= 0 and not begins and sent < len(words)
            goes = self._valid[name] or self._rng.random() < self.rates.get(name, 1.0)
            on = self._valid[name] = left and goes
            noise = self._rng.getrandbits(job.widths[name])
            values |= {
                f"{name}_{t}valid": int(on),
                f"{name}_{t}data": words[sent] if on else noise,
                f"{name}_{t}last": int(sent == len(words) - 1) if on else noise & 1,
            }
        takes = self._rng.random() < self.rates.get(self.source, 1.0)
        return values | {f"{self.source}_{t}ready": int(takes)}
