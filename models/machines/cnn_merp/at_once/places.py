"""Networks whose engines can all run concurrently: layers, images in flight, stores."""

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
from merp.models.network.branches import receiver
from merp.models.network.machine import Option
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import COMBINED

BYTE = 8

DEPTH = 4
"""Default number of images in flight for which stores are sized."""

DEPTH_OPTION = Option(1, 256, DEPTH)
"""Largest number of images in flight."""

JOINT = CREDIT_RETURN + 1
"""Words of a FIFO in front of an engine without back-pressure: one word passes per cycle."""


def state_room(shape: Shape, depth: int) -> int:
    """Return the bytes of a store for the masks of ``depth`` images of a layer, also without a
    mask.
    """
    fields = depth * state_fields(shape, shape.m)
    return max(state_bytes(fields, state_field_bits(shape)) + 1, JOINT)


def check_depth(network: Network, images: int, depth: int) -> None:
    """Check that no image waits for a later image that cannot enter before the first is done.

    An image waits for later images in two cases:

    - Fields of the ReLU/pooling mask follow each other without gaps. If an image does not have
      whole bytes, its last byte is complete only with the mask of the next images.
    - If two positions are interleaved, the last of an odd number of positions is interleaved with
      the first of the next image.

    An image may wait in each of these places, and the later image in the places in front of it.
    Therefore the images ahead are summed over the places.

    Raises:
        BadInput: with this number of images in flight, the pipeline may deadlock.
    """
    waits = [each for layer in network.layers for each in _waits(network, layer)]
    needed = 1 + sum(ahead for ahead, _ in waits)
    if depth < min(needed, images):
        places = ", ".join(what for ahead, what in waits if ahead)
        raise BadInput(
            f"{given('depth', depth)}: images wait for later ones, which must be in flight: of "
            f"{places}: allowed are {min(needed, images)} or more"
        )


def _waits(network: Network, layer: Layer) -> Iterator[tuple[int, str]]:
    """Yield the number of later images that an image waits for, and the data that waits."""
    shape = layer.shape
    if layer is not network.layers[-1]:
        bits = state_fields(shape, shape.m) * state_field_bits(shape)
        ahead = ceil((BYTE - 1) / bits) if bits % BYTE else 0
        yield ahead, f"{layer.name} {bits} bits of state"
    engines = {"sums": (design_of(network, layer), shape.out_rows * shape.out_columns)}
    if receiver(network, layer) is not None:
        engines["deltas"] = (delta_design(network, layer).engine, shape.rows * shape.columns)
    for what, (engine, positions) in engines.items():
        yield positions % engine.p, f"{layer.name} {positions} positions of {what}"


def _in_front(network: Network, layer: Layer) -> str | None:
    """Return the name of the layer in front of a layer in the file."""
    place = network.layers.index(layer)
    return network.layers[place - 1].name if place else None


def check_place(network: Network, layer: Layer) -> None:
    """Refuse a layer that a pipeline does not support.

    Raises:
        BadInput: the layer is not supported; the message gives the layer and the allowed layers.
    """
    where = f"{network.name}: layer {layer.name}"
    design, shape = design_of(network, layer), layer.shape
    last = layer is network.layers[-1]
    refused = {
        "it adds the output of another layer": layer.add is not None,
        "it takes the output of layers that are not in front of it": layer.input is not None
        and layer.input != _in_front(network, layer),
        f"it has {layer.groups} groups": layer.groups > 1,
        "it is frozen": not layer.trainable,
        "the network fuses layers": bool(network.layer_fusion),
        "the network goes back in one pass": network.backward == COMBINED,
        f"map_port is {design.map_port}": design.map_port > 1,
        f"kernel_port is {design.kernel_port}": design.kernel_port > 1,
        "it is the last and has ReLU or pooling": last and (shape.relu or shape.pool is not None),
    }
    for what, found in refused.items():
        if found:
            raise BadInput(
                f"{where}: {what}: a pipeline does not support it: allowed are unfused chains of "
                "trainable layers, one group each, with separate backward passes. Ports have one "
                "element; the last layer has no ReLU or pooling"
            )
