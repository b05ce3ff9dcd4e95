"""Control of the computational units of the kernel update in rows."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.models.machines.cnn_merp.params.design import Design
from merp.models.machines.cnn_merp.params.row import steps


class RowControl:
    """What all CUs do in a cycle."""

    def __init__(self, design: Design) -> None:
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
