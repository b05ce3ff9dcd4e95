"""A pipeline of Mazouz and Bridges as hardware: each layer's engines have a separate design.

P(i) parallel filters are P(i) units. A fully connected layer has a unit for each head. The P(i-1)
parallel input maps of the paper are not supported. A stream is one element wide, so engines process
one input map after the other, in more turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.at_once.places import DEPTH, check_place
from merp.models.machines.cnn_merp.params.design import RANGES, EngineDesign
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.pipeline.cycles import pipeline_cycles
from merp.models.machines.cnn_merp.plan.automatic import design_for
from merp.models.network.network import Layer, Network

_CHOSEN: Final = (
    "fmt", "storage", "k", "n_cu", "r", "p", "d", "cu_kind", "ku_kind", "ku_lanes",
)  # fmt: skip


def with_engines(network: Network, elements: Mapping[str, int]) -> Network:
    """Return the network with a design for each layer, named after the layer.

    Args:
        elements: P(i) of each convolution layer, by its name.

    Raises:
        BadInput: a hardware pipeline does not support a layer, a convolution has no elements, or a
            layer is larger than any design can be.
    """
    layers = tuple(replace(layer, design=layer.name) for layer in network.layers)
    bare = replace(network, layers=layers, designs={})
    made = replace(bare, designs={each.name: _design(bare, each, elements) for each in layers})
    for layer in layers:
        check_place(made, layer)
    return made


def _design(network: Network, layer: Layer, elements: Mapping[str, int]) -> EngineDesign:
    if layer.kind == "conv" and layer.name not in elements:
        raise BadInput(
            f"{network.name}: layer {layer.name} is out of scope: a pipeline includes all layers"
        )
    heads = min(layer.shape.m, RANGES["n_cu"][1])
    alone = replace(layer, kind="conv")  # do not fold it onto the design of another layer
    draft = design_for([alone], elements.get(layer.name, heads), network.fmt, network.storage)
    if layer.kind == "fc":
        draft = replace(draft, p=1, d=1)  # two positions would wait for the next image
    return size_design([layer.shape], **{key: getattr(draft, key) for key in _CHOSEN})


class Engines(NamedTuple):
    """Properties of the engines of a pipeline that its equations do not include.

    Attributes:
        cycles: modelled, of a sample, forward and backward, with no other sample in flight.
        at_once: parallel input maps of the paper's elements, for layers whose engines process them
            one after the other.
    """

    cycles: int
    at_once: Mapping[str, int]

    def __str__(self) -> str:
        """Return both as a text for users."""
        said = f"as engines {self.cycles:,} cycles of a sample by their model"
        maps = ", ".join(f"{layer} {count}" for layer, count in self.at_once.items())
        return f"{said}; input maps one after the other, in the paper in parallel: {maps or 'one'}"


def engines_of(network: Network, elements: Mapping[str, int]) -> Engines:
    """Return the properties of the engines of ``network``, which ``with_engines`` made."""
    before, at_once = network.input[2], {}  # channels are streamed in parallel
    for layer in network.layers:
        if before > 1:
            at_once[layer.name] = before
        before = elements.get(layer.name, 1)  # heads are output one after the other
    return Engines(pipeline_cycles(network, 1, DEPTH).total, at_once)
