"""Words between the array and DRAM, map rows filled up to atoms and kernels to whole lanes.

Pooling and un-pooling are passes of their own over DRAM, as in the paper's machine, or fused.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.mac_array.geometry import Geometry
from merp.models.rtl_compiler.slots import PIXELS


@dataclass(frozen=True)
class Words:
    """Of a batch: maps and deltas; kernels with their gradients. Velocities are left out."""

    maps: int
    kernels: int


def words(layer: Geometry, maps: int, images: int, phase: str, *, fused: bool = False) -> Words:
    """Return the words of ``phase`` with ``maps`` output maps at once; of none, if it has no DP.

    ``fused``: pooling at the output, deltas at pooled resolution.
    """
    inputs = layer.groups * layer.n * layer.rows * _filled(layer.columns, PIXELS)
    sums = layer.groups * layer.m * layer.out_rows * _filled(layer.out_columns, PIXELS)
    outputs = layer.groups * layer.m * layer.pooled_rows * _filled(layer.pooled_columns, PIXELS)
    deltas = outputs if fused else sums
    lanes = layer.groups * _filled(layer.m, maps)
    kernels, biases = lanes * layer.n * layer.k**2, lanes
    apart = 0 if fused or not layer.pooled else sums + outputs
    if phase == "fp":
        out = outputs if fused else sums
        return Words(images * (inputs + out + apart), images * (kernels + biases))
    if phase == "dp":
        if not layer.propagates:
            return Words(0, 0)
        return Words(images * (deltas + inputs), images * kernels)
    gradients = 2 * (images - 1) + 2  # in but for the first image, out but for the last; old, new
    return Words(images * (inputs + deltas + apart), gradients * (kernels + biases))


def _filled(count: int, at_once: int) -> int:
    return -(-count // at_once) * at_once
