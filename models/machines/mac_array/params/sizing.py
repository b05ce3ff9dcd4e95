"""Size a design of the MAC array for the layers that share it, and check a layer against one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from merp.models.base.users import LayerUse
from merp.models.machines.mac_array.params.array_pass import ArrayPass, array_pass
from merp.models.machines.mac_array.params.design import Array, ArrayDesign
from merp.models.machines.mac_array.params.window import as_window, largest_window

MAXIMA = (
    "max_kernel", "max_stride", "pool_window", "kernel_words", "map_words", "delta_words",
    "mask_words", "index_words", "max_size", "max_maps",
)  # fmt: skip
"""Keys that are calculated from the layers if they are not given."""

SUMMED = ("mask_words", "index_words")
"""Maxima that are sums over all layers, because the memory holds all layers at the same time."""


def passes_of(use: LayerUse, max_kernel: int, reach: int) -> tuple[ArrayPass, ...]:
    """Return the passes of a layer on an array with ``reach`` and kernels up to ``max_kernel``.

    DP and KU are in the result twice: with whole deltas and with pooled deltas.

    Raises:
        ValueError: the array does not support the layer. The message names the key and the allowed
            values.
    """
    if use.groups > 1:
        raise ValueError(f"groups must be 1, not {use.groups}")
    if not use.chained:
        raise ValueError("input and add must be absent: layers are in a chain")
    shape = as_window(use.shape, use.taken, largest_window(max_kernel, reach))
    forward = array_pass(shape)
    around = forward.kernel - 1 - forward.pad
    if max(forward.pad, around) > reach:
        raise ValueError(
            f"pad and kernel - 1 - pad must be at most pox and poy ({reach}), not {forward.pad} "
            f"and {around}"
        )
    back = [
        replace(forward, phase=phase, fused=fused)
        for phase in ("dp", "ku")
        for fused in (False, True)
    ]
    return forward, *back


def needs(use: LayerUse, array: Array, max_kernel: int) -> dict[str, int]:
    """Return the maxima that a layer needs.

    Raises:
        ValueError: the array does not support the layer.
    """
    passes = passes_of(use, max_kernel, array.reach)
    forward, *back = passes
    return {
        "max_kernel": forward.kernel,
        "max_stride": forward.stride,
        "pool_window": forward.pool,
        "kernel_words": forward.kernel_words(array),
        "map_words": max(each.map_words(array) for each in passes),
        "delta_words": max(each.delta_words(array) for each in back),
        "mask_words": forward.output_atoms(array) if forward.relu else 0,
        "index_words": forward.output_atoms(array) if forward.pool > 1 else 0,
        "max_size": max(forward.rows, forward.columns, forward.out_rows, forward.out_columns),
        "max_maps": max(forward.inputs, forward.outputs),
    }


def size_design(uses: Sequence[LayerUse], chosen: Mapping[str, Any]) -> ArrayDesign:
    """Return the smallest design that runs all ``uses``; ``chosen`` are its given fields.

    Raises:
        ValueError: a chosen value is out of range, or the array does not support a layer.
    """
    smallest = ArrayDesign(**(dict.fromkeys(MAXIMA, 1) | dict(chosen)))
    largest = chosen.get("max_kernel", ArrayDesign.most("max_kernel"))
    found = [needs(each, smallest, largest) for each in uses]
    combined = {
        key: max(1, (sum if key in SUMMED else max)(each[key] for each in found)) for key in MAXIMA
    }
    relu6 = any(use.shape.relu6 for use in uses)
    return replace(smallest, **(combined | {"relu6": relu6} | dict(chosen)))


def lacking(use: LayerUse, design: ArrayDesign) -> str | None:
    """Return a message about a value of the design that is too small for a layer, or None."""
    for key, needed in needs(use, design, design.max_kernel).items():
        if needed > getattr(design, key):
            return f"{key} must be at least {needed} for it, not {getattr(design, key)}"
    return None
