"""A FIR filter in transposed form: a block of one's own, out of blocks of one's own."""

from typing import Any

from myhdl import Signal, always, intbv

import merp


@merp.entity
def tap(clk: Any, enable: Any, x: Any, held: Any, total: Any, coefficient: int) -> Any:
    """Multiply a sample by a constant, add what the tap before it holds.

    x       in   sample, signed
    held    in   sum of the tap before this one, signed
    total   out  sum, signed, a cycle later
    """

    @always(clk.posedge)
    def add() -> None:
        if enable:
            total.next = held + coefficient * x

    return add


@merp.entity
def fir(clk: Any, enable: Any, x: Any, y: Any, coefficients: tuple[int, ...]) -> Any:
    """Filter a stream of signed samples.

    enable  in   a sample comes in; without it, everything keeps its value
    x       in   sample, signed
    y       out  sum of coefficients[i] times the i-th last sample, signed; a cycle later

    Raises ValueError where y is too narrow for the largest sum.
    """
    most = sum(map(abs, coefficients)) * -int(x.min)
    if most >= y.max:
        raise ValueError(f"y must hold {most}, not {y.max - 1}")
    sums = [Signal(intbv(0, min=y.min, max=y.max)) for _ in coefficients]
    taps = [
        tap(
            clk, enable, x=x, held=sums[i], total=sums[i - 1] if i else y,
            coefficient=coefficients[i],
        )
        for i in range(len(coefficients))
    ]  # fmt: skip
    return taps
