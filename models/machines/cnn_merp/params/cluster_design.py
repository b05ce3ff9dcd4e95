"""A chain of nodes: shares of layers on boards, and the links between these (a bitstream each)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from merp.models.machines.cnn_merp.params.pipeline_design import EntranceDesign, SliceDesign


@dataclass(frozen=True, kw_only=True)
class LinkDesign:
    """Elaboration of a link.

    Attributes:
        latency: cycles from a word at one end to the same at the other. places: of each stream's
            FIFO at the far end. max_pace: cycles that a word takes at most.
    """

    latency: int
    places: int
    max_pace: int


@dataclass(frozen=True, kw_only=True)
class ShareDesign:
    """Elaboration of a share of a layer's input maps.

    Attributes:
        engines: and stores. first, last: no share of the layer is in front of it, none behind.
        max_maps: words of a position of the layer's input, at most. max_positions: of a run.
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
        shares: of different layers, in order: the first may be begun on the node in front, the
            last be continued on the one behind.
        place: of the first of them in the chain, from 1. begins, ends: no node is in front of this
            one, none behind.
    """

    shares: tuple[ShareDesign, ...]
    place: int
    begins: bool
    ends: bool


@dataclass(frozen=True, kw_only=True)
class ClusterDesign:
    """Elaboration of a chain: its nodes in order, and what all links between them are."""

    nodes: tuple[NodeDesign, ...]
    link: LinkDesign

    @cached_property
    def shares(self) -> tuple[ShareDesign, ...]:
        """All of the chain, in order."""
        return tuple(share for node in self.nodes for share in node.shares)
