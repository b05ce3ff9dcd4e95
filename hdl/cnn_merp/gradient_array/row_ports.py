"""Control of the computational units of the kernel update in rows."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.row import steps


class Sweep:
    """Where a sweep's exponents are compared, and its products moved."""

    def __init__(self, first: Bit, keep_largest: Bit, active: Bit, keep_scales: Bit) -> None:
        self.first = first  # the factors are a sweep's first
        self.keep_largest = keep_largest  # the sweep's last factors came a cycle ago
        self.active = active  # the late exponents belong to a sweep
        self.keep_scales = keep_scales  # those were a sweep's last


class TapFactors:
    """A tap's element and the CU's delta, or their exponents."""

    def __init__(self, x: Word, delta: Word) -> None:
        self.x = x
        self.delta = delta


class DeltaFactor:
    """A delta as a CU takes it."""

    def __init__(self, scale: Word, exponent: Word, operand: Word) -> None:
        self.scale = scale  # for the exponent pass
        self.exponent = exponent  # SCALE cycles after the mantissa pass has read it
        self.operand = operand  # decoded for the mantissa pass


class RowControl:
    """What all CUs do in a cycle."""

    def __init__(self, design: EngineDesign) -> None:
        self.first = flag()  # exponents are a sweep's first
        self.keep_largest = flag()  # the sweep's exponents have all been compared
        self.active = flag()  # products belong to a sweep
        self.keep_scales = flag()  # the last product has been moved to the largest exponent
        self.clear = flag()  # sums are zero
        self.keep_sums = flag()  # sums hold a sweep's last products
        self.scale_step = count(steps(design) - 1)  # word of the kernel whose scales are taken
        self.sum_step = count(steps(design) - 1)  # whose sums are taken
        self.previous_step = count(steps(design) - 1)  # whose previous sums are replaced
        self.replace = flag()  # they are
        self.fresh = flag()  # there are none: sums began at zero
        self.read_addr = count(design.gradient_words - 1)
        self.from_zero = flag()  # the gradient read in the cycle before starts from +0
        self.write = flag()
        self.write_addr = count(design.gradient_words - 1)
        if design.gradient_banks > 1:
            self.bank = count(design.gradient_banks - 1)  # of the gradient read in the cycle before
            self.write_bank = count(design.gradient_banks - 1)
