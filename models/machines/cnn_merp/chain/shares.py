"""The design of a network on a chain of nodes: shares of layers, their engines, and the links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from merp.models.base.input_part import InputPart
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.at_once.places import JOINT, check_place, state_room
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.cluster_design import (
    ClusterDesign,
    LinkDesign,
    NodeDesign,
    ShareDesign,
)
from merp.models.machines.cnn_merp.params.pipeline_design import SliceDesign
from merp.models.machines.cnn_merp.params.pipeline_registers import map_words, output_words
from merp.models.machines.cnn_merp.phases import delta_design, update_design, update_unpool_design
from merp.models.network.network import Layer, Network

LATENCY = 8
"""Cycles of a link if all boards have one clock: the latency of the trials."""

MAX_PACE = 64
"""Largest number of cycles of a word on a link."""


@dataclass(frozen=True)
class Share:
    """A node's share of a layer: a range of its input maps, in all phases.

    Attributes:
        node: of the chain, from 0.
        layer: the layer.
        begin, end: the range of input maps; ``end`` is not included.
    """

    node: int
    layer: Layer
    begin: int
    end: int

    @property
    def part(self) -> InputPart:
        """The share's part of the layer's input maps."""
        return InputPart(first=self.begin == 0, last=self.end == self.layer.shape.n)

    @property
    def whole(self) -> bool:
        """Whether the share is the whole layer."""
        return self.part.first and self.part.last

    @property
    def shape(self) -> Shape:
        """Shape of its part of the layer."""
        return replace(self.layer.shape, n=self.end - self.begin)

    @property
    def maps(self) -> slice:
        """Its input maps."""
        return slice(self.begin, self.end)


def cluster_design(network: Network, shares: Sequence[Share], depth: int) -> ClusterDesign:
    """Size a chain: every share's engines, and stores for the images in flight.

    Args:
        network: with a design for every layer.
        shares: in the order of the chain.
        depth: largest number of images in flight.

    Raises:
        BadInput: a layer has no design, or a chain does not support the layer.
    """
    for layer in network.layers:
        check_place(network, layer)
    images = min(design_of(network, layer).max_images for layer in network.layers)
    first, last = network.layers[0].shape, network.layers[-1].shape
    designs = [_share(network, share, depth, images) for share in shares]
    count = shares[-1].node + 1
    nodes = []
    for node in range(count):
        own = [place for place, share in enumerate(shares) if share.node == node]
        nodes.append(
            NodeDesign(
                shares=tuple(designs[place] for place in own),
                place=own[0] + 1,
                begins=node == 0,
                ends=node == count - 1,
                depth=depth,
                max_images=images,
                max_words=map_words(first),
                max_leaving=output_words(first),
                max_losses=images * output_words(last),
            )
        )
    link = LinkDesign(latency=LATENCY, places=2 * LATENCY + CREDIT_RETURN, max_pace=MAX_PACE)
    return ClusterDesign(nodes=tuple(nodes), link=link)


def _share(network: Network, share: Share, depth: int, images: int) -> ShareDesign:
    layer, shape = share.layer, share.shape
    forward = replace(design_of(network, layer), state=share.part.last, partial=not share.whole)
    propagation = undone = None
    if layer is not network.layers[0]:
        propagation, undone, _, _ = delta_design(network, layer, before=True)
        propagation = replace(propagation, partial=False)  # all deltas arrive in one part
    return ShareDesign(
        engines=SliceDesign(
            forward=forward,
            update=replace(update_design(network, layer), partial=not share.whole),
            propagation=propagation,
            undone=undone,
            joint=JOINT,
            features=depth * map_words(shape),
            states=state_room(layer.shape, depth),
            expanded=update_unpool_design(network, layer),
        ),
        first=share.part.first,
        last=share.part.last,
        max_maps=layer.shape.n,
        max_positions=images * layer.shape.rows * layer.shape.columns,
    )
