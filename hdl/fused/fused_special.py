"""Detect infinities and NaNs among the products of a window."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, block, concat

from merp.hdl.base.signals import flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_activation import INFINITY_AT, NEGATIVE_AT, ZERO_AT
from merp.hdl.fused.fused_operand import INFINITE_AT, MINUS_AT, NAN_AT
from merp.models.base.fused import EXPONENT_BITS, OPERAND_BITS, activation_bits


@block
def _product(clk: Bit, activation: Word, kernel: Word, invalid: Bit, above: Bit, below: Bit) -> Any:
    """Classify one product; above and below are undefined if it is a NaN.

    Each flag is a function of six bits, which is one LUT. The register keeps the logic of the next
    step out of this LUT.
    """
    top = OPERAND_BITS - 1
    inf_at, minus_at, nan_at = (EXPONENT_BITS + at for at in (INFINITE_AT, MINUS_AT, NAN_AT))

    @always(clk.posedge)
    def classify() -> None:
        number = kernel[top] or kernel[top - 1]  # finite and nonzero
        infinite = not number and kernel[inf_at]
        zero = not number and not kernel[inf_at]  # or a NaN
        infinity = infinite or activation[INFINITY_AT]
        minus = kernel[top] or (infinite and kernel[minus_at])
        invalid.next = (
            (activation[INFINITY_AT] and (activation[ZERO_AT] or zero))
            or (activation[ZERO_AT] and infinite)
            or (zero and kernel[nan_at])
        )
        above.next = infinity and minus == activation[NEGATIVE_AT]
        below.next = infinity and minus != activation[NEGATIVE_AT]

    return classify


@entity
def fused_special(
    clk: Bit, activations: Word, kernels: Word, special: Word, taps: int, dsp: int
) -> Any:
    """Detect whether the sum of products is a NaN or an infinity.

    activations  in   elements in the format of fused_activation, tap 0 in the lowest bits
    kernels      in   operands, tap 0 in the lowest bits
    special      out  flags of the sum, from the highest bit: NaN, infinity, negative infinity

    Latency: 3. Throughput: one per cycle. Reset: none.
    """
    width = activation_bits(dsp)
    invalid, above, below = ([flag() for _ in range(taps)] for _ in range(3))
    products = [
        _product(
            clk,
            activation=activations((tap + 1) * width, tap * width),
            kernel=kernels((tap + 1) * OPERAND_BITS, tap * OPERAND_BITS),
            invalid=invalid[tap],
            above=above[tap],
            below=below[tap],
        )
        for tap in range(taps)
    ]
    all_invalid, all_above, all_below = (
        ConcatSignal(*each) if taps > 1 else each[0] for each in (invalid, above, below)
    )
    any_invalid, any_above, any_below = flag(), flag(), flag()

    @always(clk.posedge)
    def collect() -> None:
        any_invalid.next = all_invalid != 0
        any_above.next = all_above != 0
        any_below.next = all_below != 0

    @always(clk.posedge)
    def decide() -> None:
        nan = any_invalid or (any_above and any_below)
        infinite = any_above or any_below
        special.next = concat(nan, infinite, any_below)

    return products, collect, decide
