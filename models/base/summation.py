"""How a computational unit sums products: one choice, in every model's hands.

``tree`` is the paper's circuit (CNN-MERP section V.C), every product and every sum rounded.
``fused`` aligns exact products to the largest exponent of the window, adds integers and rounds
once; the page ``cu_fused`` has its bits. The kernel update sums over positions: each product
rounded and added by itself (``position``, the paper's), or a row of them fused (``row``, page
``row_array``).
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.formats import FloatFormat

CU_KINDS = ("tree", "fused")
KU_KINDS = ("position", "row")
DSPS = (1, 2)
# Significands of the factors: binary32's, of which products are cut, and those whose products one
# DSP48E1 has room for: binary16's, and bfloat16's, of which it has room for two.
OPERANDS = (8, 11, 24)
# A product has 48 bits and a leading one in either of the two highest. Below 28 it would lose the
# guard bit of its rounding; above 32 it would need more of the 2-DSP product than the DSPs' own
# shift by 17 gives.
WINDOWS = (28, 32)
# Products of narrow factors are whole, and any window can be shorter than they are.
NARROW_WINDOWS = (16, 32)
# With sign and exponent 28 bits fill the word of a block RAM, 36 bits.
PRECISIONS = (24, 28)


@dataclass(frozen=True, kw_only=True)
class Summation:
    """A CU's arithmetic.

    Attributes:
        kind: ``Design.cu_kind``.
        dsp: DSP blocks of a fused product; one is less exact.
        operand: significand bits of the factors, hidden bit included; 24 is binary32. Narrower
            ones are rounded as they enter, and have binary32's exponents.
        window: W, bits of a fused product before it is aligned.
        precision: p of the accumulators behind fused CUs, significand bits with the hidden one
            (IEEE 754-2019 clause 3.3); 24 is binary32.
        ku_kind: how gradients are summed.
        taps: products that a CU sums at once, k*k: of a fully connected layer (every map is a
            single element) as many elements, ascending; of smaller kernels with zeros for what they
            lack. With 1 it is those of the layer's own window.
        ku_images: images of such a layer that stand for the columns of a row, at most, where
            gradients are summed by ``row``.

    Raises:
        ValueError: a value is out of range, or a tree is given what is for fused CUs; the message
            names the design's key.
    """

    kind: str = "tree"
    dsp: int = 1
    operand: int = 24
    window: int = 32
    precision: int = 24
    ku_kind: str = "position"
    taps: int = 1
    ku_images: int = 1

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.kind not in CU_KINDS:
            raise ValueError(f"cu_kind must be one of {', '.join(CU_KINDS)}, not {self.kind!r}")
        choice = self.dsp, self.operand, self.window, self.precision
        if self.kind != "fused" and choice != (1, 24, 32, 24):
            raise ValueError(
                "fused_dsp, operand_precision, fused_window and accumulator_precision are for "
                f"cu_kind fused, not {self.kind}"
            )
        if self.ku_kind not in KU_KINDS:
            raise ValueError(f"ku_kind must be one of {', '.join(KU_KINDS)}, not {self.ku_kind!r}")
        if self.kind != "fused" and self.ku_kind == "row":
            raise ValueError(f"ku_kind row is for cu_kind fused, not {self.kind}")
        if self.dsp not in DSPS:
            raise ValueError(f"fused_dsp must be 1 or 2, not {self.dsp}")
        if self.operand not in OPERANDS:
            allowed = ", ".join(str(each) for each in OPERANDS)
            raise ValueError(f"operand_precision must be one of {allowed}, not {self.operand}")
        if self.narrow and self.dsp != 1:
            raise ValueError(
                f"fused_dsp must be 1 with operand_precision {self.operand}, not {self.dsp}"
            )
        for key, value, (low, high) in (
            ("fused_window", self.window, NARROW_WINDOWS if self.narrow else WINDOWS),
            ("accumulator_precision", self.precision, PRECISIONS),
        ):
            if not isinstance(value, int) or not low <= value <= high:
                raise ValueError(f"{key} must be a whole number from {low} to {high}, not {value}")

    @property
    def narrow(self) -> bool:
        """Whether factors are shorter than binary32."""
        return self.operand < 24

    def accumulator_format(self, fmt: FloatFormat) -> FloatFormat:
        """Format of sums of products and of what accumulates them; ``fmt`` is the elements'."""
        return FloatFormat(fmt.exp_bits, self.precision - 1) if self.kind == "fused" else fmt


TREE = Summation()
