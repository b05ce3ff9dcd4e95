"""A single node of a chain: the top, and its part of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from merp.cosim.machines.cnn_merp.at_once.batch import ConcurrentBatch
from merp.cosim.machines.cnn_merp.at_once.engines import ConcurrentEngine, PortCount
from merp.cosim.machines.cnn_merp.chain.batch import ClusterBatch
from merp.cosim.machines.cnn_merp.chain.cluster import Cluster, ShareEngine
from merp.hdl.base.signals import Bundles
from merp.hdl.cnn_merp.chain.node import node
from merp.hdl.cnn_merp.chain.ports import (
    NodeStatus,
    axis,
    backward_streams,
    forward_streams,
    share_names,
    some_of,
)
from merp.models.base.bits import Bits
from merp.models.machines.cnn_merp.chain.shares import Share
from merp.models.machines.cnn_merp.params.cluster_design import NodeDesign
from merp.models.machines.cnn_merp.params.pipeline_registers import output_words
from merp.testbenches.cnn_merp.described import described
from merp.testbenches.top.run import DerivedSource
from merp.testbenches.top.top import Top

ENDS = {
    "s_axis_map": "s_axis_front_maps",
    "m_axis_map": "m_axis_back_maps",
    "s_axis_delta": "s_axis_back_errors",
}
"""Streams at the ends of a chain, and their names at the sides of a single node."""


class ChainNode:
    """A node of a chain, its place counted from 0. Its streams to other nodes are pins.

    Attributes:
        shares: the shares of the node, with their places in the chain, from 1.
        engines: the engines of the shares.
    """

    def __init__(self, cluster: Cluster, place: int) -> None:
        self._cluster = cluster
        self.place = place
        self.network = cluster.network
        self.design: NodeDesign = cluster.design.nodes[place]
        self.shares = {
            at: share for at, share in enumerate(cluster.shares, 1) if share.node == place
        }
        self.engines: tuple[ShareEngine, ...] = tuple(
            each for each in cluster.engines if each.share.node == place
        )

    def pin(self, engine: ConcurrentEngine, port: str) -> str | None:
        """Return the top's stream for a port of an engine; None if it connects to other shares."""
        found = self._cluster.pin(engine, port)
        return found if found is None else ENDS.get(found, found)

    def joined(self, engine: ConcurrentEngine, port: str) -> tuple[PortCount, ...]:
        """Return the counters, as in the chain."""
        return self._cluster.joined(engine, port)

    def top(self, array: str = "rtl") -> Top:
        """The block, with its own signals.

        Raises:
            ValueError: ``array`` is not a kind of array.
        """
        chain, design = self._cluster.top(array).args, self.design
        s_axis, m_axis, names = chain["s_axis"], chain["m_axis"], share_names(design)
        sinks, sources = ({name: getattr(of, name) for name in names} for of in (s_axis, m_axis))
        if design.begins:
            sinks["front"] = Bundles({"maps": s_axis.map})
        else:
            front = self._cluster.design.nodes[self.place - 1].shares[-1]
            sinks["front"] = axis(forward_streams(front))
            sources["front"] = axis(backward_streams(front))
        if design.ends:
            sinks["back"] = Bundles({"errors": s_axis.delta})
            sources["back"] = Bundles({"maps": m_axis.map})
        else:
            sinks["back"] = axis(backward_streams(design.shares[-1]))
            sources["back"] = axis(forward_streams(design.shares[-1]))
        config = names + ["admission"] * (design.begins or design.ends)
        args = {
            **{name: chain[name] for name in ("clk", "rst", "start")},
            "config": some_of(chain["config"], config),
            "s_axis": Bundles(sinks),
            "m_axis": Bundles(sources),
            "status": NodeStatus(design, chain["status"]),
            "design": design,
        }
        return Top(node, args, array, described)


@dataclass(frozen=True)
class NodeBatch(ConcurrentBatch):
    """A node's part of a batch on a chain, without the other nodes.

    Attributes:
        leaving: the expected words to other nodes, by stream.
    """

    hardware: ChainNode
    leaving: Mapping[str, Bits]

    @property
    def goldens(self) -> dict[str, Bits]:
        """The expected output words, by stream of the top."""
        return {**super().goldens, **self.leaving}

    @property
    def counts(self) -> dict[str, int]:
        """The expected final values of counters, independent of any pauses."""
        found = super().counts
        if not self.hardware.design.begins:
            del found["flight"]
        return found


def node_batch(whole: ClusterBatch, place: int) -> NodeBatch:
    """Return the part of the node at a place, from 0.

    The errors of an image arrive after its sums or maps have left at the back, as from real
    neighbours.
    """
    made = ChainNode(whole.hardware, place)
    ports, run = made.top().ports, whole.run
    words = {ENDS.get(name, name): each for name, each in run.words.items()}
    leaving: dict[str, Bits] = {}
    if place:
        forth, back = _crossing(whole, place - 1)
        words |= _at("s_axis_front", forth)
        leaving |= _at("m_axis_front", back)
    last = list(made.shares.values())[-1]
    if not made.design.ends:
        forth, back = _crossing(whole, place)
        words |= _at("s_axis_back", back)
        leaving |= _at("m_axis_back", forth)
    errors = output_words(last.layer.shape)
    behind = "maps" if last.part.last else "sums"
    an_image = errors if last.part.last else last.layer.sums
    answers = {"s_axis_back_errors": DerivedSource(f"m_axis_back_{behind}", an_image, errors)}
    part = replace(
        run,
        config={pin.name: run.config[pin.name] for pin in ports.config},
        words={pin.name: words[pin.name] for pin in ports.inputs},
        answers=answers,
    )
    passes = {each.name: whole.passes[each.name] for each in made.engines}
    return NodeBatch(made, part, passes, leaving)


def _at(side: str, streams: Mapping[str, Bits]) -> dict[str, Bits]:
    return {f"{side}_{name}": words for name, words in streams.items()}


def _crossing(whole: ClusterBatch, border: int) -> tuple[dict[str, Bits], dict[str, Bits]]:
    """Return the words of each stream over the border behind a node, forward and backward."""
    shares = list(enumerate(whole.hardware.shares, 1))
    place, share = next(each for each in reversed(shares) if each[1].node == border)
    errors = _into(whole, f"share{place}_ku", "delta_in")
    if share.part.last:
        return {"maps": _from(whole, f"share{place}_fp", "map_out")}, {"errors": errors}
    behind = [(at, each) for at, each in shares[place:] if each.layer is share.layer]
    maps = [(_into(whole, f"share{at}_fp", "map_in"), each) for at, each in behind]
    deltas = [(_from(whole, f"share{at}_dp", "delta_out"), each) for at, each in behind]
    return (
        {"maps": _together(maps), "sums": _from(whole, f"share{place}_fp", "partial_out")},
        {
            "errors": errors,
            "states": _into(whole, f"share{place}_ku", "state_in"),
            "deltas": _together(deltas),
        },
    )


def _into(whole: ClusterBatch, engine: str, port: str) -> Bits:
    """Return the input words of an engine's port."""
    given = whole.passes[engine]
    return given.run.words[given.expected.ports[port].stream].reshape(-1)


def _from(whole: ClusterBatch, engine: str, port: str) -> Bits:
    """Return the expected output words of an engine's port."""
    golden = whole.passes[engine].expected.ports[port].golden
    assert golden is not None, port
    return golden.reshape(-1)


def _together(parts: list[tuple[Bits, Share]]) -> Bits:
    """Combine the words of several shares. Each position has its words in the order of maps."""
    return np.hstack(
        [words.reshape(-1, share.end - share.begin) for words, share in parts]
    ).reshape(-1)
