"""Processing elements: the cycles of a streamed map, and the costs of elements.

Equations and costs are from the paper's section on the proposal. Its memories of 18 kbit are
RAMB18.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import Final

from merp.models.base.ordered_sum import ordered_sum

WORD_BITS: Final = 16
RAMB18_BITS: Final = 18 * 1024

_IN = 4  # of the first layer only
_OUT = 4
_RELU = 1


def tree_stages(k: int) -> int:
    """Return the stages of the tree that adds k x k products. source: equation (12)"""
    return ceil(log2(k * k))


def convolution_terms(columns: int, rows: int, k: int, *, first: bool) -> dict[str, float]:
    """Return the terms of equation (14), with the stream as elements, porches and line ends.

    The back porch and the front porch have k cycles each, the smallest printed value. The padding
    is one line.
    """
    porch = k
    return {
        "elements": columns * rows,
        "porches": 2 * porch * rows,
        "line ends": rows,
        "Padding": columns + 2 * porch,
        "back porch": porch + 0.5,
        "In": _IN if first else 0,
        "Tap": k,
        "Multiply": k,
        "AddTree": tree_stages(k) + 2,
        "Out": _OUT,
        "ReLU": _RELU,
    }


def convolution_cycles(columns: int, rows: int, k: int, *, first: bool) -> float:
    """Return the cycles of one map in a convolution element. source: equation (14)"""
    return ordered_sum(convolution_terms(columns, rows, k, first=first).values())


def full_cycles(columns: int, rows: int, k: int, turns: int) -> int:
    """Return the cycles of a fully connected layer that reads its maps in ``turns`` turns.

    ``k`` is the length of the porches: the kernel size of the previous layer.
    source: equation (18)
    """
    return ((columns + 2 * k) * (rows - 1) + rows) * turns


def line_buffer_blocks(columns: int, k: int) -> int:
    """Return the RAMB18 of k - 1 lines, each in its own FIFO.

    The printed formula, ceiling(columns x k x bits / block), gives 1 where the text has 2.
    """
    return (k - 1) * ceil(columns * WORD_BITS / RAMB18_BITS)


def map_blocks(columns: int, rows: int) -> int:
    """Return the RAMB18 that store one map until its backward propagation."""
    return ceil(columns * rows * WORD_BITS / RAMB18_BITS)


@dataclass(frozen=True)
class ElementCost:
    """DSP slices, LUT and RAMB18 of one or several elements."""

    dsp: int
    lut: int
    ramb18: int

    def __add__(self, other: ElementCost) -> ElementCost:
        """Return the sum of both."""
        return ElementCost(self.dsp + other.dsp, self.lut + other.lut, self.ramb18 + other.ramb18)

    def __mul__(self, count: int) -> ElementCost:
        """Return the cost of ``count`` such elements."""
        return ElementCost(self.dsp * count, self.lut * count, self.ramb18 * count)


def convolution_cost(
    k: int, columns: int, *, train: bool, unit: ElementCost | None = None
) -> ElementCost:
    """Return the cost of one convolution element.

    The cost of training includes a second element for backward propagation, and the update. It does
    not include the stored map, which is counted once for all elements.

    Args:
        k: kernel size.
        columns: columns of the map.
        train: whether the element also trains.
        unit: cost of k x k multiply-adds that replaces the paper's figures. The multiplier of the
            update is still the paper's, and the scheduler is omitted.
    """
    lines = ElementCost(0, 0, line_buffer_blocks(columns, k))
    if unit is not None:
        return (unit + lines) * 2 + ElementCost(1, 0, 0) if train else unit + lines
    return (
        ElementCost(2 * k * k + 1, 2200, 0) + lines * 2
        if train
        else ElementCost(k * k, 800, 0) + lines
    )


def full_cost(
    heads: int, elements: int, *, train: bool, unit: ElementCost | None = None
) -> ElementCost:
    """Return the cost of a fully connected layer with ``elements`` elements for each of its heads.

    Args:
        heads: number of outputs.
        elements: elements of a head.
        train: whether the layer also trains.
        unit: cost of a multiply-add that replaces the paper's figures.
    """
    if unit is not None:
        return unit * (heads * elements * (2 if train else 1))
    own = ElementCost(1, 20, 0) * (heads * elements)
    return own + ElementCost(elements, 400, 0) * heads if train else own
