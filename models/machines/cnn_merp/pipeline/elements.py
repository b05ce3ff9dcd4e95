"""A pipeline of Mazouz and Bridges as hardware: a design of its own for each layer's engines.

P(i) filters at a time are P(i) units, and a fully connected layer has a unit for each head. The
P(i-1) input maps at a time of the paper are not there: a stream is an element wide, so that engines
take one input map after the other, in more turns.
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
    """Return the network with a design for each layer, called as the layer is.

    Args:
        elements: P(i) of each convolution layer, by its name.

    Raises:
        BadInput: a pipeline in hardware has no place for a layer, a convolution has no elements, or
            a layer is larger than any design can be.
    """
    layers = tuple(replace(layer, design=layer.name) for layer in network.layers)
    bare = replace(network, layers=layers, designs={})
    made = replace(bare, designs={each.name: _design(bare, each, elements) for each in layers})
    for layer in layers:
        check_place(made, layer)
    return made


def _design(network: Network, layer: Layer, elements: Mapping[str, int]) -> EngineDesign:
    if layer.kind == "conv" and layer.name not in elements:
        raise BadInput(f"{network.name}: layer {layer.name} is out of scope: a pipeline has all")
    heads = min(layer.shape.m, RANGES["n_cu"][1])
    alone = replace(layer, kind="conv")  # folded onto no other's design
    draft = design_for([alone], elements.get(layer.name, heads), network.fmt, network.storage)
    if layer.kind == "fc":
        draft = replace(draft, p=1, d=1)  # its one position would wait for the next image's
    return size_design([layer.shape], **{key: getattr(draft, key) for key in _CHOSEN})


class Engines(NamedTuple):
    """What the engines of a pipeline do that its equations do not say.

    Attributes:
        cycles: modelled, of a sample, forward and back; no other sample is on its way.
        at_once: input maps that the paper's elements take at a time, of layers whose engines take
            one after the other.
    """

    cycles: int
    at_once: Mapping[str, int]

    def __str__(self) -> str:
        """Both, as people say it."""
        said = f"as engines {self.cycles:,} cycles of a sample by their model"
        maps = ", ".join(f"{layer} {count}" for layer, count in self.at_once.items())
        return f"{said}; input maps one after the other, at a time in the paper: {maps or 'one'}"


def engines_of(network: Network, elements: Mapping[str, int]) -> Engines:
    """Return what the engines of ``network`` do, which ``with_engines`` made."""
    before, at_once = network.input[2], {}  # channels stream in all at once
    for layer in network.layers:
        if before > 1:
            at_once[layer.name] = before
        before = elements.get(layer.name, 1)  # heads are there one after the other
    return Engines(pipeline_cycles(network, 1, DEPTH).total, at_once)
