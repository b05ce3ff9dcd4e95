"""Finished sums, and the registers of their processing."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, flag
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.registers import output_table


class Sums:
    """Finished sums of one slot: ``data`` has ``n_cu`` words, CU 0 in the lowest bits.

    The words are elements; in a design for partial sums they have the width of an accumulator word.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.valid = flag()  # the sums of a slot are finished
        self.data = bits(design.n_cu * design.sum_format.width)  # n_cu elements, CU 0 lowest


class OutputConfig(RegisterBundle):
    """Run-time registers of the super layer, from ``output_table``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(output_table(design), design)
