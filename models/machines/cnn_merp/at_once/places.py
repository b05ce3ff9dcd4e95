"""Networks whose engines can all run at once: layers, images on their way, stores."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.base.shape import Shape
from merp.models.base.state_field import state_bytes, state_field_bits, state_fields
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.phases import delta_design
from merp.models.network.machine import Option
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED

BYTE = 8

DEPTH = 4
"""Images on their way: those that stores are made for, unless more are asked for."""

DEPTH_OPTION = Option(1, 256, DEPTH)
"""Images on their way at most."""

JOINT = CREDIT_RETURN + 1
"""Words of a FIFO in front of an engine that takes them as they come: a word passes per cycle."""


def state_room(shape: Shape, depth: int) -> int:
    """Bytes of a store of the state of so many images of a layer; also where there is no state."""
    fields = depth * state_fields(shape, shape.m)
    return max(state_bytes(fields, state_field_bits(shape)) + 1, JOINT)


def check_depth(network: Network, images: int, depth: int) -> None:
    """Check that no image waits for one that cannot come in before it is done.

    Fields of state follow each other without gaps: of an image that has no whole number of bytes
    the last byte comes with the state of the next ones. And where two positions take turns, the
    last of an odd number of them takes turns with the first of the next image. On its way an image
    may wait in each of these places, and the one that it waits for in the places in front of it: so
    images ahead are counted place by place.

    Raises:
        BadInput: so few images on their way may wait for ever.
    """
    waits = [each for layer in network.layers for each in _waits(network, layer)]
    needed = 1 + sum(ahead for ahead, _ in waits)
    if depth < min(needed, images):
        places = ", ".join(what for ahead, what in waits if ahead)
        raise BadInput(
            f"{given('depth', depth)}: images wait for later ones, which must be on their way: of "
            f"{places}: allowed are {min(needed, images)} or more"
        )


def _waits(network: Network, layer: Layer) -> Iterator[tuple[int, str]]:
    """Images ahead of which something must have come, and what of an image waits for it."""
    shape = layer.shape
    if layer is not network.layers[-1]:
        bits = state_fields(shape, shape.m) * state_field_bits(shape)
        ahead = ceil((BYTE - 1) / bits) if bits % BYTE else 0
        yield ahead, f"{layer.name} {bits} bits of state"
    engines = {"sums": (design_of(network, layer), shape.out_rows * shape.out_columns)}
    if layer is not network.layers[0]:
        engines["deltas"] = (delta_design(network, layer).engine, shape.rows * shape.columns)
    for what, (engine, positions) in engines.items():
        yield positions % engine.p, f"{layer.name} {positions} positions of {what}"


def check_place(network: Network, layer: Layer) -> None:
    """Refuse what a pipeline has no place for.

    Raises:
        BadInput: names the layer and what is allowed.
    """
    where = f"{network.name}: layer {layer.name}"
    design, shape = design_of(network, layer), layer.shape
    last = layer is network.layers[-1]
    refused = {
        "it adds the output of another layer": layer.add is not None,
        f"it has {layer.groups} groups": layer.groups > 1,
        "the network fuses layers": bool(network.layer_fusion),
        "the network goes back in one pass": network.backward == COMBINED,
        f"map_port is {design.map_port}": design.map_port > 1,
        f"kernel_port is {design.kernel_port}": design.kernel_port > 1,
        "it is the last and has ReLU or pooling": last and (shape.relu or shape.pool is not None),
    }
    for what, found in refused.items():
        if found:
            raise BadInput(
                f"{where}: {what}: a pipeline has no place for it: allowed are plain chains of "
                "layers, none of them fused, one group each, separate passes back, ports of one "
                "element, and a last layer without ReLU and pooling"
            )
