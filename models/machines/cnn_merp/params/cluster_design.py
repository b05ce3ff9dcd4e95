"""A chain of nodes: shares of layers on boards, and the links between the boards (one bitstream
each).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from merp.models.machines.cnn_merp.params.pipeline_design import EntranceDesign, SliceDesign


@dataclass(frozen=True, kw_only=True)
class LinkDesign:
    """Elaboration of a link.

    Attributes:
        latency: cycles from a word at one end to the same word at the other end.
        places: of each stream's FIFO at the far end.
        max_pace: largest number of cycles of a word.
    """

    latency: int
    places: int
    max_pace: int


@dataclass(frozen=True, kw_only=True)
class ShareDesign:
    """Elaboration of a share of a layer's input maps.

    Attributes:
        engines: engines and stores.
        first, last: whether it is the first or the last share of the layer.
        max_maps: largest number of words of a position of the layer's input.
        max_positions: largest number of positions of a run.
    """

    engines: SliceDesign
    first: bool
    last: bool
    max_maps: int
    max_positions: int


@dataclass(frozen=True, kw_only=True)
class NodeDesign(EntranceDesign):
    """Elaboration of a node.

    Attributes:
        shares: of different layers, in order. The first layer may have shares on the node in front,
            the last layer on the node behind.
        place: of the first of them in the chain, from 1.
        begins, ends: whether this is the first or the last node.
    """

    shares: tuple[ShareDesign, ...]
    place: int
    begins: bool
    ends: bool


@dataclass(frozen=True, kw_only=True)
class ClusterDesign:
    """Elaboration of a chain: its nodes in order, and the parameters of all links between them."""

    nodes: tuple[NodeDesign, ...]
    link: LinkDesign

    @cached_property
    def shares(self) -> tuple[ShareDesign, ...]:
        """All shares of the chain, in order."""
        return tuple(share for node in self.nodes for share in node.shares)
