"""Images in bytes: each byte represents the number scale * byte + offset, rounded once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Final

from merp.models.base.formats import FloatFormat
from merp.models.base.nearest import nearest_word

BYTES: Final = 256
"""Number of byte values."""


@dataclass(frozen=True)
class ByteImage:
    """An image in memory with one byte per element: value = (step * byte + origin) / parts,
    exactly.

    Attributes:
        step, origin, parts: in lowest terms; ``step`` and ``parts`` above 0.

    Raises:
        ValueError: the terms do not meet these conditions.
    """

    step: int = 1
    origin: int = 0
    parts: int = 255

    width = 8
    bytes = 1

    def __post_init__(self) -> None:
        """Check the terms."""
        if self.step < 1 or self.parts < 1 or gcd(self.step, self.origin, self.parts) != 1:
            raise ValueError(
                f"step, origin, parts must be in lowest terms, the first and last above 0, not "
                f"{self.step}, {self.origin}, {self.parts}"
            )

    @classmethod
    def of(cls, scale: Fraction, offset: Fraction) -> ByteImage:
        """Return the image format of value = scale * byte + offset, with ``scale`` above 0."""
        parts = lcm(scale.denominator, offset.denominator)
        return cls(int(scale * parts), int(offset * parts), parts)

    def __str__(self) -> str:
        """Return the formula of a byte's value."""
        return f"uint8 ({self.scale} * byte + {self.offset})"

    @property
    def scale(self) -> Fraction:
        """Difference between the values of two consecutive bytes."""
        return Fraction(self.step, self.parts)

    @property
    def offset(self) -> Fraction:
        """Value of byte 0."""
        return Fraction(self.origin, self.parts)

    @cached_property
    def exact(self) -> tuple[Fraction, ...]:
        """Exact value of each byte, before rounding."""
        return tuple(self.scale * byte + self.offset for byte in range(BYTES))

    def words(self, fmt: FloatFormat) -> tuple[int, ...]:
        """Return the word of ``fmt`` for each byte, rounded to nearest even; subnormals are zero.

        Raises:
            ValueError: one of the values is not a finite number of ``fmt``.
        """
        return tuple(nearest_word(value, fmt) for value in self.exact)
