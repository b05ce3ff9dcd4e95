"""What was saturated in a training in fixed point, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.models.base.fixed import FIXED_TENSORS
from merp.tools.common.table import console, fixed, table

MUCH = 0.01
"""Share of a tensor's words that are saturated, from which on a run is warned of."""


def show_saturated(answer: Mapping[str, Any]) -> None:
    """Print the words that were saturated, by layer and tensor, and warn where they are many."""
    found = answer["saturated"]
    rows = [
        [
            layer,
            *(f"{each[tensor]['words']:,}" for tensor in FIXED_TENSORS),
            fixed(100 * each["zero_increments"], 1),
        ]
        for layer, each in found.items()
    ]
    columns = ("layer", *FIXED_TENSORS, "zero increments, %")
    caption = (
        f"Of all steps that ran here; new kernels are rounded {answer['rounding']}. Zero "
        "increments: of gradients, by one image."
    )
    screen = console()
    screen.print(table("Saturated words", columns, rows, caption=caption))
    for layer, each in found.items():
        for tensor in FIXED_TENSORS:
            share = each[tensor]["share"]
            if share > MUCH:
                screen.print(
                    f"Warning: {share:.1%} of {layer}'s {tensor} words were saturated: fewer "
                    f"fraction bits of {tensor} hold larger numbers"
                )
