"""Who waits for whom where engines that run at once stand still: the circle of waits, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from merp.cosim.machines.cnn_merp.at_once.batch import ConcurrentBatch
from merp.cosim.machines.cnn_merp.at_once.engines import ConcurrentEngine

ENTRANCE, HOST = "the entrance", "the host"


class WaitedFifo(NamedTuple):
    """Words on their way from one who makes them to one who uses them.

    Attributes:
        giver, taker: who, as people say it. kind: what they are. words: that fit. fill: now.
        more: whether the taker has not had all of the run.
    """

    giver: str
    taker: str
    kind: str
    words: int
    fill: int
    more: bool


class EngineWait(NamedTuple):
    """Someone waits for something that another one would give."""

    what: str
    whom: str


class Standing:
    """A batch that stands still.

    Args:
        batch: what runs. status: the top's status ports when nothing moved any more.
    """

    def __init__(self, batch: ConcurrentBatch, status: Mapping[str, int]) -> None:
        self.batch = batch
        self._status = status

    def count(self, name: str, port: str) -> int:
        """Words that have passed a port, or are in a store."""
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
        """A FIFO in front of a port of an engine, to which so many words were given.

        store: what it is called, if it tells its fill.
        """
        taken = self.count(engine.name, port)
        total = self.batch.passes[engine.name].expected.ports[port].closed_form
        fill = max(0, given - taken)
        if store is not None:
            fill = self.count(engine.where, f"{store}_fill")
        return WaitedFifo(giver, engine.said, kind, words + 1, fill, taken < total)

    def circle(self, fifos: Iterable[WaitedFifo]) -> str:
        """The waits that hold each other up, from one of them back to itself, as a sentence.

        fifos: all that there are; the first one's taker is looked at first.
        """
        waits = self._waits(list(fifos))
        for start in waits:
            found = _round(waits, start, {})
            if found:
                return _said(found)
        return "nobody waits in a circle: " + _said(
            [(who, wait) for who, each in waits.items() for wait in each]
        )

    def _waits(self, fifos: list[WaitedFifo]) -> dict[str, list[EngineWait]]:
        """The waits of each: for places that are not free, else for words that are not there."""
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
    """A way from ``at`` back to something on it."""
    for wait in waits.get(at, []):
        further = {**way, at: wait}
        if wait.whom in further:
            steps = list(further.items())
            return steps[list(further).index(wait.whom) :]
        found = _round(waits, wait.whom, further)
        if found:
            return found
    return None
