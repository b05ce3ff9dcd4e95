"""Words between the array and DRAM, map rows filled up to atoms and kernels to whole lanes.

Pooling and un-pooling are passes of their own over DRAM, as in the paper's machine, or fused into
the passes that make sums and take deltas. Velocities count where there is momentum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from merp.models.machines.mac_array.geometry import Geometry
from merp.models.machines.mac_array.params.design import Array

PASSES = ("fp", "pool", "upsample", "dp", "ku")
"""In the order of a layer's step, there and back."""

OF_MAPS = ("map_in", "map_out", "delta_in")
OF_VELOCITIES = ("velocity_in", "velocity_out")


@dataclass(frozen=True)
class Words:
    """Of a batch: maps and deltas; kernels with their gradients; velocities."""

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
    """Return the words of one of ``PASSES`` for a batch, by port; none of a pass that there is not.

    ``fused``: pooling at the output, deltas at pooled resolution. ``loss``: the array forms the
    deltas behind the layer's outputs, one by one of the image's class.
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
    found = {
        "fp": images_of(
            images, map_in=inputs, map_out=(1 + loss) * out, kernel_in=parameters, target_in=loss
        ),
        "pool": images_of(images * apart, map_in=sums, map_out=outputs),
        "upsample": images_of(images * apart, map_in=outputs, map_out=sums),
        "dp": images_of(images * layer.propagates, map_in=out, map_out=inputs, kernel_in=kernels),
        "ku": images_of(images, map_in=inputs, delta_in=out)
        | {"gradient_in": between, "gradient_out": between, **updated},
    }[name]
    return {port: count for port, count in found.items() if count}


def images_of(images: int, **words: int) -> dict[str, int]:
    """Words of so many images, given those of one."""
    return {port: images * count for port, count in words.items()}


PASSES_OF = {"fp": ("fp", "pool"), "dp": ("dp",), "ku": ("upsample", "ku")}
"""The array's passes of a phase: FP has pooling behind it, KU un-pooling in front."""


def words(
    layer: Geometry,
    array: Array,
    images: int,
    phase: str,
    *,
    fused: bool = False,
    momentum: bool = False,
) -> Words:
    """Return the words of a phase, of all its ``PASSES_OF``.

    Of none, if the layer has no DP.
    """
    maps = kernels = velocities = 0
    for name in PASSES_OF[phase]:
        found = port_words(layer, array, images, name, fused=fused, momentum=momentum)
        for port, count in found.items():
            if port in OF_MAPS:
                maps += count
            elif port in OF_VELOCITIES:
                velocities += count
            else:
                kernels += count
    return Words(maps, kernels, velocities)
