"""What was saturated in a training in fixed point, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from merp.models.base.fixed import FIXED_TENSORS
from merp.tools.common.table import fixed, table
from merp.tools.train.trained import Shown

MUCH = 0.01
"""Share of a tensor's words that are saturated, from which on a run is warned of."""


def saturated(answer: Mapping[str, Any]) -> Iterator[Any]:
    """The words that were saturated, by layer and tensor, and warnings where they are many."""
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
    yield table("Saturated words", columns, rows, caption=caption)
    for layer, each in found.items():
        for tensor in FIXED_TENSORS:
            share = each[tensor]["share"]
            if share > MUCH:
                yield (
                    f"Warning: {share:.1%} of {layer}'s {tensor} words were saturated: fewer "
                    f"fraction bits of {tensor} hold larger numbers"
                )


TRAINED = Shown(tables=saturated)
