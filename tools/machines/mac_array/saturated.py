"""Tables of the saturated words in a fixed-point training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from merp.models.base.fixed import FIXED_TENSORS
from merp.tools.common.table import fixed, table
from merp.tools.train.trained import Shown

MUCH = 0.01
"""Share of saturated words of a tensor from which on a run prints a warning."""


def saturated(answer: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the saturated words by layer and tensor, and warnings if their share is large."""
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
        f"All steps of this run; new kernels are rounded {answer['rounding']}. Zero "
        "increments: gradient increments of one image."
    )
    yield table("Saturated words", columns, rows, caption=caption)
    for layer, each in found.items():
        for tensor in FIXED_TENSORS:
            share = each[tensor]["share"]
            if share > MUCH:
                yield (
                    f"Warning: {share:.1%} of {layer}'s {tensor} words were saturated: fewer "
                    f"fraction bits of {tensor} allow larger numbers"
                )


TRAINED = Shown(tables=saturated)
