"""Report the cycle of waits of concurrent engines that are deadlocked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from merp.cosim.machines.cnn_merp.at_once.batch import ConcurrentBatch
from merp.cosim.machines.cnn_merp.at_once.engines import ConcurrentEngine

ENTRANCE, HOST = "the entrance", "the host"


class WaitedFifo(NamedTuple):
    """Words in a FIFO between a producer and a consumer.

    Attributes:
        giver: name of the producer, in messages.
        taker: name of the consumer, in messages.
        kind: kind of the words.
        words: capacity in words.
        fill: number of words now.
        more: whether the consumer still needs words of this run.
    """

    giver: str
    taker: str
    kind: str
    words: int
    fill: int
    more: bool


class EngineWait(NamedTuple):
    """A wait of one engine for another engine."""

    what: str
    whom: str


class Standing:
    """A deadlocked batch.

    Args:
        batch: the running batch.
        status: the top's status ports after all movement has stopped.
    """

    def __init__(self, batch: ConcurrentBatch, status: Mapping[str, int]) -> None:
        self.batch = batch
        self._status = status

    def count(self, name: str, port: str) -> int:
        """Return the number of words that have passed a port, or that are in a store."""
        return self._status[f"status_{name}_{port}"]

    def fifo(
        self,
        engine: ConcurrentEngine,
        port: str,
        kind: str,
        giver: str,
        given: int,
        words: int,
        store: str | None = None,
    ) -> WaitedFifo:
        """Return the FIFO in front of a port of an engine that has received ``given`` words.

        Args:
            store: name of the store, if the store reports its fill.
        """
        taken = self.count(engine.name, port)
        total = self.batch.passes[engine.name].expected.ports[port].closed_form
        fill = max(0, given - taken)
        if store is not None:
            fill = self.count(engine.where, f"{store}_fill")
        return WaitedFifo(giver, engine.said, kind, words + 1, fill, taken < total)

    def circle(self, fifos: Iterable[WaitedFifo]) -> str:
        """Return a cycle of waits, from one waiting engine back to itself, as a sentence.

        Args:
            fifos: all FIFOs; the search starts at the consumer of the first one.
        """
        waits = self._waits(list(fifos))
        for start in waits:
            found = _round(waits, start, {})
            if found:
                return _said(found)
        return "no cycle of waits: " + _said(
            [(who, wait) for who, each in waits.items() for wait in each]
        )

    def _waits(self, fifos: list[WaitedFifo]) -> dict[str, list[EngineWait]]:
        """Return the waits of each engine: for free places, otherwise for missing words."""
        engines = self.batch.hardware.engines
        first = next(each for each in engines if each.phase.name == "ku")
        last = next(each for each in reversed(engines) if each.phase.name == "fp")
        waits: dict[str, list[EngineWait]] = {}
        for who in dict.fromkeys([*(each.taker for each in fifos), ENTRANCE, HOST]):
            full = [
                EngineWait(f"a place for {each.kind}, of {each.words:,} in all,", each.taker)
                for each in fifos
                if each.giver == who and each.fill >= each.words
            ]
            empty = [
                EngineWait(each.kind, each.giver)
                for each in fifos
                if each.taker == who and not each.fill and each.more
            ]
            waits[who] = full or empty
        flight = self._status["status_flight"]
        if flight >= self.batch.run.config["config_admission_depth"]:
            waits[ENTRANCE].append(EngineWait(f"one of {flight} images to leave", first.said))
        waits[HOST].insert(0, EngineWait("scores", last.said))
        return waits


def _said(waits: Iterable[tuple[str, EngineWait]]) -> str:
    return "; ".join(f"{who} waits for {wait.what} from {wait.whom}" for who, wait in waits)


def _round(
    waits: Mapping[str, list[EngineWait]], at: str, way: dict[str, EngineWait]
) -> list[tuple[str, EngineWait]] | None:
    """Return a path from ``at`` that returns to an element of the path."""
    for wait in waits.get(at, []):
        further = {**way, at: wait}
        if wait.whom in further:
            steps = list(further.items())
            return steps[list(further).index(wait.whom) :]
        found = _round(waits, wait.whom, further)
        if found:
            return found
    return None
