"""Signs of narrow products, and infinities and NaNs among them."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _product(clk: Bit, activation: Word, kernel: Word, minus: Bit, invalid: Bit, inf: Bit) -> Any:
    """Classify one product; inf is undefined if it is a NaN."""
    width = len(kernel)
    hidden_at, infinite_at, nan_at = width - 2, width - 3, width - 4
    sign_at, zero_at, special_at = width - 1, width, width + 1

    @always(clk.posedge)
    def classify() -> None:
        infinite = not kernel[hidden_at] and kernel[infinite_at]
        zero = not kernel[hidden_at] and not kernel[infinite_at]  # or a NaN
        minus.next = activation[sign_at] != kernel[sign_at]
        inf.next = activation[special_at] or infinite
        invalid.next = (
            (activation[special_at] and (activation[zero_at] or zero))
            or (activation[zero_at] and infinite)
            or (zero and kernel[nan_at])
        )

    return classify


@entity
def narrow_special(
    clk: Bit, activations: Word, kernels: Word, minus: Word, special: Word, taps: int
) -> Any:
    """Compute the signs of the products, and detect whether their sum is a NaN or an infinity.

    activations  in   elements in the format of narrow_activation, tap 0 in the lowest bits
    kernels      in   operands, tap 0 in the lowest bits
    minus        out  one cycle later: the signs of the products
    special      out  flags of the sum, from the highest bit: NaN, infinity, negative infinity

    Latency: 3. Throughput: one per cycle. Reset: none.
    """
    kernel_width, width = len(kernels) // taps, len(activations) // taps
    minuses, invalid, inf = ([flag() for _ in range(taps)] for _ in range(3))
    products = [
        _product(
            clk,
            activation=activations((tap + 1) * width, tap * width),
            kernel=kernels((tap + 1) * kernel_width, tap * kernel_width),
            minus=minuses[tap],
            invalid=invalid[tap],
            inf=inf[tap],
        )
        for tap in range(taps)
    ]
    signs, all_invalid, all_inf = (
        ConcatSignal(*reversed(each)) if taps > 1 else each[0] for each in (minuses, invalid, inf)
    )
    signed, infinite = bits(taps), bits(taps)
    any_invalid, any_above, any_below = flag(), flag(), flag()

    @always_comb
    def join() -> None:
        signed.next = signs
        infinite.next = all_inf
        minus.next = signs

    @always(clk.posedge)
    def collect() -> None:
        any_invalid.next = all_invalid != 0
        any_above.next = (infinite & ~signed) != 0
        any_below.next = (infinite & signed) != 0

    @always(clk.posedge)
    def decide() -> None:
        nan = any_invalid or (any_above and any_below)
        infinite_sum = any_above or any_below
        special.next = concat(nan, infinite_sum, any_below)

    return products, join, collect, decide
