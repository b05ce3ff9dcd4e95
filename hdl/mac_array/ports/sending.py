"""Selection of the atom of the output buffer to send."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.output_registers import ATOM_NUMBER_BITS


class Sending:
    """An atom that is read."""

    def __init__(self, design: ArrayDesign) -> None:
        self.issue = flag()  # an atom is read in this cycle
        self.row = count(2 * design.poy * design.max_stride - 1)  # row, as in Pooling
        self.lane = count(design.pof - 1)  # lane of the atom
        self.number = bits(ATOM_NUMBER_BITS)  # number of the atom among the outputs of the layer
