"""Fixed-point formats: words of 16 bits whose fractions differ by layer and by kind of tensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Literal

ROUNDINGS: Final = ("nearest", "stochastic")
MOST_FRACTION: Final = 15

FixedTensor = Literal["map", "kernel", "delta", "gradient", "velocity"]


@dataclass(frozen=True, kw_only=True)
class Fractions:
    """Fraction bits of a layer's tensors: the value of a word is word * 2^-fraction.

    Attributes:
        map: of its output.
        kernel: of kernels and biases.
        delta: of its sums, and therefore of its output.
        gradient, velocity: of kernels and biases, summed over the batch.

    Raises:
        ValueError: a fraction is not 0 to 15.
    """

    map: int = 10
    kernel: int = 13
    delta: int = 11
    gradient: int = 6
    velocity: int = 4

    def __post_init__(self) -> None:
        """Check the fractions."""
        for each in fields(self):
            check_fraction(each.name, getattr(self, each.name))


FIXED_TENSORS: Final[tuple[FixedTensor, ...]] = ("map", "kernel", "delta", "gradient", "velocity")
assert FIXED_TENSORS == tuple(each.name for each in fields(Fractions))

IMAGE_FRACTION: Final = 12
"""Fraction bits of images if a file does not give them."""


def check_fraction(name: str, value: int) -> None:
    """Refuse a number of fraction bits that a word cannot have.

    Raises:
        ValueError: the number is not 0 to 15.
    """
    if not 0 <= value <= MOST_FRACTION:
        raise ValueError(f"fraction of {name} must be 0 to {MOST_FRACTION}, not {value}")


@dataclass(frozen=True, kw_only=True)
class FixedFormat:
    """Number formats of a network in fixed point.

    Attributes:
        input: fraction bits of the images.
        usual: fractions of every layer that ``layers`` does not name.
        layers: fractions of the other layers, by name.
        rounding: of new kernels, one of ``ROUNDINGS``.

    Raises:
        ValueError: a fraction or rounding is not allowed.
    """

    input: int = IMAGE_FRACTION
    usual: Fractions = Fractions()
    layers: Mapping[str, Fractions] = field(default_factory=dict)
    rounding: str = ROUNDINGS[0]

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fraction("input", self.input)
        if self.rounding not in ROUNDINGS:
            raise ValueError(f"rounding must be one of {', '.join(ROUNDINGS)}, not {self.rounding}")

    def __repr__(self) -> str:
        """Return all fields in one line, which identifies the trained format."""
        layers = ", ".join(f"{name}: {each}" for name, each in self.layers.items())
        return f"FixedFormat(input={self.input}, {self.usual}, {{{layers}}}, {self.rounding})"

    @property
    def width(self) -> int:
        """Bits in a word."""
        return 16

    @property
    def bytes(self) -> int:
        """Bytes of a word in memory."""
        return 2

    @property
    def stochastic(self) -> bool:
        """Whether new kernels are rounded with random bits."""
        return self.rounding == ROUNDINGS[1]

    def of(self, layer: str) -> Fractions:
        """Return the fractions of a layer's tensors."""
        return self.layers.get(layer, self.usual)


FIXED16: Final = "fixed16"
"""Name of the format."""
