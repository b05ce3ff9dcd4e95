"""Count the words between the array and DRAM.

The rows of maps are padded to whole atoms, and the kernels to whole lanes. Pooling and un-pooling
are separate passes over DRAM, as in the paper's machine. Alternatively, they are fused into the
passes that produce sums and consume deltas. Velocities are counted if there is momentum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from merp.models.machines.mac_array.geometry import Geometry, expanding_phase
from merp.models.machines.mac_array.params.design import Array

PASSES = ("fp", "pool", "upsample", "dp", "ku")
"""The passes of a layer's training step, in order: forward, then backward."""

OF_MAPS = ("map_in", "map_out", "delta_in")
OF_VELOCITIES = ("velocity_in", "velocity_out")


@dataclass(frozen=True)
class Words:
    """Words of a batch.

    Attributes:
        maps: maps and deltas.
        kernels: kernels and their gradients.
        velocities: velocities of the momentum.
    """

    maps: int
    kernels: int
    velocities: int = 0


def port_words(
    layer: Geometry,
    array: Array,
    images: int,
    name: str,
    *,
    fused: bool = False,
    momentum: bool = False,
    loss: bool = False,
) -> Mapping[str, int]:
    """Return the words of one of ``PASSES`` for a batch, by port.

    The result is empty for a pass that the layer does not have.

    Args:
        layer: the layer.
        array: the array.
        images: images of the batch.
        name: one of ``PASSES``.
        fused: pooling is done at the output, and deltas have the pooled resolution.
        momentum: velocities are read and written.
        loss: the array calculates the deltas of the loss after the layer's outputs. It reads one
            target word per image, the class.
    """
    inputs = layer.groups * layer.n * layer.rows * array.pox * array.column_blocks(layer.columns)
    sums = layer.groups * layer.m * layer.out_rows
    sums *= array.pox * array.column_blocks(layer.out_columns)
    outputs = layer.groups * layer.m * layer.pooled_rows
    outputs *= array.pox * array.column_blocks(layer.pooled_columns)
    biases = layer.groups * array.pof * array.map_tiles(layer.m)
    kernels = biases * layer.n * layer.k**2
    parameters, out = kernels + biases, outputs if fused else sums
    apart = layer.pooled and not fused
    updated = {"kernel_in": parameters, "kernel_out": parameters}
    updated |= dict.fromkeys(OF_VELOCITIES, parameters) if momentum else {}
    between = (images - 1) * parameters  # the first image reads none, the last one writes none
    unpooled = images * apart * (layer.propagates or layer.updates)
    found = {
        "fp": images_of(
            images, map_in=inputs, map_out=(1 + loss) * out, kernel_in=parameters, target_in=loss
        ),
        "pool": images_of(images * apart, map_in=sums, map_out=outputs),
        "upsample": images_of(unpooled, map_in=outputs, map_out=sums),
        "dp": images_of(images * layer.propagates, map_in=out, map_out=inputs, kernel_in=kernels),
        "ku": images_of(images, map_in=inputs, delta_in=out)
        | {"gradient_in": between, "gradient_out": between, **updated}
        if layer.updates
        else {},
    }[name]
    return {port: count for port, count in found.items() if count}


def images_of(images: int, **words: int) -> dict[str, int]:
    """Multiply the words of one image by the number of images."""
    return {port: images * count for port, count in words.items()}


def passes_of(layer: Geometry, phase: str) -> tuple[str, ...]:
    """Return the array's passes of a phase: pooling follows FP, and un-pooling precedes KU.

    In a frozen layer, un-pooling precedes DP.
    """
    if phase == "fp":
        return "fp", "pool"
    return ("upsample", phase) if phase == expanding_phase(layer.updates) else (phase,)


def words(
    layer: Geometry,
    array: Array,
    images: int,
    phase: str,
    *,
    fused: bool = False,
    momentum: bool = False,
) -> Words:
    """Return the words of a phase: the sum over its passes (``passes_of``).

    It is 0 if the layer does not have the phase.
    """
    maps = kernels = velocities = 0
    for name in passes_of(layer, phase):
        found = port_words(layer, array, images, name, fused=fused, momentum=momentum)
        for port, count in found.items():
            if port in OF_MAPS:
                maps += count
            elif port in OF_VELOCITIES:
                velocities += count
            else:
                kernels += count
    return Words(maps, kernels, velocities)
