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
"""What follows from the layers where it is not given."""

SUMMED = ("mask_words", "index_words")
"""Of those, what all layers need together."""


def passes_of(use: LayerUse, max_kernel: int, reach: int) -> tuple[ArrayPass, ...]:
    """Phases of a layer on arrays of such ``reach``, with kernels up to ``max_kernel``.

    Those of the way back twice, with deltas that come whole and pooled.

    Raises:
        ValueError: the array has no such layer; the message names the key and what is allowed.
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
    """The maxima that a layer asks for.

    Raises:
        ValueError: the array has no such layer.
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
    """The smallest design that runs every one of ``uses``; ``chosen`` are fields of it.

    Raises:
        ValueError: a chosen value is out of range, or the array has no such layer.
    """
    smallest = ArrayDesign(**(dict.fromkeys(MAXIMA, 1) | dict(chosen)))
    largest = chosen.get("max_kernel", ArrayDesign.most("max_kernel"))
    found = [needs(each, smallest, largest) for each in uses]
    combined = {
        key: max(1, (sum if key in SUMMED else max)(each[key] for each in found)) for key in MAXIMA
    }
    return replace(smallest, **(combined | dict(chosen)))


def lacking(use: LayerUse, design: ArrayDesign) -> str | None:
    """What of a design is too small for a layer, and what it needs; None if it fits."""
    for key, needed in needs(use, design, design.max_kernel).items():
        if needed > getattr(design, key):
            return f"{key} must be at least {needed} for it, not {getattr(design, key)}"
    return None
