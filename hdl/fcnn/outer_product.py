"""Outer products of one block of C: R x R multiply-adders, whose sums take turns."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fcnn.turn_sum import SumStore, turn_sum
from merp.models.machines.fcnn.params.product_design import ProductDesign


@entity
def outer_product(
    clk: Bit,
    column: Word,
    row: Word,
    place: Word,
    begin: Bit,
    starts: Word,
    store: SumStore,
    sums: Word,
    design: ProductDesign,
) -> Any:
    """Multiply a column piece of A by a row piece of B, and add the products to a block of C.

    column   in   R elements of A, the first row lowest
    row      in   R elements of B, the first column lowest
    place    in   mul_latency - 1 cycles after the pieces: the block that the products belong to
    begin    in   with place: the block has no product yet
    starts   in   R starts, one for each column
    write    in   add_latency + 1 cycles after place: the sums are stored
    written  in   place of the block that is stored
    sums     out  one cycle after place: R x R sums of the block, the first column lowest, and in a
                  column the first row

    Latency: mul_latency + 1 + add_latency cycles from the pieces to the stored sums. Throughput: an
    outer product per cycle, if a block waits add_latency cycles for its next one. Reset: none.
    """
    size, width, fmt = design.size, design.fmt.width, design.fmt
    products = [bits(width) for _ in range(size * size)]
    words = [bits(width) for _ in range(size * size)]
    joined = ConcatSignal(*reversed(words)) if size > 1 else words[0]

    @always_comb
    def give() -> None:
        sums.next = joined

    each = [(c, r) for c in range(size) for r in range(size)]
    multiply = [
        fp_mul(
            clk, a=column((r + 1) * width, r * width), b=row((c + 1) * width, c * width),
            y=products[c * size + r], fmt=fmt, latency=design.mul_latency,
        )
        for c, r in each
    ]  # fmt: skip
    add = [
        turn_sum(
            clk, place=place, begin=begin, first=starts((c + 1) * width, c * width),
            product=products[c * size + r], store=store, word=words[c * size + r], fmt=fmt,
            words=design.turns, latency=design.add_latency,
        )
        for c, r in each
    ]  # fmt: skip
    return give, multiply, add
