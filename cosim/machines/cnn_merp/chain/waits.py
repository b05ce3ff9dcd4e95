"""Report the cycle of waits in a deadlocked chain: engines, links, entrance and host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from merp.cosim.machines.cnn_merp.at_once.waits import ENTRANCE, HOST, Standing, WaitedFifo
from merp.cosim.machines.cnn_merp.chain.batch import ClusterBatch, crossing_words
from merp.cosim.machines.cnn_merp.chain.cluster import ShareEngine
from merp.models.machines.cnn_merp.chain.shares import Share
from merp.models.machines.cnn_merp.params.cluster_design import ClusterDesign

DIRECT = 0
"""Words of a FIFO in which an engine receives words from the engine in front of it."""


def circle(batch: ClusterBatch, status: Mapping[str, int]) -> str:
    """Return the cycle of waits, from a waiting part back to itself, as a sentence."""
    return _Standing(batch, status).told()


def link_stream(node: int, way: str, stream: str) -> str:
    """Return the name of a stream over the link behind a node, for messages."""
    ends = (node, node + 1) if way == "on" else (node + 1, node)
    return f"the link's {stream} from node {ends[0]} to {ends[1]}"


class _Standing(Standing):
    """A deadlocked batch on a chain."""

    def __init__(self, batch: ClusterBatch, status: Mapping[str, int]) -> None:
        super().__init__(batch, status)
        self._shares, self._images = batch.hardware.shares, batch.images
        self._design: ClusterDesign = batch.hardware.design
        self._engines = {each.name: each for each in batch.hardware.engines}

    def told(self) -> str:
        """Return the cycle of waits."""
        fifos: list[WaitedFifo] = []
        for engine in self._engines.values():
            fifos += self._in_front(engine)
        for place, share in enumerate(self._shares[:-1], 1):
            if self._shares[place].node != share.node:
                fifos += self._on_link(place, share)
        return self.circle(fifos)

    def _who(self, place: int, phase: str) -> str:
        return self._engines[f"share{place}_{phase}"].said

    def _in_front(self, engine: ShareEngine) -> Iterator[WaitedFifo]:
        """Yield the FIFOs of an engine with their producers: engines of the node, or links."""
        place, share = engine.place, engine.share
        design = self._design.shares[place - 1].engines
        kept = self.count(f"share{place}_ku", "map_in") + self.count(
            f"share{place}", "features_fill"
        )
        if engine.phase.name in ("fp", "ku"):
            maps = "maps", self._gives_maps(place), kept
            if engine.phase.name == "fp":
                yield self.fifo(engine, "map_in", *maps, design.joint)
                if not share.part.first:
                    giver = link_stream(share.node - 1, "on", "sums")
                    given = self._arrived(share.node - 1, "on", "sums")
                    yield self.fifo(engine, "partial_in", "partial sums", giver, given, DIRECT)
            else:
                _, giver, given = maps
                yield self.fifo(
                    engine, "map_in", "features", giver, given, design.features, "features"
                )
        if engine.phase.name in ("dp", "ku"):
            both = [
                self.count(f"share{place}_{phase}", "delta_in")
                for phase in ("dp", "ku")
                if f"share{place}_{phase}" in self._engines
            ]
            giver = self._gives_errors(place)
            yield self.fifo(engine, "delta_in", "errors", giver, max(both), design.joint)
            states = self._who(place, "fp")
            if not share.part.last:
                states = link_stream(share.node, "back", "states")
            yield self.fifo(engine, "state_in", "state", states, 0, design.states, "states")

    def _gives_maps(self, place: int) -> str:
        if place == 1:
            return ENTRANCE
        front = self._shares[place - 2]
        if front.node == self._shares[place - 1].node:
            return self._who(place - 1, "fp")
        return link_stream(front.node, "on", "maps")

    def _gives_errors(self, place: int) -> str:
        share = self._shares[place - 1]
        if place == len(self._shares):
            return HOST
        if self._shares[place].node == share.node:
            return self._who(place + 1, "dp")
        return link_stream(share.node, "back", "errors")

    def _on_link(self, place: int, share: Share) -> Iterator[WaitedFifo]:
        """Yield the FIFOs over the link behind a share, with each producer and consumer."""
        places = self._design.link.places
        for (way, stream), words in crossing_words(share, self._images).items():
            sent = self.count(f"link{share.node + 1}_{way}_sent", stream)
            arrived = self._arrived(share.node, way, stream)
            for giver in self._fills(place, way, stream):
                taker = link_stream(share.node, way, stream)
                yield WaitedFifo(giver, taker, stream, places + 1, sent - arrived, sent < words)

    def _fills(self, place: int, way: str, stream: str) -> Iterator[str]:
        """Yield the producers of a stream over the link behind a share."""
        share, behind = self._shares[place - 1], self._shares[place]
        if (way, stream) == ("on", "maps") and not share.part.last:
            yield self._gives_maps(place)
        elif way == "on":
            yield self._who(place, "fp")
        elif stream == "states":
            if behind.part.last:
                yield self._who(place + 1, "fp")
            else:
                yield link_stream(behind.node, "back", "states")
        elif stream == "errors" and not share.part.last:
            yield self._gives_errors(place + 1)
        else:
            yield self._who(place + 1, "dp")
            if not behind.part.last:
                yield link_stream(behind.node, "back", "deltas")

    def _arrived(self, node: int, way: str, stream: str) -> int:
        return self.count(f"link{node + 1}_{way}_arrived", stream)
