"""The way in which a computational unit sums products: one choice, used by every model.

- ``tree`` is the paper's circuit (CNN-MERP section V.C); every product and every sum is rounded.
- ``fused`` aligns exact products to the largest exponent of the window, adds integers and rounds
  once. The page ``cu_fused`` defines its bits.

The kernel update sums over positions. ``position``, the paper's way, rounds each product and adds
it individually. ``row`` sums the products of a row fused (page ``row_array``).
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.formats import FloatFormat

CU_KINDS = ("tree", "fused")
KU_KINDS = ("position", "row")
DSPS = (1, 2)
# Significand bits of the factors. 24 is binary32; its products are cut. The products of 8
# (bfloat16) and 11 bits (binary16) fit one DSP48E1; of bfloat16, two products fit.
OPERANDS = (8, 11, 24)
# A product has 48 bits, and its leading one is in one of the two highest bits. Below 28 bits the
# guard bit of its rounding would be lost. Above 32 bits more of the 2-DSP product would be needed
# than the DSPs' own shift by 17 gives.
WINDOWS = (28, 32)
# Products of narrow factors are not cut. A window may be shorter than such a product.
NARROW_WINDOWS = (16, 32)
# Sign, exponent and 28 bits fill a word of a block RAM, 36 bits.
PRECISIONS = (24, 28)


@dataclass(frozen=True, kw_only=True)
class Summation:
    """A CU's arithmetic.

    Attributes:
        kind: ``Design.cu_kind``.
        dsp: DSP blocks of a fused product; one block is less exact.
        operand: significand bits of the factors, hidden bit included; 24 is binary32. Narrower
            factors are rounded at the input, and have binary32's exponents.
        window: W, bits of a fused product before it is aligned.
        precision: p of the accumulators of fused CUs, significand bits with the hidden one (IEEE
            754-2019 clause 3.3); 24 is binary32.
        ku_kind: how gradients are summed.
        taps: products that a CU sums together, k*k. In a fully connected layer (every map is a
            single element) they are k*k elements, ascending. Smaller kernels are filled up with
            zeros. With 1, a CU sums the products of the layer's own window.
        ku_images: the largest number of images of a fully connected layer that form the columns of
            a row, if gradients are summed by ``row``.

    Raises:
        ValueError: a value is out of range, or a tree has an option of fused CUs; the message names
            the design's key.
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
        """Whether the factors are narrower than binary32."""
        return self.operand < 24

    def accumulator_format(self, fmt: FloatFormat) -> FloatFormat:
        """Return the format of sums of products and of their accumulators; ``fmt`` is the elements'
        format.
        """
        return FloatFormat(fmt.exp_bits, self.precision - 1) if self.kind == "fused" else fmt


@dataclass(frozen=True, kw_only=True)
class StreamSummation(Summation):
    """The arithmetic of F-CNN's streaming modules: a tree, and gradients in the order of a stream.

    A lane takes every ``lanes``-th image. It adds its products to its accumulators in turn. Then a
    tree adds the accumulators of all lanes (``models.golden.stream_update``).

    Attributes:
        lanes: G, images of a beat.
        accumulators: A, sums of a lane for each kernel element.

    Raises:
        ValueError: a value is below 1.
    """

    lanes: int
    accumulators: int

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        for key in ("lanes", "accumulators"):
            if getattr(self, key) < 1:
                raise ValueError(f"{key} must be at least 1, not {getattr(self, key)}")


TREE = Summation()
