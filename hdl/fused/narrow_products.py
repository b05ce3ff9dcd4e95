"""Products of the significands of a window with the kernels of one unit or of two units.

A product of eight bits by eight bits has sixteen bits, so a * (b + c * 2^16) contains both products
next to each other. Its factors have 8 and 24 bits, which fit the 25 x 18 bits in two's complement
of a DSP48E1.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.fused import EXPONENT_BITS, activation_bits, operand_bits, products_apiece


@block
def _multiply(clk: Bit, activation: Word, kernel: Word, y: Word, significand: int) -> Any:
    """Multiply two significands, with all registers in the DSP."""
    top = EXPONENT_BITS + significand
    a_2, b_1, b_2 = bits(significand), bits(significand), bits(significand)
    product = bits(2 * significand)

    @always(clk.posedge)
    def multiply() -> None:
        b_1.next = kernel[top:EXPONENT_BITS]
        a_2.next = activation[top:EXPONENT_BITS]
        b_2.next = b_1
        product.next = a_2 * b_2
        y.next = product

    return multiply


@block
def _multiply_two(
    clk: Bit, activation: Word, kernel: Word, other: Word, y: Word, z: Word, significand: int
) -> Any:
    """Multiply a significand by two others, with all registers in the DSP."""
    top, place, both = EXPONENT_BITS + significand, 2 * significand, 3 * significand
    a_2, b_1, b_2 = bits(significand), bits(both), bits(both)
    product, total = bits(2 * place), bits(2 * place)

    @always(clk.posedge)
    def multiply() -> None:
        pair = intbv(0)[both:]
        pair[significand:] = kernel[top:EXPONENT_BITS]
        pair[both:place] = other[top:EXPONENT_BITS]
        b_1.next = pair
        a_2.next = activation[top:EXPONENT_BITS]
        b_2.next = b_1
        product.next = a_2 * b_2
        total.next = product

    @always_comb
    def part() -> None:
        y.next = total[place:]
        z.next = total[:place]

    return multiply, part


@entity
def narrow_products(
    clk: Bit,
    activations: Word,
    kernel: Word,
    products: Word,
    taps: int,
    significand: int,
    other: Word = None,
    other_products: Word = None,
) -> Any:
    """Multiply significands.

    activations     in   in the format of narrow_activation, tap 0 lowest, significands a cycle
                         later
    kernel          in   operands, tap 0 lowest, or one operand for all taps
    products        out  products of significands for each tap, tap 0 lowest
    other           in   operands of the other unit of a pair
    other_products  out  products with the operands of the other unit

    Latency: PRODUCT from kernel. Throughput: one per cycle. Reset: none.
    """
    width, operand_width = activation_bits(1, significand), operand_bits(significand)
    own, other_own = ([bits(2 * significand) for _ in range(taps)] for _ in range(2))
    places = len(kernel) // operand_width
    low = [tap % places * operand_width for tap in range(taps)]
    activation = [activations((tap + 1) * width, tap * width) for tap in range(taps)]
    of_kernel = [kernel(at + operand_width, at) for at in low]
    joined = ConcatSignal(*reversed(own)) if taps > 1 else own[0]

    @always_comb
    def join() -> None:
        products.next = joined

    if other is None:
        alone = [
            _multiply(
                clk,
                activation=activation[tap],
                kernel=of_kernel[tap],
                y=own[tap],
                significand=significand,
            )
            for tap in range(taps)
        ]
        return alone, join
    of_other = [other(at + operand_width, at) for at in low]
    joined_other = ConcatSignal(*reversed(other_own)) if taps > 1 else other_own[0]

    @always_comb
    def join_others() -> None:
        other_products.next = joined_other

    pairs = [
        _multiply_two(
            clk,
            activation=activation[tap],
            kernel=of_kernel[tap],
            other=of_other[tap],
            y=own[tap],
            z=other_own[tap],
            significand=significand,
        )
        for tap in range(taps)
    ]
    return pairs, join, join_others


def shared_multipliers(
    clk: Bit,
    activations: Word,
    kernels: list[Any],
    products: list[Any],
    taps: int,
    significand: int,
) -> list[Any]:
    """Make multipliers for the kernels of all units; two units share one if products are narrow."""
    pairs = len(kernels) // 2 if products_apiece(significand) == 2 else 0
    of_pairs = [
        narrow_products(
            clk,
            activations=activations,
            kernel=kernels[2 * i],
            products=products[2 * i],
            taps=taps,
            significand=significand,
            other=kernels[2 * i + 1],
            other_products=products[2 * i + 1],
        )
        for i in range(pairs)
    ]
    alone = [
        narrow_products(
            clk,
            activations=activations,
            kernel=kernels[j],
            products=products[j],
            taps=taps,
            significand=significand,
        )
        for j in range(2 * pairs, len(kernels))
    ]
    return [of_pairs, alone]
