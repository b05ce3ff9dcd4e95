"""Float formats: exponent and fraction widths, and the constants that follow from them.

IEEE 754-2019 clause 3.3, with these semantics of this project:

- Subnormals flush to a signed zero.
- Every NaN is the canonical quiet NaN.
- Rounding is to nearest, ties to even.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FloatFormat:
    """A binary interchange format ``| sign | exponent | fraction |``.

    Attributes:
        exp_bits: width of the exponent field, 3 to 8 bits.
        frac_bits: width of the fraction field, 2 to 27 bits; above 23 in accumulators only.

    Raises:
        ValueError: a width is out of range.
    """

    exp_bits: int
    frac_bits: int

    def __post_init__(self) -> None:
        """Check the widths."""
        if not 3 <= self.exp_bits <= 8:
            raise ValueError(f"exp_bits must be 3 to 8, not {self.exp_bits}")
        if not 2 <= self.frac_bits <= 27:
            raise ValueError(f"frac_bits must be 2 to 27, not {self.frac_bits}")

    @property
    def width(self) -> int:
        """Bits in a word."""
        return 1 + self.exp_bits + self.frac_bits

    @property
    def bytes(self) -> int:
        """Bytes of a word in memory, rounded up."""
        return -(-self.width // 8)

    @property
    def bias(self) -> int:
        """Exponent bias."""
        return (1 << (self.exp_bits - 1)) - 1

    @property
    def exp_max(self) -> int:
        """The exponent field of infinities and NaNs."""
        return (1 << self.exp_bits) - 1

    @property
    def nan(self) -> int:
        """Bits of the canonical quiet NaN (0x7FC00000 in binary32)."""
        return (self.exp_max << self.frac_bits) | (1 << (self.frac_bits - 1))

    @property
    def inf(self) -> int:
        """Bits of +infinity."""
        return self.exp_max << self.frac_bits

    @property
    def one(self) -> int:
        """Bits of 1.0."""
        return self.bias << self.frac_bits

    @property
    def sign_bit(self) -> int:
        """The sign bit's mask, which is also the bits of -0."""
        return 1 << (self.width - 1)


DSP_BITS = 17
"""Significand bits that fit one DSP block (a DSP48E1 multiplies 25 by 18 bits, with signs)."""

BINARY32 = FloatFormat(8, 23)
BFLOAT16 = FloatFormat(8, 7)
BINARY16 = FloatFormat(5, 10)

FORMATS = {"binary32": BINARY32, "bfloat16": BFLOAT16, "binary16": BINARY16}

OTHER_NAMES = {
    **dict.fromkeys(("float32", "float", "single", "fp32", "f32"), "binary32"),
    **dict.fromkeys(("float16", "half", "fp16", "f16"), "binary16"),
    "bf16": "bfloat16",
    **dict.fromkeys(("float64", "double", "fp64", "f64", "binary64"), "binary64"),
}
"""Names of the formats in languages and frameworks, in lower case; one is not implemented here."""


def format_name(fmt: FloatFormat) -> str:
    """Return the name of a format, or its widths if it has no name."""
    return next((name for name, each in FORMATS.items() if each == fmt), str(fmt))
