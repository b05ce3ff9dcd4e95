"""Pooled atoms, before and after their expansion to the resolution of the sums."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.unpool_registers import UNPOOL


class PooledAtom:
    """A pooled atom and its place in the map."""

    def __init__(self, design: ArrayDesign) -> None:
        self.data = bits(design.atom_bits)  # its words, column 0 lowest
        self.valid = flag()  # an atom is offered
        self.ready = flag()  # the atom is taken in a cycle with both high
        self.addr = count(design.index_words - 1)  # its word of the index memory
        self.columns = count(design.pox)  # columns of the atom inside the map
        self.parts = count(design.pool_window)  # number of atoms of a row after expansion
        self.top = count(design.pool_window - 1)  # first requested row of the window
        self.bottom = count(design.pool_window - 1)  # last requested row of the window
        self.final = flag()  # the atom is the last one of the pass


class ExpandedAtom:
    """An atom of deltas at the resolution of the sums, made from a pooled atom."""

    def __init__(self, design: ArrayDesign) -> None:
        self.data = bits(design.atom_bits)  # its words, column 0 lowest
        self.valid = flag()  # an atom is offered
        self.ready = flag()  # the atom is taken in a cycle with both high
        self.row = count(design.pool_window - 1)  # row in the window
        self.part = count(design.pool_window - 1)  # number of the atom in the row
        self.last = flag()  # last atom of the pooled atom
        self.final = flag()  # last atom of the pass


class ArrayUnpoolConfig(RegisterBundle):
    """Run-time registers of un-pooling, from the table ``UNPOOL``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(UNPOOL, design)
