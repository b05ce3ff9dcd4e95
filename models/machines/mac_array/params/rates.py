"""Learning rate and momentum in the format of the MAC array's registers."""

from __future__ import annotations

import math
from dataclasses import dataclass

MANTISSA_BITS = 16
MOMENTUM_ONE = 1 << 16
MOST_SHIFT = 47


@dataclass(frozen=True)
class Rate:
    """A learning rate, mantissa * 2^-exponent. The mantissa has 16 bits, and its first bit is set.

    A word with 16 fraction bits would round 5e-5 to 3/65536, which is 8 % less.
    """

    mantissa: int
    exponent: int

    @property
    def value(self) -> float:
        """The learning rate as a number."""
        return self.mantissa * 2.0**-self.exponent

    def update_shift(self, velocity: int, kernel: int) -> int:
        """Return S, the right shift of rate times velocity in the update of a kernel.

        ``velocity`` and ``kernel`` are the numbers of their fraction bits.
        """
        return self.exponent + velocity - kernel


def rate_of(rate: float) -> Rate:
    """Round a learning rate to nearest even; it is divided by the batch size, and above 0."""
    significand, power = math.frexp(rate)  # from 0.5 to below 1
    mantissa = round(significand * (1 << MANTISSA_BITS))
    exponent = MANTISSA_BITS - power
    if mantissa == 1 << MANTISSA_BITS:
        mantissa, exponent = mantissa >> 1, exponent - 1
    return Rate(mantissa, exponent)


def nearest_rate(rate: float, velocity: int, kernel: int) -> float:
    """Return the rate nearest to ``rate`` whose shift is allowed in a layer of these fractions.

    Both rates are divided by the batch size.
    """
    shift = rate_of(rate).update_shift(velocity, kernel)
    if shift > MOST_SHIFT:
        return Rate(1 << (MANTISSA_BITS - 1), MOST_SHIFT + kernel - velocity).value
    if shift < 0:
        return Rate((1 << MANTISSA_BITS) - 1, kernel - velocity).value
    return rate


def momentum_of(momentum: float) -> int:
    """Convert a momentum from 0 to below 1 into units of 1/65536; at most 65535."""
    return min(round(momentum * MOMENTUM_ONE), MOMENTUM_ONE - 1)
