"""The record of one run: the same fields, and the same values, from every engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from merp.testbenches.top.run import Outcome, Words
from merp.testbenches.top.top import TopPorts


@dataclass(frozen=True, eq=False)
class Record:
    """What one run did, seen from outside the top.

    Attributes:
        engine: which engine ran it. elaboration_sha: fingerprint of what was elaborated.
        words: raw words of each output stream, uint32 (uint64 if wider).
        transfers, first, last, status, cycles, resets, faults: as in ``Outcome``.
        seconds: wall time of the run. build_seconds: wall time of its elaboration or build.
    """

    engine: str
    elaboration_sha: str
    words: Mapping[str, Words]
    transfers: Mapping[str, int]
    first: Mapping[str, int]
    last: Mapping[str, int]
    status: Mapping[str, int]
    cycles: int
    resets: int
    faults: tuple[str, ...]
    seconds: float
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
    ) -> Record:
        """The record of an outcome."""
        words: dict[str, Words] = {}
        for pin in ports.outputs:
            received = np.asarray(outcome.words[pin.name], dtype=np.uint64)
            words[pin.name] = received.astype(np.uint32) if pin.width <= 32 else received
        return cls(
            engine=engine,
            elaboration_sha=elaboration_sha,
            words=words,
            transfers=dict(outcome.transfers),
            first=dict(outcome.first),
            last=dict(outcome.last),
            status=dict(outcome.status),
            cycles=outcome.cycles,
            resets=outcome.resets,
            faults=tuple(outcome.faults),
            seconds=outcome.seconds,
            build_seconds=build_seconds,
        )

    def differences(self, other: Record) -> list[str]:
        """In what two records of the same run differ, times and engine left out."""
        found = [
            f"{key}: {getattr(self, key)} and {getattr(other, key)}"
            for key in ("transfers", "first", "last", "status", "cycles", "resets", "faults")
            if getattr(self, key) != getattr(other, key)
        ]
        found += [
            f"words of {name}"
            for name in self.words.keys() | other.words.keys()
            if name not in self.words
            or name not in other.words
            or not np.array_equal(self.words[name], other.words[name])
        ]
        return found
