"""Who waits for whom in a pipeline that stands still: the circle of waits, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from merp.cosim.pipeline.batch import Batch
from merp.cosim.pipeline.pipeline import Engine

ENTRANCE, HOST = "the entrance", "the host"


class Wait(NamedTuple):
    """Someone waits for something that another one would give."""

    what: str
    whom: str


class _Joint(NamedTuple):
    """A FIFO in front of an engine.

    Attributes:
        port: the engine's. kind: what is kept. giver: who fills it. words: that fit. fill: now.
        given, all: words that came so far, and in the run.
    """

    port: str
    kind: str
    giver: str
    words: int
    fill: int
    given: int
    all: int


def circle(batch: Batch, status: Mapping[str, int]) -> str:
    """The waits that hold each other up, from one of them back to itself, as a sentence.

    Args:
        batch: what runs. status: the top's status ports when nothing moved any more.
    """
    waits = _Waits(batch, status).waits
    for start in waits:
        found = _round(waits, start, {})
        if found:
            return "; ".join(f"{who} waits for {wait.what} from {wait.whom}" for who, wait in found)
    return "nobody waits in a circle: " + "; ".join(
        f"{who} waits for {wait.what} from {wait.whom}" for who in waits for wait in waits[who]
    )


def _round(
    waits: Mapping[str, list[Wait]], at: str, way: dict[str, Wait]
) -> list[tuple[str, Wait]] | None:
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


class _Waits:
    """The waits of every engine, of the entrance, and of the host; who is done waits for none."""

    def __init__(self, batch: Batch, status: Mapping[str, int]) -> None:
        self._batch = batch
        self._status = status
        self._engines = {engine.name: engine for engine in batch.pipeline.engines}
        self._joints = {name: list(self._joints_of(each)) for name, each in self._engines.items()}
        self.waits: dict[str, list[Wait]] = {}
        for name, engine in self._engines.items():
            self.waits[self._said(name)] = self._of(engine)
        first, last = "layer1_ku", f"layer{len(batch.pipeline.network.layers)}_fp"
        self.waits[ENTRANCE] = list(self._full("map_in", ENTRANCE))
        if status["status_flight"] >= batch.run.config["config_admission_depth"]:
            images = f"one of {status['status_flight']} images to leave"
            self.waits[ENTRANCE].append(Wait(images, self._said(first)))
        self.waits[HOST] = [Wait("scores", self._said(last)), *self._full("delta_in", HOST)]

    def _said(self, name: str) -> str:
        if name in (ENTRANCE, HOST):
            return name
        engine = self._engines[name]
        return f"{engine.layer.name} {engine.phase.name}"

    def _count(self, name: str, port: str) -> int:
        return self._status[f"status_{name}_{port}"]

    def _joints_of(self, engine: Engine) -> Iterator[_Joint]:
        """The FIFOs in front of an engine."""
        design = self._batch.pipeline.design.slices[engine.place - 1]
        place, phase = engine.place, engine.phase.name
        expected = self._batch.passes[engine.name].expected.ports
        kinds = {
            "fp": [("map_in", "maps", f"layer{place - 1}_fp", "map_out", design.joint)],
            "dp": [
                ("delta_in", "deltas", f"layer{place + 1}_dp", "delta_out", design.joint),
                ("state_in", "state", f"layer{place - 1}_fp", "state_out", design.states),
            ],
            "ku": [
                ("map_in", "features", f"layer{place - 1}_fp", "map_out", design.features),
                ("delta_in", "deltas", f"layer{place + 1}_dp", "delta_out", design.joint),
            ],
        }[phase]
        for port, kind, giver, its, words in kinds:
            taken, total = self._count(engine.name, port), expected[port].closed_form
            if giver in self._engines:
                given = self._count(giver, its)
            else:
                giver = ENTRANCE if port == "map_in" else HOST
                beside = [each for each in self._engines.values() if each.place == place]
                takers = [each.name for each in beside if port in each.streams]
                given = max(self._count(name, port) for name in takers)
            stored = {"features": "features_fill", "state": "states_fill"}.get(kind)
            fill = max(0, given - taken)
            if stored is not None:
                fill = self._status[f"status_layer{place}_{stored}"]
            yield _Joint(port, kind, giver, words + 1, fill, given, total)

    def _of(self, engine: Engine) -> list[Wait]:
        """What an engine waits for: places that are not free, else words that are not there."""
        taker = {"map_out": "map_in", "state_out": "state_in", "delta_out": "delta_in"}
        full = [
            wait
            for port in engine.streams
            if port in taker
            for wait in self._full(taker[port], engine.name)
        ]
        return full or [
            Wait(joint.kind, self._said(joint.giver))
            for joint in self._joints[engine.name]
            if not joint.fill and self._count(engine.name, joint.port) < joint.all
        ]

    def _full(self, port: str, giver: str) -> Iterator[Wait]:
        """Who holds the places of the full FIFOs that someone fills."""
        for name, joints in self._joints.items():
            for joint in joints:
                if joint.giver == giver and joint.port == port and joint.fill >= joint.words:
                    what = f"a place for {joint.kind}, of {joint.words:,} in all,"
                    yield Wait(what, self._said(name))
