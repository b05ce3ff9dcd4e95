"""Registers and status of a chain of nodes, and the streams between two boards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import BYTE, AxiStream, Bundles, bits, flag
from merp.hdl.base.status import STATUS_WIDTH
from merp.hdl.cnn_merp.ports.slice_ports import SliceCounters
from merp.models.base.register_map import FLAGS
from merp.models.machines.cnn_merp.params.cluster_design import (
    ClusterDesign,
    LinkDesign,
    NodeDesign,
    ShareDesign,
)
from merp.models.machines.cnn_merp.params.cluster_registers import LINK, SHARE


class ShareConfig(RegisterBundle):
    """Run-time registers for the split of a layer, from ``SHARE``."""

    def __init__(self, design: ShareDesign) -> None:
        super().__init__(SHARE, design)


class LinkConfig(RegisterBundle):
    """Run-time registers of all links, from ``LINK``."""

    def __init__(self, design: LinkDesign) -> None:
        super().__init__(LINK, design)


def forward_streams(share: ShareDesign) -> dict[str, int]:
    """Return name and width of the streams from a share to the next node, in order.

    If the layer continues there, ``maps`` are the inputs of the shares behind, and ``sums`` are
    their start values. Otherwise ``maps`` are the output of the layer.
    """
    design = share.engines.forward
    if share.last:
        return {"maps": design.stored("maps").width}
    return {"maps": design.stored_input.width, "sums": design.partial_width}


def backward_streams(share: ShareDesign) -> dict[str, int]:
    """Return name and width of the streams from the next node to a share, in order.

    ``errors`` are deltas of the output of its layer. If the layer continues there, ``states`` are
    the ReLU/pooling masks that expand these deltas, and ``deltas`` belong to the inputs of the
    shares behind.
    """
    width = share.engines.forward.stored("deltas").width
    if share.last:
        return {"errors": width}
    return {"errors": width, "states": BYTE, "deltas": width}


def axis(streams: Mapping[str, int]) -> Bundles:
    """Make streams under a common name."""
    return Bundles({name: AxiStream(width) for name, width in streams.items()})


def axis_like(streams: Bundles) -> Bundles:
    """Make streams with the names and widths of others."""
    return axis({name: len(each.tdata) for name, each in vars(streams).items()})


def payload_bits(streams: Bundles) -> int:
    """Return the bits of the widest of several streams."""
    return max(len(each.tdata) for each in vars(streams).values())


class Lanes(Bundles):
    """The lanes of a link in a cycle.

    there  a word is on the lanes
    flit   the word, preceded by its last and by the number of its stream
    """

    def __init__(self, streams: Bundles) -> None:
        number = max(1, (len(vars(streams)) - 1).bit_length())
        super().__init__({"there": flag(), "flit": bits(payload_bits(streams) + 1 + number)})


def counts(streams: Mapping[str, int]) -> Bundles:
    """Make a word counter for each stream."""
    return Bundles({name: bits(STATUS_WIDTH) for name in streams})


class ClusterStatus(Bundles):
    """Status of a chain: flags, number of images, and the counters of every share and link.

    busy           out  a run of an engine is in progress
    done           out  every engine is done; until the next start
    framing_error  out  the last of an input was early or late; until the next start
    flight         out  number of images in the chain
    flight_peak    out  the largest number of images in the chain, since start
    """

    def __init__(self, design: ClusterDesign, momentum: bool = False) -> None:
        super().__init__({name: flag() for name in FLAGS})
        self.flight, self.flight_peak = bits(STATUS_WIDTH), bits(STATUS_WIDTH)
        for place, share in enumerate(design.shares, 1):
            setattr(self, f"share{place}", SliceCounters(share.engines, momentum))
        for border, node in enumerate(design.nodes[:-1], 1):
            last = node.shares[-1]
            for way, streams in (("on", forward_streams(last)), ("back", backward_streams(last))):
                told = Bundles({"sent": counts(streams), "arrived": counts(streams)})
                setattr(self, f"link{border}_{way}", told)


class NodeStatus(Bundles):
    """Status of a node of a chain: its flags, and its part of the counters of the chain.

    busy           out  a run of an engine is in progress
    done           out  every engine is done; until the next start
    framing_error  out  the last of an input was early or late; until the next start
    """

    def __init__(self, node: NodeDesign, of: ClusterStatus) -> None:
        super().__init__({name: flag() for name in FLAGS})
        if node.begins:
            self.flight, self.flight_peak = of.flight, of.flight_peak
        for name in share_names(node):
            setattr(self, name, getattr(of, name))


def share_names(node: NodeDesign) -> list[str]:
    """Return the names of the shares of a node in the chain."""
    return [f"share{place}" for place in range(node.place, node.place + len(node.shares))]


def beside(bundles: Bundles, **more: Bundles | None) -> Bundles:
    """Combine several bundles with the existing bundles of ``more``."""
    return Bundles({**vars(bundles), **{name: each for name, each in more.items() if each}})


def some_of(bundles: Bundles, names: Iterable[str]) -> Bundles:
    """Select bundles by name."""
    return Bundles({name: getattr(bundles, name) for name in names})
