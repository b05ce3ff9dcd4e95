"""The export of a network on a chain of boards: a package for each node, and their schedule."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from merp.cosim.machines.cnn_merp.chain.batch import ClusterBatch, cluster_batch, crossing_words
from merp.cosim.machines.cnn_merp.chain.cluster import Cluster
from merp.cosim.machines.cnn_merp.chain.node import ChainNode, NodeBatch, node_batch
from merp.models.base.errors import BadInput
from merp.models.base.names import folder_name, identifier
from merp.models.base.rates import PLAIN
from merp.models.fpga.order_codes import FlowTarget
from merp.models.machines.cnn_merp.at_once.places import check_depth
from merp.models.machines.cnn_merp.chain.cut import cut
from merp.models.machines.cnn_merp.chain.shares import Share, cluster_design
from merp.models.network.network import Network
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.tools.common.output import Output
from merp.tools.common.owned import manifest_sha
from merp.tools.common.progress import Progress
from merp.tools.common.time_spent import TimeSpent
from merp.tools.fpga.export.languages import Dialect
from merp.tools.fpga.export.package import Frame, render
from merp.tools.fpga.export.schedule import PAGE, SCHEDULE
from merp.tools.machines.cnn_merp.at_once.package import PARAMETERS, random_step, when, write_step

WORDS = {
    "maps": "map words in the order image, row, column, map",
    "sums": "partial sums in the order image, row, column, map",
    "errors": "deltas of a layer's output in the order image, row, column, map",
    "states": "ReLU/pooling mask in the order image, row, column, map",
    "deltas": "deltas of a layer's input in the order image, row, column, map",
}
"""Contents of a stream to or from another node."""

LONGEST = 32
"""Bits of a word in a testbench."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ChainPackages:
    """A network for the export as a chain of boards.

    Attributes:
        network: network with its designs.
        devices: number of nodes.
        depth: maximum number of images in flight.
        images: number of images of a run.
        target: the FPGA of each node.
        clock_mhz: clock of the constraint.
        dialect: the language.

    Raises:
        BadInput: a chain does not support the network, there are more nodes than maps can feed, or
            ``depth`` would deadlock. Further reasons: a node has more registers than
            its shell has addresses, or a link has longer words than a testbench.
    """

    network: Network
    devices: int
    depth: int
    images: int
    target: FlowTarget
    clock_mhz: float
    dialect: Dialect

    def __post_init__(self) -> None:
        """Check that the network is a chain."""
        check_depth(self.network, self.images, self.depth)
        for node in self.nodes:
            top, where = node.top(), f"{self.network.name}: node {node.place}"
            try:
                axi_registers_of(top)
            except ValueError as error:
                raise BadInput(f"{where}: {error}") from error
            for pin in top.ports.streams:
                if pin.width > LONGEST:
                    raise BadInput(
                        f"{where}: {pin.name} has words of {pin.width} bits: allowed are {LONGEST}"
                    )

    @cached_property
    def cluster(self) -> Cluster:
        """The chain."""
        shares = cut(self.network, self.devices)
        design = cluster_design(self.network, shares, self.depth)
        return Cluster(self.network, shares, design, PLAIN)

    @cached_property
    def nodes(self) -> list[ChainNode]:
        """The nodes of the chain, in order."""
        return [ChainNode(self.cluster, place) for place in range(self.devices)]

    def frame(self, node: ChainNode) -> Frame:
        """Return the values of a node's package that all packages have."""
        kind = f"node {node.place}"
        held = ", ".join(_said(share) for share in node.shares.values())
        return Frame(
            name=folder_name(self.network.name, kind),
            entity=identifier("merp", self.network.name, kind),
            title=f"{self.network.name} on a chain of {self.devices}, {kind}: {held}",
            core=(identifier(self.network.name), identifier(kind)),
            target=self.target,
            clock_mhz=self.clock_mhz,
            dialect=self.dialect,
        )

    def batch(self) -> ClusterBatch:
        """Return a step on random images."""
        model, step, rates = random_step(self.network, self.images, pooled=True)
        return cluster_batch(self.cluster, model, step, rates, self.depth, pace=1)

    def write(self, output: Output, progress: Progress) -> dict[str, dict[str, Any]]:
        """Write the packages and their schedule as one set; return the manifest of each, by folder.

        Raises:
            BadInput: the packages cannot be written.
            RuntimeError: GHDL or Verilator is installed and rejects the exported files.
        """
        spent, exported = progress.spent, {}
        with spent.on("golden"):
            whole = self.batch()
        parts = [node_batch(whole, node.place) for node in self.nodes]
        with spent.on("converting and writing"):
            for part in parts:
                frame, place = self.frame(part.hardware), part.hardware.place
                progress.count(place, len(parts), f"{frame.name}, {place} of {len(parts)} done")
                fill = partial(self._write_node, frame, part, spent)
                exported[frame.name] = output.add_folder(frame.name, fill)
            output.add(self._schedule(parts, exported))
            output.commit()
        return exported

    def _write_node(
        self, frame: Frame, part: NodeBatch, spent: TimeSpent, directory: Path
    ) -> dict[str, Any]:
        """Write the package of a node."""
        node = part.hardware
        facts = {
            "design": f"node {node.place}",
            "depth": self.depth,
            "images": self.images,
            "layers": [
                {"layer": _said(share), "name": f"share{place}"}
                for place, share in node.shares.items()
            ],
            "answers": {name: asdict(each) for name, each in part.run.answers.items()},
        }
        said = {
            "step": "kernels in, words from other nodes in, words to other nodes out, new "
            "kernels out",
            "run": "The vectors include the words from other nodes. The errors of an image arrive "
            "after the words from which they are computed have left at the back.",
            "stream_words": _stream_words(part),
        }
        return write_step(frame, part, facts, said, spent, directory)

    def _schedule(
        self, parts: list[NodeBatch], exported: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, str]:
        """Return the schedule of the nodes, for programs and as a page."""
        nodes = []
        for part, (name, manifest) in zip(parts, exported.items(), strict=True):
            addresses = manifest["registers"]
            nodes.append(
                {
                    "name": name,
                    "title": manifest["title"],
                    "top": manifest["top"],
                    "manifest_sha256": manifest_sha(manifest),
                    "shares": [
                        {
                            "name": f"share{place}",
                            "layer": share.layer.name,
                            "maps": [share.begin, share.end],
                        }
                        for place, share in part.hardware.shares.items()
                    ],
                    "registers": [
                        {"address": addresses[key], "name": key, "value": value}
                        for key, value in part.run.config.items()
                    ],
                }
            )
        document = {
            "network": self.network.name,
            "part": self.target.order_code,
            "images": self.images,
            "depth": self.depth,
            "nodes": nodes,
            "links": [
                _link(share.node, way, stream, words)
                for share, behind in pairwise(self.cluster.shares)
                if share.node != behind.node
                for (way, stream), words in crossing_words(share, self.images).items()
            ],
        }
        return {
            PAGE: render("chain.md", document),
            SCHEDULE: json.dumps(document, indent=2) + "\n",
        }


def _link(border: int, way: str, stream: str, words: int) -> dict[str, Any]:
    """Return a stream over the border behind a node, with the pins at both ends."""
    ends = [(border, f"m_axis_back_{stream}"), (border + 1, f"s_axis_front_{stream}")]
    if way == "back":
        ends = [(border + 1, f"m_axis_front_{stream}"), (border, f"s_axis_back_{stream}")]
    return {
        "from": {"node": ends[0][0], "stream": ends[0][1]},
        "to": {"node": ends[1][0], "stream": ends[1][1]},
        "words": words,
    }


def _said(share: Share) -> str:
    """Return the name of a share, for messages."""
    if share.whole:
        return share.layer.name
    return f"{share.layer.name} maps {share.begin} to {share.end - 1}"


def _stream_words(part: NodeBatch) -> dict[str, str]:
    """Return contents and order of words by stream."""
    said = {}
    for pin in part.hardware.top().ports.streams:
        side, end = pin.name[7:].partition("_")[0], pin.name.rpartition("_")[2]
        if side in ("front", "back"):
            said[pin.name] = WORDS[end]
        else:
            share = part.hardware.shares[int(side.removeprefix("share"))]
            said[pin.name] = f"{PARAMETERS[end]} of {_said(share)}, {when(pin.name)}"
    return said
