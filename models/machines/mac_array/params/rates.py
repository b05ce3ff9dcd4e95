"""Learning rate and momentum as registers of the MAC array hold them."""

from __future__ import annotations

import math
from dataclasses import dataclass

MANTISSA_BITS = 16
MOMENTUM_ONE = 1 << 16
MOST_SHIFT = 47


@dataclass(frozen=True)
class Rate:
    """mantissa * 2^-exponent, with a mantissa of 16 bits whose first bit is set.

    A word of 16 fraction bits would turn 5e-5 into 3/65536, which is 8 % less.
    """

    mantissa: int
    exponent: int

    @property
    def value(self) -> float:
        """The number itself."""
        return self.mantissa * 2.0**-self.exponent

    def update_shift(self, velocity: int, kernel: int) -> int:
        """S: by which the rate times a velocity is shifted to a kernel, given their fractions."""
        return self.exponent + velocity - kernel


def rate_of(rate: float) -> Rate:
    """Round a learning rate over its batch, above 0, to nearest even."""
    significand, power = math.frexp(rate)  # from 0.5 to below 1
    mantissa = round(significand * (1 << MANTISSA_BITS))
    exponent = MANTISSA_BITS - power
    if mantissa == 1 << MANTISSA_BITS:
        mantissa, exponent = mantissa >> 1, exponent - 1
    return Rate(mantissa, exponent)


def nearest_rate(rate: float, velocity: int, kernel: int) -> float:
    """The nearest rate over its batch to ``rate`` that a layer of these fractions can take."""
    shift = rate_of(rate).update_shift(velocity, kernel)
    if shift > MOST_SHIFT:
        return Rate(1 << (MANTISSA_BITS - 1), MOST_SHIFT + kernel - velocity).value
    if shift < 0:
        return Rate((1 << MANTISSA_BITS) - 1, kernel - velocity).value
    return rate


def momentum_of(momentum: float) -> int:
    """Word of a momentum from 0 to below 1, of 65536; 65535 at most."""
    return min(round(momentum * MOMENTUM_ONE), MOMENTUM_ONE - 1)
