"""Passes of a network's layers on their designs; the fractions of tensors determine the shifts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from merp.models.base.errors import BadInput
from merp.models.base.shape import Shape
from merp.models.machines.mac_array.geometry import taken
from merp.models.machines.mac_array.params.array_pass import ArrayPass, array_pass, limit_of
from merp.models.machines.mac_array.params.design import LOSSES, ArrayDesign
from merp.models.machines.mac_array.params.window import Size, as_window, largest_window
from merp.models.network.branches import previous, receiver
from merp.models.network.network import Layer, Network
from merp.models.network.phases import DP


@dataclass(frozen=True, kw_only=True)
class Registers:
    """Registers of an update's passes that the network does not define.

    Attributes:
        rate, exponent: mantissa and exponent of the learning rate divided by the batch size.
        momentum: in units of 1/65536; with None, no velocities are read or written.
        seed: of the random bits; with None, new kernels are rounded to nearest.
    """

    rate: int
    exponent: int
    momentum: int | None = None
    seed: int | None = None


def design_of(network: Network, layer: Layer) -> ArrayDesign:
    """Return the design of the array that runs a layer.

    Raises:
        BadInput: the layer has no design, or a design of another architecture.
    """
    design = network.design(layer)
    if not isinstance(design, ArrayDesign):
        raise BadInput(f"{network.name}: layer {layer.name}: allowed here is a design of mac-array")
    return design


def fraction_in(network: Network, layer: Layer) -> int:
    """Return the number of fraction bits of a layer's input maps."""
    fmt, front = network.fixed, previous(network, layer)
    return fmt.input if front is None else fmt.of(front.name).map


def sized(network: Network, layer: Layer, phase: str = "fp", *, fused: bool = True) -> ArrayPass:
    """Return a phase of a layer by its sizes; registers that depend on number formats are unset."""
    design, front = design_of(network, layer), previous(network, layer)
    largest = largest_window(design.max_kernel, design.reach)
    relu = (front if phase == "dp" and front is not None else layer).shape.relu
    return _sized(layer.shape, taken(network, layer), largest, phase, relu, fused)


@lru_cache(maxsize=256)
def _sized(
    shape: Shape, size: Size, largest: int, phase: str, relu: bool, fused: bool
) -> ArrayPass:
    """Return the same for a shape and its input size; cached, because training calls it often."""
    return replace(array_pass(as_window(shape, size, largest), phase), relu=relu, fused=fused)


def bases(network: Network) -> dict[str, tuple[int, int]]:
    """Return by layer the first atom of its masks and the first atom of its pooling indices.

    Layers without ReLU have no masks, and layers without pooling have no indices.
    """
    found, mask, index = {}, 0, 0
    for layer in network.layers:
        of, design = sized(network, layer), design_of(network, layer)
        found[layer.name] = mask, index
        mask += of.output_atoms(design) if of.relu else 0
        index += of.output_atoms(design) if of.pool > 1 else 0
    return found


def forward_pass(
    network: Network, layer: Layer, loss: str | None = None, *, fused: bool = True
) -> ArrayPass:
    """Return FP of a layer.

    ``loss`` is the loss whose deltas follow the outputs, if the array calculates them.
    """
    numbers = network.fixed.of(layer.name)
    fraction = fraction_in(network, layer)
    mask, index = bases(network)[layer.name]
    return replace(
        sized(network, layer, fused=fused),
        shift=fraction + numbers.kernel - numbers.map,
        bias_shift=fraction,
        loss=loss if loss in LOSSES else None,
        one_shift=numbers.map,
        loss_shift=numbers.map - numbers.delta,
        mask_base=mask,
        index_base=index,
        limit=limit_of(layer.shape, numbers.map),
    )


def delta_pass(network: Network, layer: Layer, *, fused: bool = True) -> ArrayPass:
    """Return DP of a layer.

    Raises:
        BadInput: the layer has no DP, such as the first one.
    """
    front = receiver(network, layer)
    if front is None:
        raise BadInput(DP.lacks(network, layer))
    numbers, before = network.fixed.of(layer.name), network.fixed.of(front.name)
    places = bases(network)
    return replace(
        sized(network, layer, "dp", fused=fused),
        shift=numbers.delta + numbers.kernel - before.delta,
        mask_base=places[front.name][0],
        index_base=places[layer.name][1],
    )


def update_pass(
    network: Network,
    layer: Layer,
    registers: Registers,
    *,
    first: bool = True,
    last: bool = True,
    fused: bool = True,
) -> ArrayPass:
    """Return KU of a layer for one image.

    Raises:
        ValueError: the learning rate needs a shift out of range.
    """
    fmt = network.fixed
    numbers, fraction = fmt.of(layer.name), fraction_in(network, layer)
    return replace(
        sized(network, layer, "ku", fused=fused),
        shift=fraction + numbers.delta - numbers.gradient,
        bias_shift=numbers.delta - numbers.gradient,
        first=first,
        last=last,
        velocity_shift=numbers.gradient - numbers.velocity,
        update_shift=registers.exponent + numbers.velocity - numbers.kernel,
        rate=registers.rate,
        momentum=registers.momentum or 0,
        has_momentum=registers.momentum is not None,
        stochastic=registers.seed is not None,
        seed=registers.seed or 0,
        index_base=bases(network)[layer.name][1],
    )
