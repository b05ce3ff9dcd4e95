"""Images in bytes: each stands for a number, value = scale * byte + offset, rounded once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Final

from merp.models.base.formats import FloatFormat
from merp.models.base.nearest import nearest_word

BYTES: Final = 256
"""How many there are."""


@dataclass(frozen=True)
class ByteImage:
    """An image in memory, a byte an element: value = (step * byte + origin) / parts, exactly.

    Attributes:
        step, origin, parts: in lowest terms; ``step`` and ``parts`` above 0.

    Raises:
        ValueError: they are not.
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
        """That of value = scale * byte + offset, ``scale`` above 0."""
        parts = lcm(scale.denominator, offset.denominator)
        return cls(int(scale * parts), int(offset * parts), parts)

    def __str__(self) -> str:
        """What a byte stands for."""
        return f"uint8 ({self.scale} * byte + {self.offset})"

    @property
    def scale(self) -> Fraction:
        """From a byte to the next one."""
        return Fraction(self.step, self.parts)

    @property
    def offset(self) -> Fraction:
        """What byte 0 stands for."""
        return Fraction(self.origin, self.parts)

    @cached_property
    def exact(self) -> tuple[Fraction, ...]:
        """The number that each byte stands for, before it is rounded."""
        return tuple(self.scale * byte + self.offset for byte in range(BYTES))

    def words(self, fmt: FloatFormat) -> tuple[int, ...]:
        """The word of ``fmt`` that each byte stands for, to nearest even; subnormals are zero.

        Raises:
            ValueError: one of them is no finite number of ``fmt``.
        """
        return tuple(nearest_word(value, fmt) for value in self.exact)
