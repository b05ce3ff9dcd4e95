"""The record of one run: the same fields and the same values from every engine."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from merp.models.base.bits import Bits
from merp.testbenches.top.run import Outcome
from merp.testbenches.top.top import TopPorts


@dataclass(frozen=True, eq=False)
class RunRecord:
    """The results of one run, and the engine that ran it.

    Attributes:
        engine: name of the engine.
        elaboration_sha: fingerprint of the elaborated design.
        outcome: observations at the pins of the top; words are uint32 (uint64 if wider).
        build_seconds: wall time of the elaboration or build.
    """

    engine: str
    elaboration_sha: str
    outcome: Outcome
    build_seconds: float

    @classmethod
    def of(
        cls,
        outcome: Outcome,
        ports: TopPorts,
        *,
        engine: str,
        elaboration_sha: str,
        build_seconds: float,
    ) -> RunRecord:
        """Return the record of an outcome."""
        words: dict[str, Bits] = {}
        for pin in ports.outputs:
            received = np.asarray(outcome.words[pin.name], dtype=np.uint64)
            words[pin.name] = received.astype(np.uint32) if pin.element <= 32 else received
        return cls(engine, elaboration_sha, replace(outcome, words=words), build_seconds)

    def words(self, stream: str) -> Bits:
        """Return the output words of a stream."""
        return np.asarray(self.outcome.words[stream])

    def array(self, stream: str, size: tuple[int, ...]) -> Bits:
        """Return the words of a stream as an array.

        Missing words are zero, surplus words are dropped.
        """
        words = self.words(stream)
        found = np.zeros(size, words.dtype)
        fits = min(words.size, found.size)
        found.reshape(-1)[:fits] = words[:fits]
        return found

    def differences(self, other: RunRecord) -> list[str]:
        """Return the differences between two records of one run, except times and engine."""
        ours, theirs = self.outcome, other.outcome
        found = [
            f"{key}: {getattr(ours, key)} and {getattr(theirs, key)}"
            for key in ("transfers", "first", "last", "status", "cycles", "resets", "faults")
            if getattr(ours, key) != getattr(theirs, key)
        ]
        found += [
            f"words of {name}"
            for name in ours.words.keys() | theirs.words.keys()
            if name not in ours.words
            or name not in theirs.words
            or not np.array_equal(self.words(name), other.words(name))
        ]
        return found
