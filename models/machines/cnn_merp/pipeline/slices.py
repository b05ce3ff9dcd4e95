"""The design of a network as a pipeline: its engines, and the sizes of the stores between them."""

from __future__ import annotations

from dataclasses import replace

from merp.models.machines.cnn_merp.at_once.places import JOINT, check_place, state_room
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.pipeline_design import PipelineDesign, SliceDesign
from merp.models.machines.cnn_merp.params.pipeline_registers import map_words, sum_words
from merp.models.machines.cnn_merp.phases import delta_design, update_design
from merp.models.network.branches import behind
from merp.models.network.network import Layer, Network


def pipeline_design(network: Network, depth: int) -> PipelineDesign:
    """Size a pipeline: every layer's engines, and stores for the images in flight.

    Args:
        network: with a design for every layer.
        depth: largest number of images in flight.

    Raises:
        BadInput: a layer has no design, or a pipeline does not support it.
    """
    for layer in network.layers:
        check_place(network, layer)
    images = min(design_of(network, layer).max_images for layer in network.layers)
    first, last = network.layers[0].shape, network.layers[-1].shape
    return PipelineDesign(
        slices=tuple(_slice(network, layer, depth) for layer in network.layers),
        depth=depth,
        max_images=images,
        max_words=map_words(first),
        max_leaving=sum_words(first),
        max_losses=images * sum_words(last),
    )


def _slice(network: Network, layer: Layer, depth: int) -> SliceDesign:
    last = layer is network.layers[-1]
    forward = replace(design_of(network, layer), state=not last)
    propagation = undone = None
    states = 0
    if layer is not network.layers[0]:
        propagation, undone, _, _ = delta_design(network, layer)
        states = state_room(behind(network, layer).shape, depth)
    return SliceDesign(
        forward=forward,
        update=update_design(network, layer),
        propagation=propagation,
        undone=undone,
        joint=JOINT,
        features=depth * map_words(layer.shape),
        states=states,
    )
