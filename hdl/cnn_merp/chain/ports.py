"""What a chain of nodes is told and tells, and the streams that cross a border."""

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
    """Run-time registers of where a layer is cut, those of ``SHARE``."""

    def __init__(self, design: ShareDesign) -> None:
        super().__init__(SHARE, design)


class LinkConfig(RegisterBundle):
    """Run-time registers of all links, those of ``LINK``."""

    def __init__(self, design: LinkDesign) -> None:
        super().__init__(LINK, design)


def forward_streams(share: ShareDesign) -> dict[str, int]:
    """Streams, with their widths, from a share to the next node, in the order in which they go.

    Of a layer that goes on there, ``maps`` are the inputs of the shares behind, and ``sums`` what
    those start at; else ``maps`` are its output.
    """
    design = share.engines.forward
    if share.last:
        return {"maps": design.stored("maps").width}
    return {"maps": design.stored_input.width, "sums": design.partial_width}


def backward_streams(share: ShareDesign) -> dict[str, int]:
    """Streams, with their widths, from the next node to a share, in the order in which they go.

    ``errors`` are deltas of its layer's output; of a layer that goes on there, ``states`` are what
    expands them, and ``deltas`` those of the inputs of the shares behind.
    """
    width = share.engines.forward.stored("deltas").width
    if share.last:
        return {"errors": width}
    return {"errors": width, "states": BYTE, "deltas": width}


def axis(streams: Mapping[str, int]) -> Bundles:
    """Streams under a common name."""
    return Bundles({name: AxiStream(width) for name, width in streams.items()})


def axis_like(streams: Bundles) -> Bundles:
    """As many streams, as wide and called the same."""
    return axis({name: len(each.tdata) for name, each in vars(streams).items()})


def payload_bits(streams: Bundles) -> int:
    """Bits of the widest of several streams."""
    return max(len(each.tdata) for each in vars(streams).values())


class Lanes(Bundles):
    """What of several streams is on the lanes of a link in a cycle.

    there  a word is on them
    flit   the word; in front of it, whether it is the last of its stream, and the number of that
    """

    def __init__(self, streams: Bundles) -> None:
        number = max(1, (len(vars(streams)) - 1).bit_length())
        super().__init__({"there": flag(), "flit": bits(payload_bits(streams) + 1 + number)})


def counts(streams: Mapping[str, int]) -> Bundles:
    """A count of the words of each."""
    return Bundles({name: bits(STATUS_WIDTH) for name in streams})


class ClusterStatus(Bundles):
    """Status of a chain: flags, images on their way, the counters of every share and link.

    busy           out  an engine's run is under way
    done           out  every engine is done; until the next start
    framing_error  out  an input's last came early or late; until the next start
    flight         out  images on their way
    flight_peak    out  how many there were at most, since start
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
    """Status of a node of a chain: flags of its own, and what of the chain's counters is its own.

    busy           out  an engine's run is under way
    done           out  every engine is done; until the next start
    framing_error  out  an input's last came early or late; until the next start
    """

    def __init__(self, node: NodeDesign, of: ClusterStatus) -> None:
        super().__init__({name: flag() for name in FLAGS})
        if node.begins:
            self.flight, self.flight_peak = of.flight, of.flight_peak
        for name in share_names(node):
            setattr(self, name, getattr(of, name))


def share_names(node: NodeDesign) -> list[str]:
    """What the shares of a node are called in the chain."""
    return [f"share{place}" for place in range(node.place, node.place + len(node.shares))]


def beside(bundles: Bundles, **more: Bundles | None) -> Bundles:
    """Several bundles, and those of ``more`` that there are."""
    return Bundles({**vars(bundles), **{name: each for name, each in more.items() if each}})


def some_of(bundles: Bundles, names: Iterable[str]) -> Bundles:
    """Those of several bundles that are called so."""
    return Bundles({name: getattr(bundles, name) for name in names})
