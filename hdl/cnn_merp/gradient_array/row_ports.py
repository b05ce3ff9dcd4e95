"""Control of the computational units of the row-wise kernel update."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.row import steps


class Sweep:
    """Timing of a sweep: the comparison of its exponents, and the alignment of its products."""

    def __init__(self, first: Bit, keep_largest: Bit, active: Bit, keep_scales: Bit) -> None:
        self.first = first  # the factors are the first ones of a sweep
        self.keep_largest = keep_largest  # the last factors of the sweep arrived a cycle ago
        self.active = active  # the late exponents belong to a sweep
        self.keep_scales = keep_scales  # the late exponents were the last ones of a sweep


class TapFactors:
    """The element of a tap and the delta of the CU, or their exponents."""

    def __init__(self, x: Word, delta: Word) -> None:
        self.x = x
        self.delta = delta


class DeltaFactor:
    """A delta in the forms that a CU uses."""

    def __init__(self, scale: Word, exponent: Word, operand: Word) -> None:
        self.scale = scale  # for the exponent pass
        self.exponent = exponent  # SCALE cycles after the mantissa pass has read it
        self.operand = operand  # decoded for the mantissa pass


class RowControl:
    """Control of all CUs in a cycle."""

    def __init__(self, design: EngineDesign) -> None:
        self.first = flag()  # exponents are the first ones of a sweep
        self.keep_largest = flag()  # all exponents of the sweep have been compared
        self.active = flag()  # products belong to a sweep
        self.keep_scales = flag()  # the last product has been aligned to the largest exponent
        self.clear = flag()  # sums are zero
        self.keep_sums = flag()  # sums include the last products of a sweep
        self.scale_step = count(steps(design) - 1)  # word of the kernel whose scales are taken
        self.sum_step = count(steps(design) - 1)  # word whose sums are taken
        self.previous_step = count(steps(design) - 1)  # word whose previous sums are replaced
        self.replace = flag()  # the previous sums are replaced
        self.fresh = flag()  # no previous sums: sums began at zero
        self.read_addr = count(design.gradient_words - 1)
        self.from_zero = flag()  # the gradient read in the cycle before starts from +0
        self.write = flag()
        self.write_addr = count(design.gradient_words - 1)
        if design.gradient_banks > 1:
            self.bank = count(design.gradient_banks - 1)  # bank of the last gradient read
            self.write_bank = count(design.gradient_banks - 1)
