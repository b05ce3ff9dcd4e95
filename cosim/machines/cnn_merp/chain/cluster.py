"""The engines of a chain of nodes, and the source or destination of the words of each port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from merp.cosim.machines.cnn_merp.at_once.engines import (
    ConcurrentEngine,
    Phase,
    PortCount,
    top_args,
)
from merp.cosim.machines.cnn_merp.phases.delta import DeltaPhase
from merp.cosim.machines.cnn_merp.phases.forward import ForwardPhase
from merp.cosim.machines.cnn_merp.phases.kernel_update import KernelUpdate
from merp.hdl.base.signals import Bundles
from merp.hdl.cnn_merp.chain.chain import chain
from merp.hdl.cnn_merp.chain.ports import ClusterStatus, LinkConfig, ShareConfig
from merp.hdl.cnn_merp.ports.slice_ports import AdmissionConfig
from merp.models.base.rates import UpdateRule
from merp.models.machines.cnn_merp.chain.shares import Share
from merp.models.machines.cnn_merp.params.cluster_design import ClusterDesign
from merp.models.network.network import Network
from merp.testbenches.cnn_merp.chain.board import board, board_ports
from merp.testbenches.cnn_merp.described import described
from merp.testbenches.top.top import Top

PARAMETERS = ("kernel", "bias")


@dataclass(frozen=True)
class ShareEngine(ConcurrentEngine):
    """An engine of a share. Its place is the place of the share in the chain, from 1."""

    share: Share

    @property
    def where(self) -> str:
        """The share, in port names of the top: ``share2``."""
        return f"share{self.place}"

    @property
    def part(self) -> str:
        """The layer, with the share's input maps if the layer is split, and the node."""
        begin, end = self.share.begin, self.share.end - 1
        maps = f" map {begin}" if begin == end else f" maps {begin} to {end}"
        return f"{self.layer.name}{'' if self.share.whole else maps} on node {self.share.node}"


class Cluster:
    """A network on a chain of nodes.

    Args:
        network: network with a design for every layer.
        shares: shares of the network, in the order of the chain.
        design: design of the chain.
        rule: update rule.

    Attributes:
        engines: in the order of shares; fp, dp and ku of each share.
    """

    def __init__(
        self, network: Network, shares: Sequence[Share], design: ClusterDesign, rule: UpdateRule
    ) -> None:
        self.network = network
        self.shares = tuple(shares)
        self.design = design
        self.rule = rule
        found: list[ShareEngine] = []
        for place, (share, piece) in enumerate(zip(shares, design.shares, strict=True), 1):
            engines = piece.engines
            phases: list[Phase] = [ForwardPhase(network, engines.forward)]
            if engines.delta is not None:
                phases.append(DeltaPhase(network, engines.delta))
            phases.append(KernelUpdate(network, engines.update, engines.expanded, rule))
            found += [ShareEngine(place, share.layer, phase, share) for phase in phases]
        self.engines = tuple(found)

    def pin(self, engine: ConcurrentEngine, port: str) -> str | None:
        """Return the top's stream for a port of an engine; None if the port is connected inside."""
        name, stream = engine.phase.name, engine.streams[port]
        if name != "dp" and port.startswith(PARAMETERS):
            return f"{stream[:6]}_{engine.name}{stream[6:]}"
        last = engine.place == len(self.shares)
        return {
            ("fp", "map_in", engine.place == 1): "s_axis_map",
            ("fp", "map_out", last): "m_axis_map",
            ("ku", "delta_in", last): "s_axis_delta",
        }.get((name, port, True))

    def joined(self, engine: ConcurrentEngine, port: str) -> tuple[PortCount, ...]:
        """Return counters at the other end of an engine's port that is not a pin of the top.

        The result is empty for a port that is unused at the place of its share, because no word
        passes it.
        """
        place, share = engine.place, self.shares[engine.place - 1]
        part, node = share.part, share.node + 1  # a link has the number of the node in front of it
        here = f"share{place}"
        behind = self.shares[place].node + 1 if place < len(self.shares) else node
        front = self.shares[place - 2].node + 1 if place > 1 else node
        match engine.phase.name, port:
            case "fp", "map_in":
                return self._maps(place)
            case "ku", "map_in":
                return (PortCount(f"{here}_fp", "map_in"),)
            case "fp", "map_out":
                if not part.last:
                    return ()
                if behind != node:
                    return (PortCount(f"link{node}_on_sent", "maps"),)
                return (PortCount(f"share{place + 1}_fp", "map_in"), *self._passed(place + 1))
            case "fp", "partial_in":
                return () if part.first else (PortCount(f"link{front}_on_arrived", "sums"),)
            case "fp", "partial_out":
                return () if part.last else (PortCount(f"link{node}_on_sent", "sums"),)
            case "fp", "state_out":
                return (PortCount(f"{here}_ku", "state_in"),)
            case "ku", "state_in":
                if part.last:
                    return (PortCount(f"{here}_fp", "state_out"),)
                return (PortCount(f"link{node}_back_arrived", "states"),)
            case "dp", ("delta_in" | "state_in"):
                return (PortCount(f"{here}_ku", port),)
            case "dp", "kernel":
                return (PortCount(f"{here}_fp", "kernel"),)
            case "dp", "delta_out":
                return self._given(place, front)
            case "ku", "delta_in":
                if not part.last or behind != node:
                    return (PortCount(f"link{node}_back_arrived", "errors"),)
                own = PortCount(f"share{place + 1}_dp", "delta_out")
                return (own, *self._passed(place + 1, "back_arrived", "deltas"))
        raise ValueError(f"{engine.name} has no port {port}")

    def _maps(self, place: int) -> tuple[PortCount, ...]:
        """Count the input maps that a share keeps: the arriving words minus the forwarded words."""
        share, front = self.shares[place - 1], self.shares[place - 2]
        whole = PortCount(f"share{place - 1}_fp", "map_out")
        if front.node != share.node:
            whole = PortCount(f"link{front.node + 1}_on_arrived", "maps")
        return (whole, *self._passed(place, sign=-1))

    def _passed(
        self, place: int, way: str = "on_sent", stream: str = "maps", sign: int = 1
    ) -> tuple[PortCount, ...]:
        """Count the words over the link behind a share whose layer continues there.

        The result is empty for other shares. The words are input maps of the layer, or their
        deltas.
        """
        share = self.shares[place - 1]
        if share.part.last:
            return ()
        return (PortCount(f"link{share.node + 1}_{way}", stream, sign),)

    def _given(self, place: int, front: int) -> tuple[PortCount, ...]:
        """Count the deltas that a share sends forward, minus the deltas of the shares behind it."""
        share = self.shares[place - 1]
        others = self._passed(place, "back_arrived", "deltas", -1)
        if not share.part.first:
            return (PortCount(f"link{front}_back_sent", "deltas"), *others)
        if front == share.node + 1:
            return (PortCount(f"share{place - 1}_ku", "delta_in"), *others)
        return (PortCount(f"link{front}_back_sent", "errors"), *others)

    def top(self, array: str = "rtl") -> Top:
        """The block, with its own signals.

        Raises:
            ValueError: ``array`` is not a kind of array.
        """
        design = self.design
        registers: dict[str, Any] = {
            "admission": AdmissionConfig(design.nodes[0]),
            "link": LinkConfig(design.link),
        }
        for place, share in enumerate(design.shares, 1):
            if not share.last:
                registers[f"share{place}"] = Bundles({"share": ShareConfig(share)})
        status = ClusterStatus(design, self.rule.momentum)
        return Top(chain, top_args(self, registers, status), array, described)

    def board(self, place: int, array: str = "rtl") -> Top:
        """One board of the chain, the place counted from 0, with its own signals.

        Raises:
            ValueError: ``array`` is not a kind of array.
        """
        ports = board_ports(self.design, place, self.top(array).interface)
        return Top.of(board, ports, {"design": self.design, "place": place}, array, described)
