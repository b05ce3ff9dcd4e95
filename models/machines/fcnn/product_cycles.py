"""Cycles of a matrix product, exact if no stream waits."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.machines.fcnn.params.product_design import LEAVE, READ
from merp.models.machines.fcnn.params.product_registers import ProductRun


class ProductCycles(NamedTuple):
    """Cycles of a run.

    Attributes:
        total: from the cycle after start to the last piece of C.
        issue: turns of blocks.
        drain: storing and reading of sums, and the time in which the last one leaves.
        stall_bias: loading of biases; stall_kernel: loading of the first row pieces.
        useful: column pieces of A.
    """

    total: int
    issue: int
    drain: int
    stall_bias: int
    stall_kernel: int
    useful: int


def product_cycles(run: ProductRun) -> ProductCycles:
    """Return the cycles of a run.

    A run has ``T = ceil(I/(R A)) ceil(O/(R Nk))`` tiles of ``K A`` turns. After each tile its sums
    are stored in ``mul_latency + add_latency + 1`` cycles, and read, one piece per cycle. Biases
    load before the tiles of their columns. Row pieces load meanwhile; without biases, the first
    ones load alone.

        total = T (K A + mul_latency + add_latency + 1) + O ceil(I/R) + 4 + (O, or first pieces)
    """
    design = run.design
    tiles = run.row_tiles * run.column_tiles
    issue = tiles * run.inner * design.turns
    drain = tiles * (design.settle - 1) + run.sum_words + READ + LEAVE
    bias = run.bias_words
    kernel = 0 if run.biased else min(design.blocks, run.column_pieces)
    return ProductCycles(issue + drain + bias + kernel, issue, drain, bias, kernel, run.map_words)
